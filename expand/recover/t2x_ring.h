/* SPDX-License-Identifier: MIT */
/*
 * t2x_ring.h - reads a ring file without trusting it.
 *
 * The process may have died while it wrote, or may have corrupted its own memory.  The reader maps nothing and uses
 * pread(): if the file is shorter than it should be, or becomes shorter, a read returns nothing and no SIGBUS comes.
 * It checks each offset, index and count before it uses them.  It refuses ring files of another layout or byte order.
 *
 * A living process keeps writing.  So the reader first makes a copy (t2x_ring_copy.h) and reads that.  The process does
 * not notice.
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
	int is_live;                      /* fd is a copy of a living process's ring file */
	struct tlg_ring_file head;        /* texts ended by NUL, counts within their limits */
	struct tlg_ring_state state;      /* the valid one of the two, its path ended by NUL */
};

/*
 * Open a ring file.  live  1: of a living process
 * Return  NULL, or why it cannot be read, in words
 */
const char *t2x_ring_open(struct t2x_ring *ring, const char *path, int live);

/* The same for a descriptor, which the ring closes; negative: open(2) failed, see errno.  path  a name for it */
const char *t2x_ring_adopt(struct t2x_ring *ring, int fd, const char *path, int live);

void t2x_ring_close(struct t2x_ring *ring);

/* Ring i, and the valid one of its two tails, all zero if none was written.  Return  0: not in the file */
int t2x_ring_get(const struct t2x_ring *ring, unsigned i, struct tlg_ring *head, struct tlg_ring_tail *tail);

/* The first 64 bytes of chunk i; the whole chunk i.  Return  0: not in the file */
enum { T2X_CHUNK_HEAD = offsetof(struct tlg_chunk, events) };
int t2x_ring_chunk_head(const struct t2x_ring *ring, unsigned i, struct tlg_chunk *chunk);
int t2x_ring_chunk(const struct t2x_ring *ring, unsigned i, struct tlg_chunk *chunk);

/* The latest recovery point of a ring whose oldest chunks were overwritten; turn 0: it has none. */
static inline const struct tlg_ring_point *t2x_ring_point(const struct tlg_ring *head)
{
	return &head->points[head->points[1].turn > head->points[0].turn];
}

/*
 * Return  1: the chunk is the last of its ring, and the .tlg file has all that is committed in it.  The function may
 * have read the whole chunk into *chunk then
 */
int t2x_ring_is_in_file(const struct t2x_ring *ring, uint32_t index, struct tlg_chunk *chunk);

/*
 * Scope i, and its names if they fit into size bytes.  Return  0: it is not there, or damaged
 */
int t2x_ring_scope(const struct t2x_ring *ring, uint32_t i, struct tlg_ring_scope *scope, char *text, size_t size);

/* Name of source file i, without NUL, at most size bytes.  Return  its length; 0: it is not there */
size_t t2x_ring_source(const struct t2x_ring *ring, uint32_t i, char *text, size_t size);

/* Entry i of the table of dropped events; the process's own come first.  Return  0: it is empty; -1: the table ends */
int t2x_ring_loss(const struct t2x_ring *ring, uint32_t i, struct tlg_loss *loss);

/* How many events a thread has dropped for this reason, according to that table. */
uint64_t t2x_ring_lost(const struct t2x_ring *ring, uint32_t tid, unsigned reason);

/* Unlink the file, if its path still names this file.  Return  0 or -errno */
int t2x_ring_remove(const struct t2x_ring *ring);

#endif
