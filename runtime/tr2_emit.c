/* SPDX-License-Identifier: MIT */
/* tr2_emit.c - from arguments to committed chains. */
#include "tr2_emit.h"

#include <string.h>

#include "tr2_clock.h"
#include "tr2_env.h"
#include "tr2_losses.h"
#include "tr2_reserve.h"
#include "tr2_site.h"

/* ---- describing arguments ----------------------------------------------------------------------- */

int tr2_find_password(const char *text, size_t *from, size_t *to)
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

/* arg's parts become text, with its password replaced if asked for; value its length. */
static void set_text(struct tr2_arg *arg, const char *text, int redact)
{
	static const char hidden[] = ":<REDACTED>";
	size_t from, to, length = strlen(text);

	arg->type = TLG_ARG_TEXT;
	arg->text[0] = text;
	arg->bytes[0] = length;
	arg->bytes[1] = arg->bytes[2] = 0;
	if (redact && tr2_g_settings.redact && tr2_find_password(text, &from, &to)) {
		arg->bytes[0] = from;
		arg->text[1] = hidden;
		arg->bytes[1] = sizeof(hidden) - 1;
		arg->text[2] = text + to;
		arg->bytes[2] = length - to;
	}
	arg->value = (int64_t)(arg->bytes[0] + arg->bytes[1] + arg->bytes[2]);
}

void tr2_args_redacted(struct tr2_args *args, const char *text)
{
	struct tr2_arg *arg = tr2_args_add(args, TLG_ARG_NULL, 0);

	if (text)
		set_text(arg, text, 1);
	args->has_parts = 1;
}

void tr2_args_list(struct tr2_args *args, const char *const *list, int redact)
{
	args->list = list;
	args->redact = redact;
	for (args->nlist = 0; list && list[args->nlist]; args->nlist++)
		;
}

void tr2_args_last(struct tr2_args *args, const char *text)
{
	args->last = text;
	args->last_bytes = text ? strlen(text) : 0;
}

/* ---- feeding them into events ------------------------------------------------------------------- */

/* The raw clock; here and not by a call where the public inline path may read it too. */
static inline uint64_t read_clock(void)
{
#ifdef TRACE2_HAS_INLINE_
	if (__builtin_expect(tr2_hot_v1 != NULL, 1))
		return trace2_ticks_v1_();
#endif
	return tr2_clock_raw();
}

/* Where the next VALUE, the next byte of text comes from. */
struct feed {
	const struct tr2_args *args;
	unsigned value;           /* next argument with a VALUE */
	unsigned text;            /* argument whose text is being copied; past all: the last text */
	unsigned part;
	size_t offset;
	struct tr2_arg current;   /* that argument, so that its length is found once */
	size_t values_left, text_left;
};

static void get_arg(const struct tr2_args *args, unsigned i, struct tr2_arg *arg)
{
	if (i < args->nfixed)
		*arg = args->fixed[i];
	else
		set_text(arg, args->list[i - args->nfixed], args->redact);
}

/* Step to the argument, from the text-th on, that is a text. */
static void load_text(struct feed *feed)
{
	const struct tr2_args *args = feed->args;

	for (; feed->text < args->nfixed + args->nlist; feed->text++) {
		get_arg(args, feed->text, &feed->current);
		if (feed->current.type == TLG_ARG_TEXT)
			return;
	}
	feed->current = (struct tr2_arg){ .text = { args->last }, .bytes = { args->last_bytes } };
}

static void start_feed(struct feed *feed, const struct tr2_args *args)
{
	struct tr2_arg arg;

	*feed = (struct feed){ .args = args, .values_left = args->nfixed + args->nlist };
	for (unsigned i = 0; i < args->nfixed + args->nlist; i++) {
		get_arg(args, i, &arg);
		if (arg.type == TLG_ARG_TEXT)
			feed->text_left += (size_t)arg.value;
	}
	feed->text_left += args->last_bytes;
	load_text(feed);
}

/* The next stretch of text, at most bytes; steps through arguments and parts. */
static size_t next_text(struct feed *feed, char *to, size_t bytes)
{
	const struct tr2_arg *arg = &feed->current;

	if (feed->offset == arg->bytes[feed->part]) {
		feed->offset = 0;
		if (++feed->part == 3) {
			feed->part = 0;
			feed->text++;
			load_text(feed);
		}
		return 0;
	}
	if (bytes > arg->bytes[feed->part] - feed->offset)
		bytes = arg->bytes[feed->part] - feed->offset;
	memcpy(to, arg->text[feed->part] + feed->offset, bytes);
	feed->offset += bytes;
	return bytes;
}

/* Fill in one argument event and say its type. */
static unsigned fill_event(struct feed *feed, struct tlg_event *event)
{
	struct tr2_arg arg;
	size_t n = 0, want = feed->text_left < TLG_TEXT_SIZE ? feed->text_left : TLG_TEXT_SIZE;

	if (feed->values_left) {
		get_arg(feed->args, feed->value++, &arg);
		event->u.value = (struct tlg_value){ arg.value, arg.type, 0 };
		feed->values_left--;
		return TLG_VALUE;
	}
	memset(&event->u.info, 0, sizeof(event->u.info));
	while (n < want)
		n += next_text(feed, event->u.info.text.c + n, want - n);
	feed->text_left -= want;
	return TLG_INFO;
}

static size_t events_left(const struct feed *feed)
{
	return feed->values_left + (feed->text_left + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE;
}

/* One chain: a HIT or MORE and as many arguments as fit.  0: it was dropped. */
static int emit_chain(struct feed *feed, unsigned type, unsigned flags, struct tlg_hit *hit)
{
	size_t left = events_left(feed);
	unsigned n = left < TR2_CHAIN_EVENTS - 1 ? (unsigned)left : TR2_CHAIN_EVENTS - 1;
	struct tlg_event *event = tr2_reserve_for(n + 1, type == TLG_MORE ? TR2_CHAIN_MORE : TR2_CHAIN_HIT);

	if (!event)
		return 0;
	if (!hit->when)
		hit->when = read_clock();
	hit->tid = tr2_chunk_of((uintptr_t)event)->tid;
	event->u.hit = *hit;
	for (unsigned i = 1; i <= n; i++) {
		unsigned argument = fill_event(feed, &event[i]);
		tr2_ring_commit(&event[i], argument | (i == n ? TLG_INFO_END : 0));
	}
	flags |= type | (n ? TLG_HAS_INFO : 0) | (events_left(feed) ? TLG_HAS_MORE : 0);
	tr2_ring_commit(event, flags);
	return 1;
}

/* At most 16 bytes, by two stores that may overlap: a call of memcpy() would cost as much as the rest. */
static inline void copy_short(char *to, const char *from, size_t n)
{
	uint64_t first, last;
	uint32_t first4, last4;

	if (n >= 8) {
		memcpy(&first, from, 8);
		memcpy(&last, from + n - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + n - 8, &last, 8);
	} else if (n >= 4) {
		memcpy(&first4, from, 4);
		memcpy(&last4, from + n - 4, 4);
		memcpy(to, &first4, 4);
		memcpy(to + n - 4, &last4, 4);
	} else {
		for (size_t i = 0; i < n; i++)
			to[i] = from[i];
	}
}

/* Append to the texts in the payloads from infos on, of which there are at bytes.  Return  how many there are then */
static inline size_t put_text(struct tlg_event *infos, size_t at, const char *text, size_t bytes)
{
	while (bytes) {
		size_t offset = at % TLG_TEXT_SIZE, room = TLG_TEXT_SIZE - offset;
		size_t n = bytes < room ? bytes : room;
		copy_short(infos[at / TLG_TEXT_SIZE].u.info.text.c + offset, text, n);
		text += n;
		at += n;
		bytes -= n;
	}
	return at;
}

/* The header word of an event that follows its chain's first one: not published by itself. */
static inline void set_head(struct tlg_event *event, uint64_t head)
{
	/* relaxed: who looks for the end of a hole may look here, but takes nothing from it */
	tr2_store_rlx((uint64_t *)(void *)event, head);
}

/* n argument events: VALUEs, texts, their headers.  The chain's own header makes them visible, later. */
static inline void fill_short(struct tlg_event *event, unsigned n, const struct tr2_args *args)
{
	const uint64_t head = tr2_chunk_of((uintptr_t)event)->head;
	struct tlg_event *infos = event + args->nfixed, *last = event + n - 1;
	size_t at = 0;

	for (struct tlg_event *info = infos; info <= last; info++)
		set_head(info, head | tlg_head(TLG_INFO, 0, 0));
	if (infos <= last)
		memset(&last->u.info, 0, TLG_TEXT_SIZE);
	for (unsigned i = 0; i < args->nfixed; i++) {
		const struct tr2_arg *arg = &args->fixed[i];
		set_head(&event[i], head | tlg_head(TLG_VALUE, 0, 0));
		event[i].u.value = (struct tlg_value){ arg->value, arg->type, 0 };
		if (arg->type == TLG_ARG_TEXT)
			at = put_text(infos, at, arg->text[0], arg->bytes[0]);
	}
	put_text(infos, at, args->last, args->last_bytes);
	set_head(last, head | tlg_head((infos <= last ? TLG_INFO : TLG_VALUE) | TLG_INFO_END, 0, 0));
}

/* The commonest arguments by far: fixed ones, whole, in one chain.  0: they are not like that */
static inline int emit_short(uint32_t scope, const struct tr2_args *args, unsigned flags, uint64_t when)
{
	size_t bytes = args->whole_bytes + args->last_bytes;
	unsigned n = args->nfixed + (unsigned)((bytes + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE);
	struct tlg_event *event;

	if (args->nlist || args->has_parts || bytes > (TR2_CHAIN_EVENTS - TR2_FIXED_ARGS - 8) * TLG_TEXT_SIZE)
		return 0;
	event = tr2_reserve(n + 1);
	if (!event)
		return 1;
	/* field by field: a struct that is copied as one word right after it was stored in parts costs 4 ns */
	event->u.hit.when = when ? when : read_clock();
	event->u.hit.scopeIndex = scope;
	event->u.hit.tid = tr2_chunk_of((uintptr_t)event)->tid;
	if (n)
		fill_short(event + 1, n, args);
	tr2_ring_commit(event, TLG_HIT | flags | (n ? TLG_HAS_INFO : 0));
	return 1;
}

/* Everything else: lists, texts in parts, more than one chain. */
static __attribute__((noinline)) void emit_long(uint32_t scope, const struct tr2_args *args, unsigned flags,
						uint64_t when)
{
	struct tlg_hit hit = { .when = when, .scopeIndex = scope };
	struct feed feed;

	start_feed(&feed, args);
	if (feed.text_left > TR2_TEXT_LIMIT) {
		feed.text_left = TR2_TEXT_LIMIT;   /* the VALUEs still say how much there was */
		tr2_losses_note(TLG_LOSS_CUT);
	}
	if (!emit_chain(&feed, TLG_HIT, flags, &hit))
		return;
	while (events_left(&feed) && emit_chain(&feed, TLG_MORE, 0, &hit))
		;
}

void tr2_emit_scope(uint32_t scope, const struct tr2_args *args, unsigned flags, uint64_t when)
{
	static const struct tr2_args none;

	args = args ? args : &none;
	if (!emit_short(scope, args, flags, when))
		emit_long(scope, args, flags, when);
}

/* The scope table has no room for this one: its definition goes in front of its arguments. */
static void emit_with_scope(const struct tr2_scope_key *key, struct tr2_args *args, unsigned flags, uint64_t when)
{
	struct tr2_args all;

	tr2_args_init(&all);
	tr2_args_int(&all, key->style);
	tr2_args_int(&all, key->line);
	tr2_args_int(&all, key->repo);
	tr2_args_text(&all, key->file);
	tr2_args_text(&all, key->category);
	tr2_args_text(&all, key->label);
	tr2_args_text(&all, key->format);
	if (args) {
		memcpy(&all.fixed[all.nfixed], args->fixed, args->nfixed * sizeof(args->fixed[0]));
		args->nfixed += all.nfixed;
		args->has_parts = 1;
		memcpy(args->fixed, all.fixed, args->nfixed * sizeof(args->fixed[0]));
	}
	tr2_emit_scope(0, args ? args : &all, flags, when);
}

void tr2_emit_at(const struct tr2_site *site, const struct tr2_scope_key *key, struct tr2_args *args, unsigned flags,
		 uint64_t when)
{
	if (__builtin_expect(site->scope != 0, 1))
		tr2_emit_scope(site->scope, args, flags, when);
	else if (tr2_self)   /* else the loss has been counted when the site was looked up */
		emit_with_scope(key, args, flags, when);
}

void tr2_emit(const struct tr2_scope_key *key, struct tr2_args *args, unsigned flags, uint64_t when)
{
	struct tr2_site room;

	tr2_emit_at(tr2_site_of(key, &room), key, args, flags, when);
}

void tr2_emit_hit(uint32_t scope, int timed)
{
	struct tlg_event *event;

#ifdef TRACE2_HAS_INLINE_
	if (trace2_record_v1_(tr2_hot_v1, scope, timed))
		return;
#endif
	event = tr2_reserve(1);
	if (!event)
		return;
	event->u.hit = (struct tlg_hit){
		timed ? read_clock() : 0, scope, tr2_chunk_of((uintptr_t)event)->tid
	};
	tr2_ring_commit(event, TLG_HIT);
}

void tr2_emit_int(uint32_t scope, int64_t value)
{
	struct tlg_event *event = tr2_reserve(2);

	if (!event)
		return;
	event[0].u.hit = (struct tlg_hit){ read_clock(), scope, tr2_chunk_of((uintptr_t)event)->tid };
	event[1].u.value = (struct tlg_value){ value, TLG_ARG_INT, 0 };
	tr2_ring_commit(&event[1], TLG_VALUE | TLG_INFO_END);
	tr2_ring_commit(&event[0], TLG_HIT | TLG_HAS_INFO);
}
