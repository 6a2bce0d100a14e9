/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring.h - a ring file, read without trusting it.
 *
 * The process that wrote it may have died while it wrote, or have corrupted its own memory before.  Nothing is mapped:
 * what is beyond the file's end, or becomes so, reads as nothing.  No offset, index or count is used before it is known
 * to lie in the file.  Ring files of another layout or byte order are refused.
 *
 * A living process keeps writing.  So its ring file is copied first, chunks before the words that say which of them are
 * still needed, and the copy is read; the process does not notice.
 */
#ifndef T2X_RING_H
#define T2X_RING_H

#include <stdint.h>
#include <sys/types.h>

#include "tlg_ring.h"

struct t2x_ring {
	const char *path;                 /* the caller's */
	int fd;
	dev_t device;
	ino_t inode;
	int is_live;                      /* it is the copy of a living process's */
	struct tlg_ring_file head;        /* texts ended by NUL, counts within their limits */
	struct tlg_ring_state state;      /* the one that holds, its path ended by NUL */
};

/*
 * Open a ring file.  live  1: of a living process
 * Return  NULL, or why it cannot be read, in words
 */
const char *t2x_ring_open(struct t2x_ring *ring, const char *path, int live);

/* The same for a descriptor, which becomes the ring's; negative: errno says why.  path  a name for it */
const char *t2x_ring_take(struct t2x_ring *ring, int fd, const char *path, int live);

void t2x_ring_close(struct t2x_ring *ring);

/* Ring i, and its tail that holds: all zero if nothing of it was written.  Return  0: not in the file */
int t2x_ring_get(const struct t2x_ring *ring, unsigned i, struct tlg_ring *head, struct tlg_ring_tail *tail);

/* The first 64 bytes of chunk i, all of it.  Return  0: not in the file */
enum { T2X_CHUNK_HEAD = offsetof(struct tlg_chunk, events) };
int t2x_ring_chunk_head(const struct t2x_ring *ring, unsigned i, struct tlg_chunk *chunk);
int t2x_ring_chunk(const struct t2x_ring *ring, unsigned i, struct tlg_chunk *chunk);

/* The recovery point of an overwritten ring that holds; turn 0: it has none. */
static inline const struct tlg_ring_point *t2x_ring_point(const struct tlg_ring *head)
{
	return &head->points[head->points[1].turn > head->points[0].turn];
}

/* 1 if it is its ring's last chunk, and all that is committed in it is in the file.  All of it may be read then */
int t2x_ring_is_in_file(const struct t2x_ring *ring, uint32_t index, struct tlg_chunk *chunk);

/*
 * Scope i, and its names if they fit size bytes.  Return  0: it is not there, or damaged
 */
int t2x_ring_scope(const struct t2x_ring *ring, uint32_t i, struct tlg_ring_scope *scope, char *text, size_t size);

/* Name of source file i, without NUL, at most size bytes.  Return  its length; 0: it is not there */
size_t t2x_ring_source(const struct t2x_ring *ring, uint32_t i, char *text, size_t size);

/* Entry i of the table of dropped events, the process's own first.  Return  0: it is empty; -1: the table ends */
int t2x_ring_loss(const struct t2x_ring *ring, uint32_t i, struct tlg_loss *loss);

/* What a thread has dropped for this reason, according to that table. */
uint64_t t2x_ring_lost(const struct t2x_ring *ring, uint32_t tid, unsigned reason);

/* Remove the file's name, if it is still this file's.  Return  0 or -errno */
int t2x_ring_remove(const struct t2x_ring *ring);

#endif
