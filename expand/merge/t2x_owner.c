/* SPDX-License-Identifier: MIT */
/* t2x_owner.c - the label by which a sample is another thread's. */
#include "t2x_owner.h"

#include <string.h>

/* The id in the label's value.  Return  TLG_NO_THREAD: it is not such a label.  name  what is behind the id */
static uint32_t read_tid(const struct t2x_arg *key, const struct t2x_arg *value, const char **name)
{
	static const char other[] = TLG_LABEL_THREAD;
	uint64_t tid = 0;
	uint32_t i = 0;

	if (key->length != sizeof(other) - 1 || memcmp(key->text, other, sizeof(other) - 1) != 0)
		return TLG_NO_THREAD;
	for (; i < value->length && value->text[i] >= '0' && value->text[i] <= '9' && tid < UINT32_MAX; i++)
		tid = 10 * tid + (uint64_t)(value->text[i] - '0');
	if (!i || tid >= TLG_NO_THREAD || (i < value->length && value->text[i] != ' '))
		return TLG_NO_THREAD;
	*name = value->text + i + (i < value->length);
	return (uint32_t)tid;
}

struct t2x_track *t2x_owner_of(struct t2x_stream *stream, struct t2x_track *track, const struct t2x_scope *scope,
			       struct t2x_arguments *arguments)
{
	enum { LABELS = 3 };                  /* behind count, value, period */
	struct t2x_arg *label;
	struct t2x_track *owner;
	const char *name;
	uint32_t tid;

	if (!scope || scope->style != TLG_STYLE_sample || arguments->n < LABELS + 2)
		return track;
	label = arguments->args + LABELS;
	if (label[0].type != TLG_ARG_TEXT || label[1].type != TLG_ARG_TEXT)
		return track;
	tid = read_tid(&label[0], &label[1], &name);
	owner = tid != TLG_NO_THREAD ? t2x_stream_track(stream, tid) : NULL;
	if (!owner)
		return track;
	t2x_stream_name_thread(stream, owner, name, (size_t)(label[1].text + label[1].length - name));
	arguments->n -= 2;
	memmove(label, label + 2, (arguments->n - LABELS) * sizeof(*label));
	return owner;
}
