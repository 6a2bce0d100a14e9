/* SPDX-License-Identifier: MIT */
/* tr2_emit.c - from arguments to committed chains. */
#include "tr2_emit.h"

#include <string.h>

#include "tr2_clock.h"
#include "tr2_env.h"
#include "tr2_losses.h"
#include "tr2_reserve.h"

/* ---- describing arguments ----------------------------------------------------------------------- */

/* A new argument; what it does not set of a text is not looked at. */
static struct tr2_arg *add_arg(struct tr2_args *args, uint32_t type, int64_t value)
{
	struct tr2_arg *arg = &args->fixed[args->nfixed++];

	arg->type = type;
	arg->value = value;
	return arg;
}

void tr2_args_add(struct tr2_args *args, uint32_t type, int64_t value)
{
	add_arg(args, type, value);
}

void tr2_args_bytes(struct tr2_args *args, const char *text, size_t bytes)
{
	struct tr2_arg *arg = add_arg(args, TLG_ARG_TEXT, (int64_t)bytes);

	*arg = (struct tr2_arg){ .type = TLG_ARG_TEXT, .value = (int64_t)bytes, .text = { text }, .bytes = { bytes } };
}

void tr2_args_int(struct tr2_args *args, int64_t value)
{
	add_arg(args, TLG_ARG_INT, value);
}

void tr2_args_uint(struct tr2_args *args, uint64_t value)
{
	add_arg(args, TLG_ARG_UINT, (int64_t)value);
}

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

	memset(arg, 0, sizeof(*arg));
	arg->type = TLG_ARG_TEXT;
	arg->text[0] = text;
	arg->bytes[0] = length;
	if (redact && tr2_g_settings.redact && tr2_find_password(text, &from, &to)) {
		arg->bytes[0] = from;
		arg->text[1] = hidden;
		arg->bytes[1] = sizeof(hidden) - 1;
		arg->text[2] = text + to;
		arg->bytes[2] = length - to;
	}
	arg->value = (int64_t)(arg->bytes[0] + arg->bytes[1] + arg->bytes[2]);
}

void tr2_args_text(struct tr2_args *args, const char *text)
{
	struct tr2_arg *arg = add_arg(args, TLG_ARG_NULL, 0);

	if (text)
		set_text(arg, text, 0);
}

void tr2_args_redacted(struct tr2_args *args, const char *text)
{
	struct tr2_arg *arg = add_arg(args, TLG_ARG_NULL, 0);

	if (text)
		set_text(arg, text, 1);
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
	struct tlg_event *event = tr2_reserve(n + 1);

	if (!event)
		return 0;
	if (!hit->when)
		hit->when = tr2_clock_raw();
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

/* The commonest arguments: nothing but one text.  0: it does not fit one chain. */
static int emit_one_text(struct tlg_hit *hit, const struct tr2_args *args, unsigned flags)
{
	size_t left = args->last_bytes;
	unsigned n = (unsigned)((left + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE);
	const char *text = args->last;
	struct tlg_event *event;

	if (left > (TR2_CHAIN_EVENTS - 1) * TLG_TEXT_SIZE)
		return 0;
	event = tr2_reserve(n + 1);
	if (!event)
		return 1;
	hit->when = hit->when ? hit->when : tr2_clock_raw();
	hit->tid = tr2_chunk_of((uintptr_t)event)->tid;
	event->u.hit = *hit;
	for (unsigned i = 1; i <= n; i++, text += TLG_TEXT_SIZE, left -= TLG_TEXT_SIZE) {
		if (left <= TLG_TEXT_SIZE) {
			memset(&event[i].u.info, 0, TLG_TEXT_SIZE);
			memcpy(&event[i].u.info, text, left);
			tr2_ring_commit(&event[i], TLG_INFO | TLG_INFO_END);
			break;
		}
		memcpy(&event[i].u.info, text, TLG_TEXT_SIZE);
		tr2_ring_commit(&event[i], TLG_INFO);
	}
	tr2_ring_commit(event, TLG_HIT | flags | (n ? TLG_HAS_INFO : 0));
	return 1;
}

void tr2_emit_scope(uint32_t scope, struct tr2_args *args, unsigned flags, uint64_t when)
{
	struct tr2_args none;
	struct tlg_hit hit = { .when = when, .scopeIndex = scope };
	struct feed feed;

	tr2_args_init(&none);
	args = args ? args : &none;
	if (!args->nfixed && !args->nlist && emit_one_text(&hit, args, flags))
		return;
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
		memcpy(args->fixed, all.fixed, args->nfixed * sizeof(args->fixed[0]));
	}
	tr2_emit_scope(0, args ? args : &all, flags, when);
}

void tr2_emit(const struct tr2_scope_key *key, struct tr2_args *args, unsigned flags, uint64_t when)
{
	uint32_t scope;

	if (!tr2_self_or_new())
		return;
	scope = tr2_scope_intern(key);
	if (scope)
		tr2_emit_scope(scope, args, flags, when);
	else
		emit_with_scope(key, args, flags, when);
}

void tr2_emit_hit(uint32_t scope, int timed)
{
	struct tlg_event *event = tr2_reserve(1);

	if (!event)
		return;
	event->u.hit = (struct tlg_hit){
		timed ? tr2_clock_raw() : 0, scope, tr2_chunk_of((uintptr_t)event)->tid
	};
	tr2_ring_commit(event, TLG_HIT);
}

void tr2_emit_int(uint32_t scope, int64_t value)
{
	struct tlg_event *event = tr2_reserve(2);

	if (!event)
		return;
	event[0].u.hit = (struct tlg_hit){ tr2_clock_raw(), scope, tr2_chunk_of((uintptr_t)event)->tid };
	event[1].u.value = (struct tlg_value){ value, TLG_ARG_INT, 0 };
	tr2_ring_commit(&event[1], TLG_VALUE | TLG_INFO_END);
	tr2_ring_commit(&event[0], TLG_HIT | TLG_HAS_INFO);
}
