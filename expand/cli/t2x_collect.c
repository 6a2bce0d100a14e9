/* SPDX-License-Identifier: MIT */
/* t2x_collect.c - see t2x_collect.h. */
#include "t2x_collect.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tlg_crc.h"
#include "base/t2x_out.h"
#include "profile/t2x_bytes.h"
#include "recover/t2x_alive.h"
#include "recover/t2x_ring_files.h"
#include "recover/t2x_salvage.h"
#include "read/t2x_input.h"
#include "read/t2x_lz4.h"

enum { AT_A_TIME = 64 };                  /* 200 KB each */

/* A ring file that is ours. */
struct item {
	struct t2x_ring ring;
	struct t2x_salvage *salvage;
	char target[PATH_MAX];            /* the trace that it belongs to */
	int has_less;                     /* than the trace */
	int is_done;
};

struct collect {
	const struct t2x_collecting *what;
	struct item *items;               /* AT_A_TIME */
	unsigned n, left;                 /* left: ring files that stay */
	const char *why;                  /* one of them does, in words */
};

uint64_t t2x_collect_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void leave(struct collect *collect, const char *why)
{
	collect->left++;
	collect->why = why;
}

/* ---- which ring files ---------------------------------------------------------------------------- */

/* A component of the session id ends with its process id. */
int t2x_collect_is_below(const char *sid, pid_t pid)
{
	char end[16];
	size_t n = (size_t)snprintf(end, sizeof(end), "-P%08x", (unsigned)pid), length;

	for (;; sid += length + 1) {
		length = strcspn(sid, "/");
		if (length > n && !strncmp(sid + length - n, end, n))
			return 1;
		if (!sid[length])
			return 0;
	}
}

static int is_of_output(const struct t2x_ring *ring, const char *path)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == ring->state.device && st.st_ino == ring->state.inode;
}

/* Ids of another PID namespace mean nothing. */
static int is_ours(const struct t2x_collecting *what, const struct t2x_ring *ring)
{
	struct stat st;

	if (ring->head.created < what->begun)
		return 0;
	if (ring->head.pid_space && (stat("/proc/self/ns/pid", &st) || st.st_ino != ring->head.pid_space))
		return 0;
	return t2x_collect_is_below(ring->head.sid, what->pid) ||
	       (!what->is_directory && is_of_output(ring, what->output));
}

/* The trace of the process: it may have died before there was one.  Return  0: it is none of the output */
static int find_target(const struct t2x_collecting *what, struct item *item)
{
	const struct tlg_ring_state *state = &item->ring.state;
	const char *slash = strrchr(item->ring.head.sid, '/');
	size_t n = strlen(what->output);
	int length;

	if (!what->is_directory) {
		length = snprintf(item->target, sizeof(item->target), "%s", what->output);
		return (size_t)length < sizeof(item->target) &&
		       (!state->path[0] || is_of_output(&item->ring, what->output));
	}
	while (n > 1 && what->output[n - 1] == '/')
		n--;
	if (state->path[0])
		length = snprintf(item->target, sizeof(item->target), "%s", state->path);
	else
		length = snprintf(item->target, sizeof(item->target), "%.*s/%s", (int)n, what->output,
				  slash ? slash + 1 : item->ring.head.sid);
	return (size_t)length < sizeof(item->target) && !strncmp(item->target, what->output, n) &&
	       item->target[n] == '/' && (!state->path[0] || is_of_output(&item->ring, state->path));
}

/* Return  0: it is not to be collected, and closed */
static int open_item(struct collect *collect, struct item *item, const char *path)
{
	*item = (struct item){ .has_less = 0 };
	if (t2x_ring_open(&item->ring, path, 0))
		return 0;
	if (!item->ring.head.is_over && is_ours(collect->what, &item->ring) && t2x_alive(&item->ring) == T2X_DEAD &&
	    find_target(collect->what, item)) {
		item->salvage = t2x_salvage_new(&item->ring);
		if (item->salvage)
			return 1;
		leave(collect, strerror(ENOMEM));
	}
	t2x_ring_close(&item->ring);
	return 0;
}

static void close_items(struct collect *collect)
{
	for (unsigned i = 0; i < collect->n; i++) {
		t2x_salvage_free(collect->items[i].salvage);
		t2x_ring_close(&collect->items[i].ring);
	}
	collect->n = 0;
}

/* ---- what they have ------------------------------------------------------------------------------ */

/* A block of the trace is followed by whose stream it is. */
static void follow(struct collect *collect, const char *target, const struct t2x_block *block)
{
	for (unsigned i = 0; i < collect->n; i++) {
		struct item *item = &collect->items[i];
		if (!block->is_framed || item->ring.state.stream != block->stream || strcmp(item->target, target) != 0)
			continue;
		if ((int32_t)(item->ring.state.blocks - block->number) >= 0)
			t2x_salvage_follow(item->salvage, block);
		else
			item->has_less = 1;
	}
}

static void read_target(struct collect *collect, const char *target)
{
	struct t2x_report silent = { .to = NULL };
	struct t2x_input input = { .path = target, .report = &silent };
	struct t2x_block block;

	if (t2x_input_check(&input, 0))
		while (t2x_input_next(&input.blocks, &block))
			follow(collect, target, &block);
	t2x_input_close(&input);
}

/* One piece of a trace, whole blocks.  Return  NULL, or why not, in words */
static const char *write_blocks(int fd, const void *bytes, size_t n)
{
	int error = t2x_out_write_all(fd, bytes, n);

	return error ? strerror(error) : NULL;
}

/* The same in a frame, behind its mark.  number  of the frame: above those of the stream so far */
static const char *write_frame(int fd, const void *bytes, size_t n, uint32_t stream, uint32_t number)
{
	uint32_t mark[6] = { htole32(TLG_SKIP_MAGIC), htole32(4 * sizeof(mark[0])), htole32(stream), htole32(number),
			     htole32((uint32_t)n) };
	unsigned char *frame = malloc(sizeof(mark) + T2X_LZ4_PACKED);
	const char *why = NULL;
	size_t packed = 0;

	mark[5] = htole32(tlg_crc32c(0, &mark[2], 3 * sizeof(mark[0])));
	if (frame) {
		memcpy(frame, mark, sizeof(mark));
		packed = t2x_lz4_pack(frame + sizeof(mark), T2X_LZ4_PACKED, bytes, n);
	}
	why = packed ? write_blocks(fd, frame, sizeof(mark) + packed) : strerror(ENOMEM);
	free(frame);
	return why;
}

/* 1: the trace is in frames; an empty one will be plain. */
static int is_in_frames(const char *target)
{
	unsigned char begin[4];
	int fd = open(target, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), is_frame;

	is_frame = fd >= 0 && read(fd, begin, sizeof(begin)) == sizeof(begin) && t2x_lz4_is_frame(begin, sizeof(begin));
	if (fd >= 0)
		close(fd);
	return is_frame;
}

/* Collect blocks as far as they go together.  next  one is left over from the last time; 0 behind the last */
static void fill(struct item *item, struct t2x_bytes *bytes, struct t2x_block *block, int *next)
{
	bytes->n = 0;
	while (*next && bytes->n + block->entries * sizeof(struct tlg_event) <= TLG_FRAME_BYTES) {
		t2x_bytes_put(bytes, block->raw, block->entries * sizeof(struct tlg_event));
		*next = t2x_salvage_next(item->salvage, block);
	}
}

static const char *append_blocks(struct item *item, struct t2x_bytes *bytes, int fd)
{
	int is_framed = is_in_frames(item->target), next;
	const char *why = NULL;
	struct t2x_block block;

	next = t2x_salvage_next(item->salvage, &block);
	for (uint32_t number = item->ring.state.blocks + 1; !why && next; number++) {
		fill(item, bytes, &block, &next);
		if (bytes->error)
			return strerror(ENOMEM);
		why = is_framed ? write_frame(fd, bytes->bytes, bytes->n, item->ring.state.stream, number)
				: write_blocks(fd, bytes->bytes, bytes->n);
	}
	return why;
}

/* All that the ring file has, at the end of the trace.  Return  NULL, or why not, in words */
static const char *append(struct item *item, struct t2x_bytes *bytes)
{
	int fd = open(item->target, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	struct stat st;
	const char *why;

	if (fd < 0)
		return strerror(errno);
	why = !fstat(fd, &st) && S_ISREG(st.st_mode) ? append_blocks(item, bytes, fd) : "is not a regular file";
	if (close(fd) && !why)
		why = strerror(errno);
	return !why && t2x_salvage_totals(item->salvage)->damaged ? "is damaged" : why;
}

static void finish_item(struct collect *collect, struct item *item, struct t2x_bytes *bytes)
{
	const char *why = item->has_less ? "has less than the trace" : append(item, bytes);
	int error;

	item->is_done = 1;
	if (!why) {
		error = t2x_ring_remove(&item->ring);
		why = error ? strerror(-error) : NULL;
	}
	if (why)
		leave(collect, why);
}

/* One trace after the other, each read once. */
static void collect_items(struct collect *collect)
{
	struct t2x_bytes bytes = { 0 };

	for (unsigned i = 0; i < collect->n; i++) {
		const char *target = collect->items[i].target;
		if (collect->items[i].is_done)
			continue;
		read_target(collect, target);
		for (unsigned k = i; k < collect->n; k++)
			if (!collect->items[k].is_done && !strcmp(collect->items[k].target, target))
				finish_item(collect, &collect->items[k], &bytes);
	}
	t2x_bytes_free(&bytes);
	close_items(collect);
}

void t2x_collect(const struct t2x_collecting *collecting)
{
	struct collect collect = { .what = collecting, .items = calloc(AT_A_TIME, sizeof(*collect.items)) };
	struct t2x_ring_files files = { .n = 0 };

	if (collect.items && !t2x_ring_files_find(&files, 0, geteuid()))
		for (unsigned i = 0; i < files.n; i++) {
			collect.n += (unsigned)open_item(&collect, &collect.items[collect.n], files.paths[i]);
			if (collect.n == AT_A_TIME)
				collect_items(&collect);
		}
	if (collect.items)
		collect_items(&collect);
	if (collect.left)
		fprintf(stderr, "t2 record: %u ring files stay, `t2 recover' reads them: one %s\n", collect.left,
			collect.why);
	t2x_ring_files_free(&files);
	free(collect.items);
}
