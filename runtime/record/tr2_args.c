/* SPDX-License-Identifier: MIT */
/* tr2_args.c - arguments that are not as simple as a number. */
#include "tr2_args.h"

#include "settings/tr2_env.h"

/*
 * Where the password of a URL lies: http(s)://user:password@.
 * Return  1: *from..*to (offsets) is to be replaced by ":<REDACTED>"; 0: nothing to hide
 */
static int find_password(const char *text, size_t *from, size_t *to)
{
	size_t scheme = !strncmp(text, "https://", 8) ? 8 : !strncmp(text, "http://", 7) ? 7 : 0;
	size_t end = scheme ? scheme + strcspn(text + scheme, "@/") : 0;
	const char *colon = scheme ? memchr(text + scheme, ':', end - scheme) : NULL;

	if (!colon || text[end] != '@')
		return 0;
	*from = (size_t)(colon - text);
	*to = end;
	return 1;
}

unsigned tr2_args_split(const char *text, int redact, struct tr2_piece pieces[3])
{
	static const char hidden[] = ":<REDACTED>";
	size_t from, to, length = strlen(text);

	if (!redact || !tr2_g_settings.redact || !find_password(text, &from, &to)) {
		pieces[0] = (struct tr2_piece){ text, length };
		return 1;
	}
	pieces[0] = (struct tr2_piece){ text, from };
	pieces[1] = (struct tr2_piece){ hidden, sizeof(hidden) - 1 };
	pieces[2] = (struct tr2_piece){ text + to, length - to };
	return 3;
}

size_t tr2_args_sum(const struct tr2_piece *pieces, unsigned count)
{
	size_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += pieces[i].count;
	return sum;
}

void tr2_args_redacted(struct tr2_args *args, const char *text)
{
	struct tr2_piece pieces[3];
	unsigned count;

	if (!text) {
		tr2_body_add(&args->body, TLG_ARG_NULL, 0);
		return;
	}
	count = tr2_args_split(text, 1, pieces);
	tr2_body_add(&args->body, TLG_ARG_TEXT, (int64_t)tr2_args_sum(pieces, count));
	for (unsigned i = 0; i < count; i++)
		tr2_body_append(&args->body, pieces[i].bytes, pieces[i].count);
}

void tr2_args_list(struct tr2_args *args, const char *const *list, int redact)
{
	args->list = list;
	args->redact = redact;
	for (args->nlist = 0; list && list[args->nlist]; args->nlist++)
		;
}
