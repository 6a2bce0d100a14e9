/* SPDX-License-Identifier: MIT */
/* t2x_arguments.c - the arguments of a checkpoint, and whose it is if it is a sample. */
#include "t2x_arguments.h"

#include <string.h>

#include "base/t2x_memory.h"
#include "model/t2x_run.h"

/* The VALUEs and the text from which arguments are made; each member moves on as they are used. */
struct maker {
	struct t2x_stream *stream;
	unsigned flags;           /* of the HIT */
	const unsigned char *value;       /* next VALUE's payload ... */
	size_t stride;            /* ... and how far it is from there to the one behind it */
	size_t nvalues;           /* from there on */
	const char *text;         /* next byte */
	size_t bytes;             /* from there on */
};

/* How many of eight bytes, not all of which are zero, are zeros at their end. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline unsigned zeros_behind(uint64_t bytes) { return (unsigned)__builtin_clzll(bytes) / 8; }
#else
static inline unsigned zeros_behind(uint64_t bytes) { return (unsigned)__builtin_ctzll(bytes) / 8; }
#endif

/* Return  n without the zero bytes at the end of the text */
static inline size_t trim(const char *text, size_t n)
{
	uint64_t last;

	for (; n >= sizeof(last); n -= sizeof(last)) {
		memcpy(&last, text + n - sizeof(last), sizeof(last));
		if (last)
			return n - zeros_behind(last);
	}
	while (n && !text[n - 1])
		n--;
	return n;
}

/* Make the next VALUE an argument, with its text if it has one. */
static inline void next_argument(struct maker *maker, struct t2x_arg *arg)
{
	struct tlg_value value;

	memcpy(&value, maker->value, sizeof(value));
	maker->value += maker->stride;
	maker->nvalues--;
	arg->type = value.argtype;
	arg->length = 0;
	arg->value = value.value;
	arg->text = NULL;
	if (arg->type == TLG_ARG_TEXT) {
		uint64_t length = value.value < 0 ? 0 : (uint64_t)value.value;
		arg->text = maker->text;
		arg->length = (uint32_t)(length < maker->bytes ? length : maker->bytes);
		maker->text += arg->length;
		maker->bytes -= arg->length;
		/* of a text that was cut short the padding is there, too */
		arg->length = (uint32_t)trim(arg->text, arg->length);
	}
}

/* Return  0: no memory */
static int grow_arguments(struct t2x_arguments *arguments)
{
	size_t max = arguments->max ? 2 * arguments->max : 64;
	struct t2x_arg *larger = t2x_realloc(arguments->args, max * sizeof(*larger));

	if (!larger)
		return 0;
	arguments->args = larger;
	arguments->max = max;
	return 1;
}

/* Return  the place for one more argument; without memory that is lost, whose content nobody reads */
static inline struct t2x_arg *add_argument(struct t2x_arguments *arguments, struct t2x_arg *lost)
{
	if (arguments->n == arguments->max && !grow_arguments(arguments))
		return lost;
	return &arguments->args[arguments->n++];
}

/* Read a scope that came with its checkpoint: style, line, repository, four texts. */
static struct t2x_scope *take_scope(struct maker *maker, int *is_cached)
{
	struct t2x_scope_texts texts = { .text = { NULL } };
	struct tlg_sourceloc place = { .scopeIndex = 0 };
	struct t2x_arg arg;

	if (maker->nvalues < 3 + T2X_SCOPE_TEXTS)
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
	return t2x_scope_inline(&maker->stream->scopes, &place, &texts, is_cached);
}

/*
 * Add the text behind the texts of VALUEs, for kinds that have one.  A message that is still to be formatted, and a
 * checkpoint of an unknown kind, get it only if it is not empty.
 */
static inline void add_last_text(struct maker *maker, struct t2x_arguments *arguments,
				 const struct tlg_style_desc *style)
{
	const char *last = style ? style->args : "M";
	struct t2x_arg lost, *arg;
	size_t n;

	while (last[0] && last[1])
		last++;
	if (*last != 'S' && *last != 'M')
		return;
	n = maker->bytes ? trim(maker->text, maker->bytes) : 0;
	if (!n && *last == 'M' && !(maker->flags & TLG_RENDERED))
		return;
	arg = add_argument(arguments, &lost);
	arg->type = TLG_ARG_TEXT;
	arg->length = (uint32_t)n;
	arg->value = 0;
	arg->text = n ? maker->text : "";
}

/* The first VALUE may be no argument, but say how much later the time of day is. */
static void take_shift(struct t2x_arguments *arguments, struct maker *maker)
{
	struct tlg_value value;

	arguments->shift_ns = 0;
	if (!maker->nvalues)
		return;
	memcpy(&value, maker->value, sizeof(value));
	if (value.argtype != TLG_ARG_SHIFT)
		return;
	arguments->shift_ns = (int64_t)((uint64_t)value.value * 1000);
	maker->value += maker->stride;
	maker->nvalues--;
}

static __attribute__((noinline)) void
make_arguments(struct t2x_arguments *arguments, struct maker *maker, uint32_t scope_index, struct t2x_clock *clock,
	       struct t2x_scope **scope, int *is_cached)
{
	const struct tlg_style_desc *style;
	const char *letter;
	struct t2x_arg lost;

	arguments->n = 0;
	take_shift(arguments, maker);
	*is_cached = 1;
	if (!scope_index)
		*scope = take_scope(maker, is_cached);
	style = *scope ? tlg_style_by_id((*scope)->style) : NULL;
	/* a list is the last: behind its letter there is no t */
	for (letter = style ? style->args : ""; maker->nvalues; letter += *letter != '\0') {
		struct t2x_arg *arg = add_argument(arguments, &lost);
		next_argument(maker, arg);
		if (*letter == 't' && arg->value)
			arg->value = (int64_t)t2x_clock_ns(clock, (uint64_t)arg->value);
	}
	add_last_text(maker, arguments, style);
}

void t2x_arguments_from_chain(struct t2x_arguments *arguments, struct t2x_chain *chain, struct t2x_scope **scope,
			      int *is_cached)
{
	struct maker maker = {
		.stream = chain->stream, .flags = chain->head.flags,
		.value = (const unsigned char *)chain->values, .stride = sizeof(chain->values[0]),
		.nvalues = chain->nvalues, .text = chain->bytes ? chain->text : "", .bytes = chain->bytes,
	};

	make_arguments(arguments, &maker, chain->head.u.hit.scopeIndex, &chain->clock, scope, is_cached);
}

/* ---- of a whole checkpoint ------------------------------------------------------------------------- */

/* Return  the text of n INFOs in one piece; NULL: there is no room */
static const char *
join_text(struct t2x_arguments *arguments, struct t2x_context *context, const struct tlg_event *infos, unsigned n)
{
	const size_t bytes = (size_t)n * TLG_TEXT_SIZE;
	void *text = arguments->text;

	if (n == 1)
		return infos->u.info.text.c;
	if (arguments->max_text < bytes) {
		if (!t2x_context_grow(context, &text, 0, bytes, &arguments->max_text, T2X_CHAIN_BYTES))
			return NULL;
		arguments->text = text;
	}
	for (unsigned i = 0; i < n; i++)
		memcpy(arguments->text + (size_t)i * TLG_TEXT_SIZE, infos[i].u.info.text.c, TLG_TEXT_SIZE);
	return arguments->text;
}

unsigned t2x_arguments_take_text(struct t2x_arguments *arguments, struct t2x_context *context,
				 const struct tlg_event *hit, const struct tlg_event *end)
{
	const struct tlg_event *argument = hit + 1;
	struct t2x_arg *arg = arguments->args;
	unsigned n;

	if (!t2x_run_last(&argument, end, hit->sequence, TLG_INFO))
		return 0;
	n = (unsigned)(argument - hit) - 1;
	arg->text = join_text(arguments, context, hit + 1, n);
	if (!arg->text)
		return 0;
	arg->type = TLG_ARG_TEXT;
	arg->value = 0;
	arg->length = (uint32_t)trim(arg->text, (size_t)n * TLG_TEXT_SIZE);
	arguments->n = 1;
	return n + 1;
}

unsigned t2x_arguments_from_events(struct t2x_arguments *arguments, struct t2x_stream *stream,
				   const struct tlg_event *events, const struct tlg_event *end,
				   struct t2x_clock *clock, struct t2x_scope **scope, int *is_cached)
{
	struct maker maker = {
		.stream = stream, .flags = events->flags,
		.value = events[1].u.payload, .stride = sizeof(*events), .text = "",
	};
	const struct tlg_event *infos = events + 1, *behind;

	behind = t2x_run_last(&infos, end, events->sequence, TLG_VALUE) ? infos : NULL;
	maker.nvalues = (size_t)(infos - events) - 1;
	if (!behind) {
		behind = infos;
		if (!t2x_run_last(&behind, end, events->sequence, TLG_INFO))
			return 0;
		maker.text = join_text(arguments, stream->context, infos, (unsigned)(behind - infos));
		maker.bytes = (size_t)(behind - infos) * TLG_TEXT_SIZE;
	}
	if (!maker.text)
		return 0;
	make_arguments(arguments, &maker, events->u.hit.scopeIndex, clock, scope, is_cached);
	return (unsigned)(behind - events);
}

void t2x_arguments_free(struct t2x_arguments *arguments, struct t2x_context *context)
{
	t2x_context_give(context, arguments->max_text);
	t2x_free(arguments->text);
	t2x_free(arguments->args);
	memset(arguments, 0, sizeof(*arguments));
}

/* ---- samples ------------------------------------------------------------------------------------ */

/* Return  the id in the label's value, with *name behind it; TLG_NO_THREAD: this label names no thread */
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

struct t2x_cursor *t2x_owner_of(struct t2x_stream *stream, struct t2x_cursor *cursor, const struct t2x_scope *scope,
			       struct t2x_arguments *arguments)
{
	enum { LABELS = 3 };                  /* behind count, value, period */
	struct t2x_arg *label;
	struct t2x_cursor *owner;
	const char *name;
	uint32_t tid;

	if (!scope || scope->style != TLG_STYLE_sample || arguments->n < LABELS + 2)
		return cursor;
	label = arguments->args + LABELS;
	if (label[0].type != TLG_ARG_TEXT || label[1].type != TLG_ARG_TEXT)
		return cursor;
	tid = read_tid(&label[0], &label[1], &name);
	owner = tid != TLG_NO_THREAD ? t2x_stream_cursor(stream, tid) : NULL;
	if (!owner)
		return cursor;
	t2x_stream_name_thread(stream, owner, name, (size_t)(label[1].text + label[1].length - name));
	arguments->n -= 2;
	memmove(label, label + 2, (arguments->n - LABELS) * sizeof(*label));
	return owner;
}
