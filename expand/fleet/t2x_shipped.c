/* SPDX-License-Identifier: MIT */
/* t2x_shipped.c - see t2x_shipped.h. */
#include "t2x_shipped.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROUND_BYTES = 1024 * 1024, IDLE_S = 10 };

int t2x_shipped_init(struct t2x_shipped *shipped, const char *directory, const char *host)
{
	*shipped = (struct t2x_shipped){ .directory = directory, .host = host };
	shipped->parcel.plain = malloc(TLG_FRAME_BYTES);
	shipped->message = malloc(T2X_ENVELOPE_MESSAGE);
	if (!shipped->parcel.plain || !shipped->message)
		return -ENOMEM;
	return t2x_shipped_gaps_load(shipped);
}

static void free_streams(struct t2x_shipped_file *file)
{
	struct t2x_shipped_stream *stream;

	while ((stream = file->streams)) {
		file->streams = stream->next;
		free(stream);
	}
	t2x_map_free(&file->by_id);
	file->by_id = (struct t2x_map){ .slots = NULL };
}

static void free_file(struct t2x_shipped_file *file)
{
	free_streams(file);
	t2x_tail_close(&file->tail);
	free(file);
}

void t2x_shipped_free(struct t2x_shipped *shipped)
{
	struct t2x_shipped_file *file;

	while ((file = shipped->files)) {
		shipped->files = file->next;
		free_file(file);
	}
	t2x_outbox_free(&shipped->outbox);
	free(shipped->parcel.plain);
	free(shipped->message);
}

/* ---- files -------------------------------------------------------------------------------------- */

static struct t2x_shipped_file *find_file(const struct t2x_shipped *shipped, const struct stat *st)
{
	struct t2x_shipped_file *file = shipped->files;

	while (file && (file->tail.device != st->st_dev || file->tail.inode != st->st_ino))
		file = file->next;
	return file;
}

static void add_file(struct t2x_shipped *shipped, const char *path)
{
	struct t2x_shipped_file *file = calloc(1, sizeof(*file)), **end = &shipped->files;

	if (!file) {
		shipped->error = -ENOMEM;
		return;
	}
	if (t2x_tail_open(&file->tail, path, 0)) {
		free(file);
		return;
	}
	file->tail.round_bytes = ROUND_BYTES;
	file->is_listed = 1;
	while (*end)
		end = &(*end)->next;
	*end = file;
}

static int is_trace(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && name[0] != '.' && !strcmp(name + n - 4, ".tlg");
}

/* A name is new, or that of a file that is known. */
static void look_at(struct t2x_shipped *shipped, const char *name)
{
	struct t2x_shipped_file *file;
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/%s", shipped->directory, name) >= (int)sizeof(path) || lstat(path, &st) ||
	    !S_ISREG(st.st_mode))
		return;
	file = find_file(shipped, &st);
	if (!file) {
		add_file(shipped, path);
		return;
	}
	file->is_listed = 1;
	if (strcmp(file->tail.path, path) != 0)
		t2x_tail_rename(&file->tail, path);   /* somebody has rotated it */
}

static int has_receipts(const struct t2x_shipped_file *file)
{
	for (const struct t2x_shipped_stream *stream = file->streams; stream; stream = stream->next)
		if (stream->receipted < stream->last)
			return 0;
	return !t2x_tail_rest(&file->tail) || file->tail.is_over;
}

const char *t2x_shipped_search(struct t2x_shipped *shipped)
{
	struct t2x_shipped_file **p = &shipped->files, *file;
	DIR *directory = opendir(shipped->directory);
	struct dirent *entry;
	struct stat st;

	if (!directory)
		return strerror(errno);
	for (file = shipped->files; file; file = file->next)
		file->is_listed = 0;
	while ((entry = readdir(directory)))
		if (is_trace(entry->d_name))
			look_at(shipped, entry->d_name);
	closedir(directory);
	while ((file = *p)) {
		if (!fstat(file->tail.fd, &st)) {
			file->modified = st.st_mtim;
			file->bytes = (uint64_t)st.st_size;
		}
		/* One that was removed is still open, and read to its end. */
		if (file->is_listed || !has_receipts(file)) {
			p = &file->next;
			continue;
		}
		*p = file->next;
		free_file(file);
	}
	return NULL;
}

/* ---- messages ----------------------------------------------------------------------------------- */

static void seal(struct t2x_shipped *shipped)
{
	struct t2x_envelope head = shipped->parcel.head;
	size_t n;

	if (!head.stream)
		return;
	n = t2x_parcel_seal(&shipped->parcel, shipped->message);
	if (!n || t2x_outbox_add(&shipped->outbox, &head, shipped->message, n))
		shipped->error = -ENOMEM;
}

static struct t2x_shipped_stream *find_stream(struct t2x_shipped *shipped, struct t2x_shipped_file *file,
					      const struct t2x_block *block)
{
	struct t2x_shipped_stream *stream = t2x_map_get(&file->by_id, block->stream);

	if (stream)
		return stream;
	stream = calloc(1, sizeof(*stream));
	if (!stream || t2x_map_put(&file->by_id, block->stream, stream)) {
		free(stream);
		shipped->error = -ENOMEM;
		return NULL;
	}
	stream->head.stream = block->stream;
	stream->head.pid = block->pid;
	snprintf(stream->head.host, sizeof(stream->head.host), "%s", shipped->host);
	stream->next = file->streams;
	file->streams = stream;
	return stream;
}

/*
 * What the process says of itself comes in its first block, and again in others.  Its file in the store is named by it,
 * so what the first block says stays.
 */
static void follow(struct t2x_shipped_stream *stream, const struct t2x_block *block)
{
	int is_first = !stream->has_begun;

	stream->has_begun = 1;
	if (block->tid != TLG_NO_THREAD)
		return;
	t2x_pace_follow(&stream->pace, block);
	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];

		if (is_first && tlg_event_type(event) == TLG_PROCINFO)
			stream->head.pid = event->u.procinfo.pid;
		if (tlg_event_type(event) == TLG_END)
			stream->has_end = 1;
	}
	if (is_first)
		stream->head.start_ns = stream->pace.start_ns;
}

static void add_block(struct t2x_shipped *shipped, struct t2x_shipped_file *file, const struct t2x_block *block)
{
	struct t2x_shipped_stream *stream = find_stream(shipped, file, block);
	struct t2x_parcel_block made;

	if (!stream)
		return;
	follow(stream, block);
	if (block->number <= stream->last || !block->stored ||
	    !t2x_parcel_block(&made, block->stream, block->stored, block->stored_bytes))
		return;
	stream->head.previous = stream->last;
	if (!t2x_parcel_add(&shipped->parcel, &stream->head, &made, block->stored)) {
		seal(shipped);
		t2x_parcel_add(&shipped->parcel, &stream->head, &made, block->stored);
	}
	stream->last = block->number;
}

/* The collector lacks what it had: all is read again, and what it has is skipped. */
static int rewind_file(struct t2x_shipped_file *file)
{
	struct t2x_tail tail;
	char name[64], *path;

	/* The file may have another name by now, or none. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file->tail.fd);
	if (t2x_tail_open(&tail, name, 0))
		return 0;
	tail.round_bytes = ROUND_BYTES;
	path = tail.path;
	tail.path = file->tail.path;
	file->tail.path = path;
	t2x_tail_close(&file->tail);
	file->tail = tail;
	for (struct t2x_shipped_stream *stream = file->streams; stream; stream = stream->next)
		stream->last = stream->receipted;
	return 1;
}

int t2x_shipped_read(struct t2x_shipped *shipped)
{
	struct t2x_block block;
	int made = 0;

	for (struct t2x_shipped_file *file = shipped->files; file; file = file->next) {
		if (file->is_rewound)
			file->is_rewound = !rewind_file(file);
		while (!t2x_outbox_is_full(&shipped->outbox) && t2x_tail_begin(&file->tail, &shipped->report)) {
			while (t2x_tail_next(&file->tail, &block))
				add_block(shipped, file, &block);
			seal(shipped);
			made = 1;
		}
	}
	return made;
}

void t2x_shipped_receipt(struct t2x_shipped *shipped, const struct t2x_receipt *receipt, uint64_t now_ms)
{
	int lacks = t2x_outbox_receipt(&shipped->outbox, receipt, now_ms);

	t2x_shipped_gaps_receipt(shipped, receipt);
	for (struct t2x_shipped_file *file = shipped->files; file; file = file->next) {
		struct t2x_shipped_stream *stream = t2x_map_get(&file->by_id, receipt->stream);

		if (!stream || stream->head.pid != receipt->pid)
			continue;
		if (receipt->until > stream->receipted || lacks)
			stream->receipted = receipt->until;
		if (lacks) {
			t2x_outbox_drop(&shipped->outbox, receipt->stream, receipt->pid);
			file->is_rewound = 1;
		}
	}
}

/* ---- removing ----------------------------------------------------------------------------------- */

/* A file of a process that has ended: with END, and nobody has written to it for a while. */
static int has_ended(const struct t2x_shipped_file *file)
{
	struct timespec now;

	for (const struct t2x_shipped_stream *stream = file->streams; stream; stream = stream->next)
		if (!stream->has_end)
			return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	return file->streams && file->is_listed && !file->is_rewound && now.tv_sec - file->modified.tv_sec > IDLE_S;
}

/* Its name may be another file's by now, which has been sent to nobody. */
static void remove_file(const struct t2x_shipped_file *file)
{
	struct stat st;

	if (!lstat(file->tail.path, &st) && st.st_dev == file->tail.device && st.st_ino == file->tail.inode)
		unlink(file->tail.path);
}

void t2x_shipped_delete(struct t2x_shipped *shipped)
{
	for (struct t2x_shipped_file *file = shipped->files; file; file = file->next)
		if (has_ended(file) && has_receipts(file))
			remove_file(file);
}

uint64_t t2x_shipped_waiting(const struct t2x_shipped *shipped)
{
	uint64_t bytes = 0;

	for (const struct t2x_shipped_file *file = shipped->files; file; file = file->next)
		if (!has_receipts(file))
			bytes += file->bytes;
	return bytes;
}

int t2x_shipped_is_done(const struct t2x_shipped *shipped)
{
	if (shipped->outbox.first || shipped->gaps)
		return 0;
	for (const struct t2x_shipped_file *file = shipped->files; file; file = file->next)
		if (!has_receipts(file))
			return 0;
	return 1;
}

/* Read the rest of a file without sending it: what is in it has to be known before it goes. */
static int count_rest(struct t2x_shipped *shipped, struct t2x_shipped_file *file)
{
	struct t2x_shipped_stream *stream;
	struct t2x_block block;

	for (stream = file->streams; stream; stream = stream->next) {
		t2x_outbox_drop(&shipped->outbox, stream->head.stream, stream->head.pid);
		stream->head.events = 0;
		stream->head.blocks = 0;
	}
	if (!rewind_file(file))
		return 0;
	while (t2x_tail_begin(&file->tail, &shipped->report))
		while (t2x_tail_next(&file->tail, &block)) {
			stream = find_stream(shipped, file, &block);
			if (!stream)
				return 0;
			follow(stream, &block);
			if (block.number <= stream->last)
				continue;
			stream->last = block.number;
			stream->head.blocks++;
			stream->head.events += block.count;
		}
	return has_ended(file);
}

/* Return  0: it stays */
static int drop_file(struct t2x_shipped *shipped, struct t2x_shipped_file *file)
{
	if (!count_rest(shipped, file) || !t2x_shipped_gaps_add(shipped, file->streams)) {
		file->is_rewound = 1;
		return 0;
	}
	remove_file(file);
	for (struct t2x_shipped_stream *stream = file->streams; stream; stream = stream->next) {
		shipped->dropped_blocks += stream->head.blocks;
		shipped->dropped_events += stream->head.events;
	}
	shipped->dropped_bytes += file->bytes;
	t2x_report_note(&shipped->report, file->tail.path, "dropped without having been stored: over the quota");
	free_streams(file);
	return 1;
}

static int is_older(const struct t2x_shipped_file *a, const struct t2x_shipped_file *b)
{
	return a->modified.tv_sec != b->modified.tv_sec ? a->modified.tv_sec < b->modified.tv_sec :
							  a->modified.tv_nsec < b->modified.tv_nsec;
}

void t2x_shipped_drop(struct t2x_shipped *shipped, uint64_t quota)
{
	uint64_t waiting = t2x_shipped_waiting(shipped);

	while (waiting > quota) {
		struct t2x_shipped_file *oldest = NULL;

		for (struct t2x_shipped_file *file = shipped->files; file; file = file->next)
			if (file->streams && has_ended(file) && !has_receipts(file) &&
			    (!oldest || is_older(file, oldest)))
				oldest = file;
		if (!oldest || !drop_file(shipped, oldest))
			return;
		waiting -= oldest->bytes < waiting ? oldest->bytes : waiting;
		oldest->is_listed = 0;
		oldest->bytes = 0;
	}
}
