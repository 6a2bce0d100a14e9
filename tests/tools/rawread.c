/* SPDX-License-Identifier: MIT */
/* rawread.c - reads the whole file into memory, and makes one pass for each question. */
#include "rawread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tlg_block.h"
#include "tlg_pack.h"

enum { LOSSES = 1024, SCOPES = 1 << 17, PIDS = 1 << 16 };

static int load(const char *path, struct raw_file *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_size % TLG_EVENT_SIZE == 0) {
		file->events = calloc((size_t)st.st_size + 1, 1);
		n = file->events ? read(fd, file->events, (size_t)st.st_size) : -1;
		file->count = (size_t)st.st_size / TLG_EVENT_SIZE;
	}
	close(fd);
	return n == st.st_size ? 0 : -1;
}

/* The id of the stream that a block begins or belongs to. */
static uint32_t stream_of(const struct tlg_event *block, uint32_t current)
{
	for (unsigned i = 1; i <= block->u.block.count; i++)
		if (tlg_event_type(&block[i]) == TLG_CYCLE)
			return block[i].u.cycle.stream;
	return current;
}

/* Copy a block to to, unpacked, if it is good.  Return  the entries that it has in the file */
static size_t unpack_block(const struct tlg_event *block, size_t entries, uint32_t stream, struct tlg_event *to)
{
	const struct tlg_pack_key key = { block->pid, block->u.block.tid };
	size_t size = block->u.block.size + 1u, bytes = size * sizeof(*block);

	*to = *block;
	if (size <= entries && tlg_block_crc(block, bytes, TLG_BLOCK_CRC_AT, stream) == block->u.block.crc &&
	    tlg_unpack(&key, block + 1, bytes - sizeof(*block), 0, to + 1, block->u.block.count))
		tlg_block_seal(to, stream, block->pid, block->sequence, block->u.block.tid, block->u.block.count);
	return size;
}

/* Replace packed blocks by plain ones, up to the first bad block.  Return  -1: no memory */
static int unpack(struct raw_file *file)
{
	static uint32_t streams[PIDS];
	struct tlg_event *from = file->events, *to = calloc(file->count + 1, TLG_EVENT_SIZE * TLG_EVENT_SIZE);
	size_t at = 0, n = 0;

	if (!to)
		return -1;
	memset(streams, 0, sizeof(streams));
	while (at < file->count && tlg_event_type(&from[at]) == TLG_BLOCK) {
		size_t left = file->count - at, size = from[at].u.block.size + 1u;
		uint32_t *stream = &streams[from[at].pid];
		if (from[at].u.block.encoding == TLG_PACKED) {
			at += unpack_block(&from[at], left, *stream, &to[n]);
			n += from[at - size].u.block.count + 1u;
		} else {
			size = size < left ? size : left;
			memcpy(&to[n], &from[at], size * sizeof(*to));
			*stream = stream_of(&to[n], *stream);
			at += size;
			n += size;
		}
	}
	if (at < file->count)
		memcpy(&to[n], &from[at], (file->count - at) * sizeof(*to));
	file->count = n + (at < file->count ? file->count - at : 0);
	free(from);
	file->events = to;
	return 0;
}

/* A process: its present stream, the number of its last block, and each thread's last sequence number. */
struct process {
	uint32_t stream, number, *next;
};

static int check_block(struct raw_file *file, size_t at, struct process *process)
{
	const struct tlg_event *block = &file->events[at];
	size_t events = block->u.block.count + 1u;
	uint32_t id;

	if (tlg_event_type(block) != TLG_BLOCK || block->u.block.magic != TLG_BLOCK_MAGIC || at + events > file->count)
		return 0;
	id = stream_of(block, process->stream);
	if (id != process->stream) {
		free(process->next);
		*process = (struct process){ .stream = id, .next = calloc(RAW_THREADS, sizeof(uint32_t)) };
		file->streams++;
	}
	return process->next && block->sequence == ++process->number && events > 1 &&
	       tlg_block_crc(block, events * TLG_EVENT_SIZE, TLG_BLOCK_CRC_AT, id) == block->u.block.crc;
}

/* Events of a chain by its INFO_END; 1 for what has no arguments. */
static size_t chain_length(const struct raw_file *file, size_t at)
{
	size_t end = at + 1;

	if (file->events[at].flags & TLG_HAS_INFO)
		while (end < file->count && !(file->events[end++].flags & TLG_INFO_END))
			;
	return end - at;
}

static void add_loss(const struct tlg_event *event, struct tlg_loss losses[LOSSES])
{
	const struct tlg_loss *loss = &event->u.loss;

	for (int i = 0; i < LOSSES; i++) {
		if (losses[i].count && (losses[i].tid != loss->tid || losses[i].reason != loss->reason))
			continue;
		losses[i] = *loss;
		return;
	}
}

static void follow(struct raw_file *file, size_t at, struct tlg_loss losses[LOSSES], uint32_t *next)
{
	const struct tlg_event *event = &file->events[at];
	unsigned type = tlg_event_type(event);
	uint32_t *expected = &next[event->u.hit.tid % RAW_THREADS];

	if (type == TLG_HIT || type == TLG_MORE) {
		if (event->sequence != *expected + 1)
			file->gaps += event->sequence - *expected - 1;
		*expected = event->sequence + (uint32_t)chain_length(file, at) - 1;
	}
	file->hits += type == TLG_HIT;
	file->cycles += type == TLG_CYCLE;
	file->ends += type == TLG_END;
	if (type == TLG_END) {
		file->end_stored = event->u.end.stored;
		file->end_reason = event->u.end.reason;
	}
	if (type == TLG_PROCINFO)
		file->pid = event->u.procinfo.pid;
	if (type == TLG_LOSS)
		add_loss(event, losses);
}

int raw_read(const char *path, struct raw_file *file)
{
	static struct tlg_loss losses[LOSSES];
	static struct process processes[PIDS];

	memset(file, 0, sizeof(*file));
	memset(losses, 0, sizeof(losses));
	if (load(path, file) || unpack(file))
		return -1;
	for (size_t at = 0; at < file->count;) {
		size_t end = at + file->events[at].u.block.count + 1u;
		struct process *process = &processes[file->events[at].pid];
		int good = check_block(file, at, process);
		file->blocks++;
		file->bad_blocks += !good;
		if (!good)
			break;
		while (++at < end)
			follow(file, at, losses, process->next);
	}
	for (int i = 0; i < PIDS; i++)
		free(processes[i].next);
	memset(processes, 0, sizeof(processes));
	for (int i = 0; i < LOSSES; i++) {
		file->lost += losses[i].count;
		if (losses[i].reason < TLG_LOSS_REASONS)
			file->lost_by[losses[i].reason] += losses[i].count;
	}
	return 0;
}

void raw_free(struct raw_file *file)
{
	free(file->events);
	file->events = NULL;
}

int raw_write_from_cycle(const struct raw_file *file, size_t n, const char *path)
{
	size_t at = 0, written;
	FILE *to;

	if (!n || n > file->cycles)
		return -1;
	to = fopen(path, "w");
	if (!to)
		return -1;
	for (; n; at++)
		n -= tlg_event_type(&file->events[at + 1]) == TLG_PROLOGUE;
	at--;
	written = fwrite(file->events + at, sizeof(struct tlg_event), file->count - at, to);
	return fclose(to) || written != file->count - at ? -1 : 0;
}

/* Copy the INFO text behind event at into to, at most size bytes; its length without the zero padding. */
static size_t copy_text(const struct raw_file *file, size_t at, char *to, size_t size)
{
	size_t n = 0, end = at + chain_length(file, at);

	while (++at < end) {
		if (tlg_event_type(&file->events[at]) != TLG_INFO || n + TLG_TEXT_SIZE > size)
			continue;
		memcpy(to + n, file->events[at].u.info.text.c, TLG_TEXT_SIZE);
		n += TLG_TEXT_SIZE;
	}
	return n;
}

/* 1 if the SLOC at has this style and label. */
static int matches(const struct raw_file *file, size_t at, unsigned style, const char *label)
{
	char text[4 * TLG_NAME_MAX] = "";
	const struct tlg_sourceloc *scope = &file->events[at].u.sourceloc;
	const char *names = text;

	if (scope->style != style)
		return 0;
	if (!label)
		return 1;
	copy_text(file, at, text, sizeof(text) - 1);
	if (scope->names & TLG_NAME_CATEGORY)
		names += strlen(names) + 1;
	return (scope->names & TLG_NAME_LABEL) && !strcmp(names, label);
}

long raw_label(const struct raw_file *file, size_t event, char *to, size_t size)
{
	char text[4 * TLG_NAME_MAX];
	uint32_t scope = file->events[event].u.open.scopeIndex;

	while (event-- && tlg_event_type(&file->events[event]) != TLG_CYCLE) {
		const struct tlg_sourceloc *sloc = &file->events[event].u.sourceloc;
		const char *label = text;
		if (tlg_event_type(&file->events[event]) != TLG_SLOC || sloc->scopeIndex != scope)
			continue;
		memset(text, 0, sizeof(text));
		copy_text(file, event, text, sizeof(text) - 1);
		if (sloc->names & TLG_NAME_CATEGORY)
			label += strlen(label) + 1;
		if (strlen(label) >= size)
			return -1;
		strcpy(to, label);
		return (long)strlen(label);
	}
	return -1;
}

/* Call a function for each HIT whose scope matches, until it returns 0. */
static void each_hit(const struct raw_file *file, unsigned style, const char *label,
		     int (*call)(size_t, void *), void *data)
{
	unsigned char *wanted = calloc(SCOPES, 1);

	for (size_t at = 0; wanted && at < file->count; at++) {
		const struct tlg_event *event = &file->events[at];
		if (tlg_event_type(event) == TLG_SLOC)
			wanted[event->u.sourceloc.scopeIndex % SCOPES] = (unsigned char)matches(file, at, style, label);
		if (tlg_event_type(event) == TLG_HIT && wanted[event->u.hit.scopeIndex % SCOPES] && !call(at, data))
			break;
	}
	free(wanted);
}

static int count_one(size_t at, void *data)
{
	(void)at;
	++*(size_t *)data;
	return 1;
}

static int keep_first(size_t at, void *data)
{
	*(size_t *)data = at;
	return 0;
}

size_t raw_count(const struct raw_file *file, unsigned style, const char *label)
{
	size_t n = 0;

	each_hit(file, style, label, count_one, &n);
	return n;
}

struct tally {
	const struct raw_file *file;
	unsigned char *seen;
	size_t n, others;
};

static int tally_one(size_t at, void *data)
{
	struct tally *tally = data;
	const struct tlg_event *argument = &tally->file->events[at + 1];
	uint64_t value = (uint64_t)argument->u.value.value;

	if (at + 1 >= tally->file->count || tlg_event_type(argument) != TLG_VALUE || value >= tally->n)
		tally->others++;
	else
		tally->seen[value]++;
	return 1;
}

size_t raw_tally(const struct raw_file *file, unsigned style, const char *label, unsigned char *seen, size_t n)
{
	struct tally tally = { file, seen, n, 0 };

	each_hit(file, style, label, tally_one, &tally);
	return tally.others;
}

size_t raw_not_once(const struct raw_file *file, unsigned style, const char *label, size_t n)
{
	unsigned char *seen = calloc(n, 1);
	size_t count;

	if (!seen)
		abort();
	count = raw_tally(file, style, label, seen, n);
	for (size_t i = 0; i < n; i++)
		count += seen[i] != 1;
	free(seen);
	return count;
}

size_t raw_stored(const struct raw_file *file, uint64_t tid)
{
	size_t n = 0;

	for (size_t at = 0; at < file->count; at++)
		n += tlg_event_type(&file->events[at]) == TLG_HIT &&
		     (tid == RAW_ALL || file->events[at].u.hit.tid == tid);
	return n;
}

/* Totals only grow, and each cycle repeats all of them: so the last block that has any counts. */
uint64_t raw_lost(const struct raw_file *file, uint64_t tid, unsigned reason)
{
	static struct tlg_loss losses[LOSSES];
	uint64_t sum = 0;

	memset(losses, 0, sizeof(losses));
	for (size_t at = 0; at < file->count; at++)
		if (tlg_event_type(&file->events[at]) == TLG_LOSS)
			add_loss(&file->events[at], losses);
	for (int i = 0; i < LOSSES; i++)
		if (losses[i].reason == reason && (tid == RAW_ALL || losses[i].tid == tid))
			sum += losses[i].count;
	return sum;
}

long raw_text(const struct raw_file *file, unsigned style, char *to, size_t size)
{
	size_t at = SIZE_MAX, n;
	uint64_t when;

	each_hit(file, style, NULL, keep_first, &at);
	if (at == SIZE_MAX)
		return -1;
	when = file->events[at].u.hit.when;
	n = copy_text(file, at, to, size);
	while (++at < file->count)
		if (tlg_event_type(&file->events[at]) == TLG_MORE && file->events[at].u.more.when == when)
			n += copy_text(file, at, to + n, size - n);
	while (n && !to[n - 1])
		n--;
	return (long)n;
}
