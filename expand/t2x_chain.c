/* SPDX-License-Identifier: MIT */
/* t2x_chain.c - gathering, and the way from VALUEs and text to arguments. */
#include "t2x_chain.h"

#include <stdlib.h>
#include <string.h>

#include "t2x_scope.h"
#include "tlg_desc.h"

enum { FIRST_BYTES = 256 };

/* ---- gathering ---------------------------------------------------------------------------------- */

/* Make room for more bytes behind used ones.  Return  0: the limit, the budget or the memory is exhausted */
static int grow(struct t2x_context *context, void **memory, size_t used, size_t more, size_t *max)
{
	size_t want = *max ? *max : FIRST_BYTES;
	void *larger;

	while (want < used + more)
		want *= 2;
	if (want > T2X_CHAIN_BYTES || !t2x_context_take(context, want - *max))
		return 0;
	larger = realloc(*memory, want);
	if (!larger) {
		t2x_context_give(context, want - *max);
		return 0;
	}
	*memory = larger;
	*max = want;
	return 1;
}

static inline void add_value(struct t2x_chain *chain, const struct tlg_value *value)
{
	size_t used = chain->nvalues * sizeof(*value);
	void *memory = chain->values;

	if (chain->max_values - used < sizeof(*value)) {
		if (!grow(chain->stream->context, &memory, used, sizeof(*value), &chain->max_values))
			return;
		chain->values = memory;
	}
	chain->values[chain->nvalues++] = *value;
}

static inline void add_text(struct t2x_chain *chain, const struct tlg_text *text)
{
	void *memory = chain->text;

	if (chain->max_bytes - chain->bytes < TLG_TEXT_SIZE) {
		if (!grow(chain->stream->context, &memory, chain->bytes, TLG_TEXT_SIZE, &chain->max_bytes))
			return;
		chain->text = memory;
	}
	memcpy(chain->text + chain->bytes, text->c, TLG_TEXT_SIZE);
	chain->bytes += TLG_TEXT_SIZE;
}

static inline void add(struct t2x_chain *chain, const struct tlg_event *event)
{
	if (tlg_event_type(event) == TLG_VALUE)
		add_value(chain, &event->u.value);
	else
		add_text(chain, &event->u.info.text);
}

void t2x_chain_add(struct t2x_chain *chain, const struct tlg_event *event)
{
	add(chain, event);
}

unsigned t2x_chain_gather(struct t2x_chain *chain, const struct tlg_event *events, unsigned n)
{
	unsigned end = 1;

	do {
		if (end == n || events[end].sequence != events->sequence ||
		    !tlg_is_argument(tlg_event_type(&events[end])))
			return 0;
	} while (!(events[end++].flags & TLG_INFO_END));
	chain->nvalues = chain->bytes = 0;
	for (unsigned i = 1; i < end; i++)
		add(chain, &events[i]);
	return end;
}

void t2x_chain_free(struct t2x_chain *chain, struct t2x_context *context)
{
	t2x_context_give(context, chain->max_values + chain->max_bytes);
	free(chain->values);
	free(chain->text);
	free(chain);
}

/* ---- arguments ---------------------------------------------------------------------------------- */

/* Where the making of arguments stands. */
struct maker {
	struct t2x_chain *chain;
	size_t value;             /* next VALUE */
	size_t at;                /* next byte of text */
};

/* n without the zero bytes at the end of the text. */
static inline size_t trim(const char *text, size_t n)
{
	uint64_t last;

	for (; n >= sizeof(last); n -= sizeof(last)) {
		memcpy(&last, text + n - sizeof(last), sizeof(last));
		if (last)
			break;
	}
	while (n && !text[n - 1])
		n--;
	return n;
}

/* The next VALUE as an argument, with its text if it has one. */
static inline void next_argument(struct maker *maker, struct t2x_arg *arg)
{
	struct t2x_chain *chain = maker->chain;
	const struct tlg_value *value = &chain->values[maker->value++];

	arg->type = value->argtype;
	arg->length = 0;
	arg->value = value->value;
	arg->text = NULL;
	if (arg->type == TLG_ARG_TEXT) {
		uint64_t left = chain->bytes - maker->at;
		uint64_t length = value->value < 0 ? 0 : (uint64_t)value->value;
		arg->text = chain->text ? chain->text + maker->at : "";
		arg->length = (uint32_t)(length < left ? length : left);
		maker->at += arg->length;
		/* of a text that was cut short the padding is there, too */
		arg->length = (uint32_t)trim(arg->text, arg->length);
	}
}

/* Return  0: no memory */
static int grow_arguments(struct t2x_arguments *arguments)
{
	size_t max = arguments->max ? 2 * arguments->max : 64;
	struct t2x_arg *larger = realloc(arguments->args, max * sizeof(*larger));

	if (!larger)
		return 0;
	arguments->args = larger;
	arguments->max = max;
	return 1;
}

/* Room for one more, which is filled in where it lies; without memory it is lost. */
static inline struct t2x_arg *add_argument(struct t2x_arguments *arguments, struct t2x_arg *lost)
{
	if (arguments->n == arguments->max && !grow_arguments(arguments))
		return lost;
	return &arguments->args[arguments->n++];
}

/* A scope that came along: style, line, repository, four texts. */
static struct t2x_scope *take_scope(struct maker *maker, int *is_kept)
{
	struct t2x_scope_texts texts = { .text = { NULL } };
	struct tlg_sourceloc place = { .scopeIndex = 0 };
	struct t2x_arg arg;

	if (maker->chain->nvalues < 3 + T2X_SCOPE_TEXTS)
		return NULL;
	next_argument(maker, &arg);
	place.style = (uint8_t)arg.value;
	next_argument(maker, &arg);
	place.linenum = (int32_t)arg.value;
	next_argument(maker, &arg);
	place.repo = (uint16_t)arg.value;
	for (unsigned i = 0; i < T2X_SCOPE_TEXTS; i++) {
		next_argument(maker, &arg);
		texts.text[i] = arg.type == TLG_ARG_TEXT ? arg.text : NULL;
		texts.length[i] = arg.length;
	}
	return t2x_scope_passing(maker->chain->stream, &place, &texts, is_kept);
}

/*
 * The text behind what VALUEs announced, for kinds that have one.  A message that is still to be
 * formatted, and a checkpoint of an unknown kind, have it only if there is some.
 */
static void add_last_text(struct maker *maker, struct t2x_arguments *arguments,
			  const struct tlg_style_desc *style)
{
	const struct t2x_chain *chain = maker->chain;
	const char *last = style ? style->args : "M";
	struct t2x_arg lost;
	size_t n = chain->bytes - maker->at;

	while (last[0] && last[1])
		last++;
	if (*last != 'S' && *last != 'M')
		return;
	n = n ? trim(chain->text + maker->at, n) : 0;
	if (!n && *last == 'M' && !(chain->head.flags & TLG_RENDERED))
		return;
	*add_argument(arguments, &lost) = (struct t2x_arg){
		.type = TLG_ARG_TEXT, .length = (uint32_t)n, .text = n ? chain->text + maker->at : ""
	};
}

void t2x_chain_arguments(struct t2x_chain *chain, struct t2x_clock *clock, struct t2x_arguments *arguments,
			 struct t2x_scope **scope, int *is_kept)
{
	struct maker maker = { .chain = chain };
	const struct tlg_style_desc *style;
	const char *letter;
	struct t2x_arg lost;

	arguments->n = 0;
	*is_kept = 1;
	if (!chain->head.u.hit.scopeIndex)
		*scope = take_scope(&maker, is_kept);
	style = *scope ? tlg_style_by_id((*scope)->style) : NULL;
	/* a list is the last: behind its letter there is no t */
	for (letter = style ? style->args : ""; maker.value < chain->nvalues; letter += *letter != '\0') {
		struct t2x_arg *arg = add_argument(arguments, &lost);
		next_argument(&maker, arg);
		if (*letter == 't' && arg->value)
			arg->value = (int64_t)t2x_clock_ns(clock, (uint64_t)arg->value);
	}
	add_last_text(&maker, arguments, style);
}
