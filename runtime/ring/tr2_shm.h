/* SPDX-License-Identifier: MIT */
/*
 * tr2_shm.h - the ring file of this process: one sparse mapping with the rings, the scope table and its texts.
 *
 * format/tlg_ring.h is its layout.  The file lies in $XDG_RUNTIME_DIR or /dev/shm, so that recorded events survive the
 * process.  The process removes it when the .tlg file is complete, and before exec (tr2_detach.h).  It commits memory
 * before it touches it, so that a full file system is an error code and never a SIGBUS.  No file descriptor stays open.
 */
#ifndef TR2_SHM_H
#define TR2_SHM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "tlg_ring.h"

/* The mapping of this process.  Set once by tr2_shm_create(). */
struct tr2_shm {
	struct tlg_ring_file *head;
	unsigned char *base, *chunks;     /* base: head; chunks: there all but the first are */
	struct tlg_chunk *first_chunk;
	uint64_t tables_at, rings_at;
	unsigned max_rings, max_chunks;
	uint32_t text_bytes;
};
extern struct tr2_shm tr2_g_shm;

/*
 * Create and map the file.  A limit on file sizes or addresses means fewer rings, strings and chunks.
 * Return  0 or -errno; tr2_g_shm is set on success    Thread  one at a time    Signal unsafe    Cost  about 30 us
 */
int tr2_shm_create(uint32_t stream);

/*
 * Remove the file's name: nothing is left to recover.  A process that has changed its user may not do that.  Then the
 * file is marked as over, and releases the memory of its chunks: see tr2_leftover.h.
 * Idempotent.  A forked child does not remove its parent's file.
 */
void tr2_shm_unlink(void);

/*
 * The trace could not be ended: the file stays, for it has what the trace lacks.  It is removed if half of its file
 * system is used: while a disk is full many processes may end so, and the memory belongs to the whole machine.
 */
void tr2_shm_leave(void);

/* In a forked child: the mapping is the parent's.  It stays in place, for code that the fork interrupted. */
void tr2_shm_forget(void);

/*
 * Store in the head which signal asks for the stacks of all threads; readers use it.  Later files get it, too.  In a
 * forked child without a session of its own only the child's file gets it.
 */
void tr2_shm_set_signal(uint32_t signal);

/* Where ring files are: $XDG_RUNTIME_DIR, "" if there is none, and /dev/shm.  Not before the first file is made. */
enum { TR2_SHM_DIRECTORIES = 2 };
const char *tr2_shm_directory(unsigned i);

/* 1: the rings are the calling process's.  A forked child's, before its session, and vfork()'s are its parent's. */
int tr2_shm_is_own(void);

/* The file's name, "" for memory that has none. */
const char *tr2_shm_path(void);

/*
 * For tr2_detach.c:
 *
 * tr2_shm_last_path()     the path that the file has, or had before it lost its name
 * tr2_shm_is_file()       1 if fd is the file that is mapped
 * tr2_shm_set_file()      from now on the file is the one that fd is, under that path; NULL: it has no name
 */
const char *tr2_shm_last_path(void);
int tr2_shm_is_file(int fd);
void tr2_shm_set_file(const int *fd);

/*
 * Make bytes at address usable, at least a page.  Return  0 or -errno (-ENOSPC: the file system is full).
 * Thread  any    Signal safe    Cost  about 5 us for a chunk
 */
int tr2_shm_commit(void *address, size_t bytes);

/* Give back whole pages that nobody uses: they read as zeros, and must be committed again.  Return  0 or -errno */
int tr2_shm_release(void *address, size_t bytes);

/*
 * Map the chunk, or the first n rings, before their first use: see tr2_map.h.
 * Return  0 or -errno    Thread  any    Signal safe
 */
int tr2_shm_reach(unsigned chunk);
int tr2_shm_reach_rings(unsigned n);

static inline struct tlg_ring *tr2_shm_ring(unsigned i)
{
	return (struct tlg_ring *)(void *)(tr2_g_shm.base + tlg_ring_at(tr2_g_shm.rings_at, i));
}

static inline struct tlg_ring_scope *tr2_shm_scope(unsigned i)
{
	return (struct tlg_ring_scope *)(void *)(tr2_g_shm.base + tlg_scope_at(tr2_g_shm.tables_at, i));
}

static inline struct tlg_ring_source *tr2_shm_source(unsigned i)
{
	return (struct tlg_ring_source *)(void *)(tr2_g_shm.base + tlg_source_at(tr2_g_shm.tables_at, i));
}

static inline char *tr2_shm_text(uint32_t offset)
{
	return (char *)tr2_g_shm.base + tlg_text_at(tr2_g_shm.tables_at, offset);
}

static inline struct tlg_ring_loss *tr2_shm_loss(unsigned i)
{
	unsigned char *losses = tr2_g_shm.base + tr2_g_shm.tables_at + TLG_LOSSES_AT;

	return (struct tlg_ring_loss *)(void *)losses + i;
}

static inline struct tlg_chunk *tr2_shm_chunk(unsigned i)
{
	return i ? (struct tlg_chunk *)(void *)(tr2_g_shm.chunks + (size_t)i * TLG_CHUNK_STRIDE + TLG_CHUNK_BYTES)
		 : tr2_g_shm.first_chunk;
}

static inline uint32_t tr2_shm_chunk_index(const struct tlg_chunk *chunk)
{
	return chunk == tr2_g_shm.first_chunk
		       ? 0
		       : (uint32_t)(((const unsigned char *)chunk - tr2_g_shm.chunks) / TLG_CHUNK_STRIDE);
}

/* Of chunk i the first page and the last are in memory from the beginning. */
static inline int tr2_shm_is_provided(unsigned i)
{
	return !i;
}

#endif
