/* SPDX-License-Identifier: MIT */
/* tr2_emit.c - from arguments to committed chains. */
#include "tr2_emit.h"

#include <string.h>

#include "tr2_chain.h"
#include "tr2_site.h"
#include "ring/tr2_losses.h"

/* ---- what does not fit one chain, and lists ------------------------------------------------------- */

/* Where the next VALUE, the next byte of text comes from. */
struct feed {
	const struct tr2_args *args;
	unsigned value;           /* next argument with a VALUE */
	unsigned text;            /* next text, the list's behind the others */
	struct tr2_piece pieces[3];   /* what is left of the one before that */
	unsigned piece, npieces;
	size_t values_left, text_left;
};

static unsigned value_count(const struct tr2_body *body)
{
	return (unsigned)(body->values_end - body->values);
}

static struct tr2_value next_value(struct feed *feed)
{
	const struct tr2_args *args = feed->args;
	unsigned fixed = value_count(&args->body), i = feed->value++;
	struct tr2_piece pieces[3];

	if (i < fixed)
		return args->body.values[i];
	i = tr2_args_split(args->list[i - fixed], args->redact, pieces);
	return (struct tr2_value){ (int64_t)tr2_args_sum(pieces, i), TLG_ARG_TEXT };
}

static void start_feed(struct feed *feed, const struct tr2_args *args)
{
	struct tr2_piece pieces[3];

	*feed = (struct feed){
		.args = args, .values_left = value_count(&args->body) + args->nlist, .text_left = args->body.bytes
	};
	for (unsigned i = 0; i < args->nlist; i++)
		feed->text_left += tr2_args_sum(pieces, tr2_args_split(args->list[i], args->redact, pieces));
}

/* The next run of text, at most bytes; steps through texts and pieces.  There is one. */
static size_t next_text(struct feed *feed, char *to, size_t bytes)
{
	const struct tr2_args *args = feed->args;
	struct tr2_piece *piece = &feed->pieces[feed->piece];
	unsigned fixed = (unsigned)(args->body.pieces_end - args->body.pieces), i;

	if (feed->piece == feed->npieces) {
		i = feed->text++;
		if (i >= fixed + args->nlist)
			return bytes;   /* another thread has cut one of the list's texts: the rest are NULs */
		feed->piece = 0;
		feed->npieces = 1;
		if (i < fixed)
			feed->pieces[0] = args->body.pieces[i];
		else
			feed->npieces = tr2_args_split(args->list[i - fixed], args->redact, feed->pieces);
		return 0;
	}
	if (bytes > piece->count)
		bytes = piece->count;
	tr2_chain_copy(to, piece->bytes, bytes);   /* no call of libc writes to a ring: see tr2_tsan.h */
	piece->bytes += bytes;
	piece->count -= bytes;
	feed->piece += !piece->count;
	return bytes;
}

/* Fill in one argument event and say its type. */
static unsigned fill_event(struct feed *feed, struct tlg_event *event)
{
	struct tr2_value value;
	size_t n = 0, want = feed->text_left < TLG_TEXT_SIZE ? feed->text_left : TLG_TEXT_SIZE;

	if (feed->values_left) {
		value = next_value(feed);
		event->u.value = (struct tlg_value){ value.value, value.type, 0 };
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
	struct tlg_event *event = tr2_reserve_long(n + 1, type == TLG_MORE ? TR2_CHAIN_MORE : hit->scopeIndex);

	if (!event)
		return 0;
	if (!hit->when)
		hit->when = tr2_chain_clock();
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

/* Lists, more than one chain. */
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

/* One that does not fit. */
static __attribute__((noinline)) void emit_long_text(uint32_t scope, const char *text)
{
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_last(&args, text);
	emit_long(scope, &args, 0, 0);
}

/* One chain, but not a short one. */
static __attribute__((noinline)) void emit_whole(uint32_t scope, const struct tr2_body *body, unsigned flags,
						 uint64_t when)
{
	unsigned n = (unsigned)(body->values_end - body->values) + tr2_chain_infos(body);

	tr2_chain_fill(tr2_reserve_long(1 + n, scope), scope, body, flags, when);
}

void tr2_emit_scope(uint32_t scope, const struct tr2_args *args, unsigned flags, uint64_t when)
{
	static const struct tr2_args none;

	args = args ? args : &none;
	if (__builtin_expect(!args->nlist && tr2_chain_is_short(&args->body), 1))
		tr2_chain_record(scope, &args->body, flags, when);
	else if (!args->nlist && tr2_chain_fits(&args->body))
		emit_whole(scope, &args->body, flags, when);
	else
		emit_long(scope, args, flags, when);
}

void tr2_emit_with_scope(const struct tr2_scope_key *key, const struct tr2_args *args, unsigned flags, uint64_t when)
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
		for (const struct tr2_value *value = args->body.values; value < args->body.values_end; value++)
			tr2_body_add(&all.body, value->type, value->value);
		for (const struct tr2_piece *piece = args->body.pieces; piece < args->body.pieces_end; piece++)
			tr2_body_append(&all.body, piece->bytes, piece->count);
		all.list = args->list;
		all.nlist = args->nlist;
		all.redact = args->redact;
	}
	tr2_emit_scope(0, &all, flags, when);
}

void tr2_emit_at(const struct tr2_site *site, const struct tr2_scope_key *key, struct tr2_args *args, unsigned flags,
		 uint64_t when)
{
	if (__builtin_expect(site->scope != 0, 1))
		tr2_emit_scope(site->scope, args, flags, when);
	else
		tr2_emit_with_scope(key, args, flags, when);
}

void tr2_emit(const struct tr2_scope_key *key, struct tr2_args *args, unsigned flags, uint64_t when)
{
	struct tr2_site room;

	tr2_emit_at(tr2_site_of(key, &room), key, args, flags, when);
}

void tr2_emit_one_text(int style, const char *file, int line, const char *text)
{
	struct tr2_scope_key key = tr2_scope_key_at(style, file, line);
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_last(&args, text);
	tr2_emit(&key, &args, 0, 0);
}

void tr2_emit_one_int(int style, const char *file, int line, int64_t value, uint64_t when)
{
	struct tr2_scope_key key = tr2_scope_key_at(style, file, line);
	struct tr2_args args;

	tr2_args_init(&args);
	tr2_args_int(&args, value);
	tr2_emit(&key, &args, 0, when);
}

void tr2_emit_hit(uint32_t scope, int timed)
{
	struct tlg_event *event;

#ifdef TRACE2_HAS_INLINE_
	if (trace2_record_v1_(tr2_hot_v1, scope, timed))
		return;
#endif
	event = tr2_reserve(1, scope);
	if (!event)
		return;
	event->u.hit = (struct tlg_hit){
		timed ? tr2_chain_clock() : 0, scope, tr2_chunk_of((uintptr_t)event)->tid
	};
	tr2_ring_commit(event, TLG_HIT);
}

void tr2_emit_int(uint32_t scope, int64_t value)
{
	struct tlg_event *event = tr2_reserve(2, scope);
	const struct tlg_chunk *chunk = tr2_chunk_of((uintptr_t)event);

	if (!event)
		return;
	event[0].u.hit.when = tr2_chain_clock();
	event[0].u.hit.scopeIndex = scope;
	event[0].u.hit.tid = chunk->tid;
	event[1].u.value.value = value;
	event[1].u.value.argtype = TLG_ARG_INT;
	event[1].u.value.reserved = 0;
	tr2_chain_head(&event[1], chunk->head | tlg_head(TLG_VALUE | TLG_INFO_END, 0, 0));
	tr2_ring_commit(&event[0], TLG_HIT | TLG_HAS_INFO);
}

void tr2_emit_last(uint32_t scope, const char *text)
{
	struct tr2_piece pieces[1] = { { text, text ? strlen(text) : 0 } };
	const struct tr2_body body = { NULL, NULL, pieces, pieces + 1, pieces[0].count };

	if (__builtin_expect(tr2_chain_is_short(&body), 1))
		tr2_chain_record(scope, &body, 0, 0);
	else if (tr2_chain_fits(&body))
		emit_whole(scope, &body, 0, 0);
	else
		emit_long_text(scope, text);
}
