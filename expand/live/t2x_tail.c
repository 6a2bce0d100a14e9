/* SPDX-License-Identifier: MIT */
/* t2x_tail.c - see t2x_tail.h. */
#include "t2x_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/t2x_lz4_unit.h"

int t2x_tail_open(struct t2x_tail *tail, const char *path, uint64_t at)
{
	struct stat st;

	*tail = (struct t2x_tail){ .at = at };
	tail->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (tail->fd < 0)
		return -errno;
	tail->path = strdup(path);
	if (!tail->path || fstat(tail->fd, &st) || !S_ISREG(st.st_mode)) {
		t2x_tail_close(tail);
		return tail->path ? -EINVAL : -ENOMEM;
	}
	tail->device = st.st_dev;
	tail->inode = st.st_ino;
	return 0;
}

void t2x_tail_close(struct t2x_tail *tail)
{
	if (tail->is_open) {
		t2x_blocks_free(&tail->blocks);
		t2x_in_close(&tail->in);
	}
	tail->is_open = 0;
	if (tail->fd >= 0)
		close(tail->fd);
	tail->fd = -1;
	free(tail->path);
	tail->path = NULL;
}

static uint64_t size_of(const struct t2x_tail *tail)
{
	struct stat st;

	return tail->fd < 0 || fstat(tail->fd, &st) ? 0 : (uint64_t)st.st_size;
}

uint64_t t2x_tail_rest(const struct t2x_tail *tail)
{
	uint64_t size = size_of(tail);

	return size > tail->at ? size - tail->at : 0;
}

void t2x_tail_rename(struct t2x_tail *tail, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return;
	if (tail->is_open)
		t2x_in_set_name(&tail->in, copy);
	free(tail->path);
	tail->path = copy;
}

/* The file may have another name by now, or none: its descriptor still names it.  Return  0: it cannot be read */
static int open_blocks(struct t2x_tail *tail, struct t2x_report *report)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", tail->fd);
	if (t2x_in_open_file(&tail->in, name, 0, t2x_blocks_seen(NULL), report))
		return 0;
	t2x_in_set_name(&tail->in, tail->path);
	tail->is_lz4 = tail->in.lz4 != NULL;
	if (t2x_blocks_init(&tail->blocks, &tail->in, NULL)) {
		t2x_in_close(&tail->in);
		return 0;
	}
	tail->is_open = 1;
	return 1;
}

/* ---- what is complete --------------------------------------------------------------------------- */

static int is_full(const struct t2x_tail *tail, uint64_t at)
{
	return tail->round_bytes && at - tail->at >= tail->round_bytes;
}

/* Frames from tail->at on.  Return  their end; size: something else stands there, which the scanner has to judge */
static uint64_t end_of_frames(const struct t2x_tail *tail, uint64_t size, uint64_t *plain)
{
	struct t2x_lz4_steps steps = { .fd = tail->fd };
	uint64_t at = tail->at;
	struct t2x_lz4_unit unit;
	int is;

	*plain = tail->plain;
	while (at < size && !is_full(tail, at) && (is = t2x_lz4_unit_at(&steps, at, &unit))) {
		if (is < 0)
			return at > tail->at ? at : size;
		if (at + unit.bytes > size)
			break;
		at += unit.bytes;
		*plain += unit.plain_bytes;
	}
	return at;
}

/* The same for plain blocks. */
static uint64_t end_of_blocks(const struct t2x_tail *tail, uint64_t size)
{
	uint64_t at = tail->at;
	struct tlg_event block;

	while (!is_full(tail, at) && pread(tail->fd, &block, sizeof(block), (off_t)at) == sizeof(block)) {
		uint64_t bytes = (block.u.block.size + UINT64_C(1)) * TLG_EVENT_SIZE;

		if (tlg_event_type(&block) != TLG_BLOCK || block.u.block.magic != TLG_BLOCK_MAGIC)
			return at > tail->at ? at : size;
		if (at + bytes > size)
			break;
		at += bytes;
	}
	return at;
}

/* ---- rounds ------------------------------------------------------------------------------------- */

int t2x_tail_begin(struct t2x_tail *tail, struct t2x_report *report)
{
	uint64_t size = size_of(tail), end, plain = 0;

	if (tail->is_over || size <= tail->at)
		return 0;
	/* Whether it is an LZ4 file its first bytes say, which one write(2) writes. */
	if (!tail->is_open && (size < TLG_EVENT_SIZE || !open_blocks(tail, report)))
		return 0;
	end = tail->is_lz4 ? end_of_frames(tail, size, &plain) : end_of_blocks(tail, size);
	if (end <= tail->at)
		return 0;
	t2x_blocks_go(&tail->blocks, tail->at, tail->is_lz4 ? tail->plain : tail->at, end - tail->at);
	tail->at = end;
	tail->plain = plain;
	return 1;
}

int t2x_tail_next(struct t2x_tail *tail, struct t2x_block *block)
{
	if (!tail->is_open || !t2x_blocks_next(&tail->blocks, block))
		return 0;
	if (block->is_framed)
		return 1;
	/* StackTrack's own form has no blocks: nobody can tell what of it is complete. */
	tail->is_over = 1;
	return 0;
}
