/* SPDX-License-Identifier: MIT */
/* t2x_followed.c - see t2x_followed.h. */
#include "t2x_followed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- which process ------------------------------------------------------------------------------ */

struct t2x_followed *t2x_followed_get(const struct t2x_followed_table *table, uint32_t stream)
{
	return t2x_map_get(&table->streams, stream);
}

static struct t2x_followed *find(const struct t2x_followed_table *table, uint32_t pid, uint64_t start, const char *sid)
{
	struct t2x_followed *process = table->all;

	while (process && (process->pid != pid || process->start != start || strcmp(process->sid, sid) != 0))
		process = process->next;
	return process;
}

struct t2x_followed *t2x_followed_add(struct t2x_followed_table *table, uint32_t stream, uint32_t pid, uint64_t start,
				      const char *sid)
{
	struct t2x_followed *process = find(table, pid, start, sid), *added = NULL;

	if (!process) {
		process = added = calloc(1, sizeof(*process));
		if (!process)
			return NULL;
		process->pid = pid;
		process->start = start;
		process->stream = stream;
		process->sid = strdup(sid);
	}
	if (!process->sid || t2x_map_put(&table->streams, stream, process)) {
		if (added)
			free(added->sid);
		free(added);
		return NULL;
	}
	if (added) {
		added->next = table->all;
		table->all = added;
	}
	return process;
}

int t2x_followed_is_known(const struct t2x_followed_table *table, uint32_t pid, uint64_t start, const char *sid)
{
	if (find(table, pid, start, sid))
		return 1;
	for (const struct t2x_followed *process = table->all; process; process = process->next) {
		size_t n = strlen(process->sid);

		if (n && !strncmp(process->sid, sid, n) && sid[n] == '/')
			return 1;
	}
	return 0;
}

static void free_process(struct t2x_followed *process)
{
	t2x_seen_free(&process->seen);
	free(process->sid);
	free(process);
}

/* Its streams: after a rotation there are several. */
static void forget_streams(struct t2x_followed_table *table, const struct t2x_followed *process)
{
	uint32_t streams[64];
	unsigned n = 0;

	for (uint32_t i = 0; i < t2x_map_slots(&table->streams) && n < 64; i++)
		if (t2x_map_at(&table->streams, i) == process)
			streams[n++] = table->streams.slots[i].key;
	for (unsigned i = 0; i < n; i++)
		t2x_map_remove(&table->streams, streams[i]);
	if (n == 64)
		forget_streams(table, process);
}

void t2x_followed_forget(struct t2x_followed_table *table)
{
	for (struct t2x_followed **at = &table->all; *at;) {
		struct t2x_followed *process = *at;

		if (!process->is_ended) {
			at = &process->next;
			continue;
		}
		*at = process->next;
		forget_streams(table, process);
		free_process(process);
	}
}

void t2x_followed_free(struct t2x_followed_table *table)
{
	while (table->all) {
		struct t2x_followed *process = table->all;

		table->all = process->next;
		free_process(process);
	}
	t2x_map_free(&table->streams);
}

int t2x_followed_read(const struct t2x_block *block, uint32_t *pid, uint64_t *start, char *sid, size_t size)
{
	unsigned i = 0;
	size_t n = 0;

	while (i < block->count && tlg_event_type(&block->events[i]) != TLG_PROCINFO)
		i++;
	if (i == block->count)
		return 0;
	*pid = block->events[i].u.procinfo.pid;
	*start = block->events[i].u.procinfo.start;
	for (i++; i < block->count && tlg_event_type(&block->events[i]) == TLG_INFO && n + TLG_TEXT_SIZE < size; i++) {
		memcpy(sid + n, block->events[i].u.info.text.c, TLG_TEXT_SIZE);
		n += TLG_TEXT_SIZE;
		if (block->events[i].flags & TLG_INFO_END)
			break;
	}
	sid[n] = '\0';
	return 1;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* What the merge does not need of a block: nobody keeps it in its raw form. */
static void pack(struct t2x_followed *process, struct t2x_block *block, struct tlg_event *events, unsigned n)
{
	/* A stream of which the first block is missing begins with a higher number: nobody counts what came before. */
	if (!process->number)
		process->is_sought = block->number != 1;
	process->number = process->number ? process->number : (uint32_t)process->is_sought;
	*block = (struct t2x_block){
		.is_framed = 1, .counts_events = 1, .stream = process->stream, .number = ++process->number,
		.is_sought = process->is_sought,
		.tid = block->tid, .pid = (uint16_t)process->pid, .events = events, .count = n,
	};
}

/* An event of the process that says what the merge shall not hear, or has heard.  Return  1: it is left out */
static int is_superfluous(struct t2x_followed *process, const struct tlg_event *event, int is_ring)
{
	switch (tlg_event_type(event)) {
	case TLG_RECOVERED:
		return 1;
	case TLG_TIMETYPE:
	case TLG_TIMEINFO:
		return is_ring && process->has_file_clock;
	case TLG_END:
		return 1;
	case TLG_PROLOGUE:
	case TLG_PROCINFO:
	case TLG_CYCLE:
		return process->has_prologue;
	default:
		return 0;
	}
}

/*
 * A MARK never goes back.  Nor does it count checkpoints: a later file of the process counts from 0, and the numbers of
 * the threads' events show what is missing.
 */
static void correct_mark(struct t2x_followed *process, struct tlg_event *event)
{
	if (event->u.mark.when < process->marked)
		event->u.mark.when = process->marked;
	process->marked = event->u.mark.when;
	event->u.mark.stored = 0;
}

/* The end of the process waits: the merge forgets who ends, and what of him is older than others' events. */
static void keep_end(struct t2x_followed *process, const struct tlg_event *event, uint64_t now_ns)
{
	if (event->u.end.reason == TLG_END_ROTATE || process->end_ns)
		return;
	process->end = *event;
	process->end.u.end.stored = 0;
	process->end_ns = now_ns;
}

static unsigned filter_process(struct t2x_followed *process, const struct t2x_block *block, struct tlg_event *to,
			       int is_ring, uint64_t now_ns)
{
	unsigned kept = 0;
	int leaves = 0;

	for (unsigned i = 0; i < block->count; i++) {
		unsigned type = tlg_event_type(&block->events[i]);

		if (type == TLG_END)
			keep_end(process, &block->events[i], now_ns);
		leaves = type == TLG_INFO ? leaves : is_superfluous(process, &block->events[i], is_ring);
		if (leaves)
			continue;
		to[kept] = block->events[i];
		if (type == TLG_MARK)
			correct_mark(process, &to[kept]);
		process->has_file_clock |= type == TLG_TIMEINFO && !is_ring;
		kept++;
	}
	for (unsigned i = 0; i < block->count; i++)
		process->has_prologue |= tlg_event_type(&block->events[i]) == TLG_CYCLE;
	return kept;
}

int t2x_followed_filter(struct t2x_followed *process, struct t2x_block *block, struct tlg_event *to, int is_ring,
			uint64_t now_ns)
{
	int n;

	process->has_file |= !is_ring;
	if (block->tid == TLG_NO_THREAD)
		n = (int)filter_process(process, block, to, is_ring, now_ns);
	else
		n = t2x_seen_filter(&process->seen, block, to);
	if (n <= 0)
		return n;
	pack(process, block, to, (unsigned)n);
	t2x_pace_follow(&process->pace, block);
	return 1;
}

/* The raw clock at this time, by the process's clock.  Return  0: the clock is not known */
static uint64_t raw_of(const struct t2x_pace *pace, uint64_t ns)
{
	const struct t2x_clock *clock = &pace->clock;
	uint64_t second = clock->seconds > 0 ? (uint64_t)clock->seconds * T2X_NS_PER_S : 0, rest;

	if (!pace->has_clock || ns < second)
		return 0;
	return clock->raw + tlg_mul_div(ns - second, clock->ticks_per_s, T2X_NS_PER_S, &rest);
}

static void make_event(const struct t2x_followed *process, struct tlg_event *event, unsigned type)
{
	memset(event, 0, sizeof(*event));
	event->flags = (uint16_t)type;
	event->pid = (uint16_t)process->pid;
}

int t2x_followed_mark(struct t2x_followed *process, uint64_t ns, struct t2x_block *block, struct tlg_event *to)
{
	uint64_t raw = process->is_ended ? 0 : raw_of(&process->pace, ns);

	if (raw <= process->marked)
		return 0;
	make_event(process, to, TLG_MARK);
	to->u.mark.when = process->marked = raw;
	block->tid = TLG_NO_THREAD;
	pack(process, block, to, 1);
	return 1;
}

void t2x_followed_kill(struct t2x_followed *process, uint64_t now_ns)
{
	if (process->end_ns)
		return;
	make_event(process, &process->end, TLG_RECOVERED);
	process->end.u.recovered = (struct tlg_recovered){ 0, 0, TLG_RECOVERED_END, TLG_RECOVERED_DEAD };
	process->end_ns = now_ns;
}

int t2x_followed_end(struct t2x_followed *process, uint64_t now_ns, struct t2x_block *block, struct tlg_event *to)
{
	/* Without a clock no MARK will come. */
	if (!process->end_ns || process->is_ended || (process->pace.has_clock && process->end_ns > now_ns))
		return 0;
	*to = process->end;
	process->is_ended = 1;
	block->tid = TLG_NO_THREAD;
	pack(process, block, to, 1);
	return 1;
}
