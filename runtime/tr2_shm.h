/* SPDX-License-Identifier: MIT */
/*
 * tr2_shm.h - the shared memory file of a process: rings, scope table and texts in one sparse mapping.
 *
 * It lies in $XDG_RUNTIME_DIR or /dev/shm, so that what a thread has recorded survives the process, and is
 * removed when the .tlg file has everything.  Nothing in it holds an address.  Memory is committed before
 * it is touched, so that a full file system is an error code here and never a SIGBUS there.  No file
 * descriptor stays open.
 *
 *   head | ring heads | scopes | files | texts | chunks ...
 *
 * A chunk is 64 KiB.  In front of each lie 64 KiB that are never touched: a position that has run past a
 * chunk's end, or that a forked child finds as 0, has bit 16 clear, and so one test on the position alone
 * tells whether it may be written to, whatever a signal handler has done in between.
 */
#ifndef TR2_SHM_H
#define TR2_SHM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "tlg.h"

enum {
	TR2_MAX_RINGS = 4096,
	TR2_MAX_SCOPES = 65536,
	TR2_MAX_FILES = 65536,
	TR2_MAX_CHUNKS = 4096,
	TR2_TEXT_BYTES = 16 << 20,
	TR2_CHUNK_BYTES = 65536,
	TR2_CHUNK_STRIDE = 131072,
	TR2_CHUNK_EVENTS = 2728,
	TR2_LAYOUT = 1,                   /* of this file; its readers refuse others */
};
#define TR2_SHM_MAGIC UINT64_C(0x31676e6972327274) /* "tr2ring1" */

/* The first page. */
struct tr2_shm_head {
	uint64_t magic;
	uint32_t layout, entry_size;
	uint32_t pid, stream;
	uint64_t start;                   /* raw clock at the start of the process */
	uint64_t rings_at, scopes_at, files_at, texts_at, chunks_at, bytes;
	uint32_t rings_used, scopes_used, files_used, texts_used, chunks_used;
	uint32_t clock_type;
	uint64_t anchor_raw, ticks_per_s;
	int64_t anchor_sec;
	char sid[1024];
};

/* One ring, 256 bytes: what its owner, the drain and a recovering reader share. */
struct tr2_ring_head {
	pthread_mutex_t owner;            /* robust: held by the owning thread; the kernel hands it back */
	uint32_t first;                   /* chunk to read from, index + 1; 0: none yet.  [M3] */
	uint32_t tid, ostid;
	uint32_t has_owner;               /* 1 from acquisition until the drain found the owner gone */
	uint64_t start;                   /* raw clock when the owner was first seen */
	char name[32];
	uint64_t lost_hits;               /* checkpoints dropped: written by the owner */
	uint64_t lost_events;             /* ring events that these would have taken */
	uint64_t cut_hits;                /* checkpoints whose texts were cut short */
	unsigned char spare[96];
};
static_assert(sizeof(struct tr2_ring_head) <= 256, "ring heads lie 256 bytes apart");

/* A checkpoint's place and names; names' texts lie one behind the other at text. */
struct tr2_scope {
	uint32_t ready;                   /* 1 when the rest is written.  [M4] */
	uint32_t hash;
	uint32_t text;                    /* offset in the texts */
	uint32_t text_bytes;
	int32_t line;
	uint16_t filenum, repo;
	uint8_t style, names;
	uint8_t spare[6];
};
static_assert(sizeof(struct tr2_scope) == 32, "scopes lie 32 bytes apart");

struct tr2_file { uint32_t ready, text; };   /* [M4]; offset of the name in the texts */

/* A chunk.  The first 12 bytes are struct trace2_chunk of trace2.h. */
struct tr2_chunk {
	uint64_t head;                    /* header word of the events in it: number, pid */
	uint32_t tid;
	uint32_t number;                  /* of this use of the chunk, unique in the process */
	uint32_t next;                    /* the owner's next chunk, index + 1; 0: none yet.  [M3] */
	uint32_t state;                   /* TR2_CHUNK_*.  [M2] */
	uint64_t lost_hits, lost_events;  /* the ring's counts when this chunk was opened */
	uint32_t ring;
	unsigned char spare[20];
	struct tlg_event events[TR2_CHUNK_EVENTS];
};
static_assert(offsetof(struct tr2_chunk, events) == 64, "events begin at 64");
static_assert(sizeof(struct tr2_chunk) == TR2_CHUNK_BYTES, "a chunk has 64 KiB");

/* A held chunk has a hole, which its thread may still fill: it is not used again before that thread ends. */
enum { TR2_CHUNK_UNUSED, TR2_CHUNK_FREE, TR2_CHUNK_OPEN, TR2_CHUNK_HELD };

/* The mapping of this process.  Set once by tr2_shm_create(). */
struct tr2_shm {
	struct tr2_shm_head *head;
	unsigned char *rings, *chunks;
	struct tr2_scope *scopes;
	struct tr2_file *files;
	char *texts;
	unsigned max_chunks;
};
extern struct tr2_shm tr2_g_shm;

/*
 * Create and map the file.  Return  0 or -errno; tr2_g_shm is set on success.
 * Thread  one at a time    Signal unsafe    Cost  about 20 us
 */
int tr2_shm_create(uint32_t stream);

/* Remove the file's name: nothing is left to recover.  Idempotent.  A forked child removes nothing of its parent's. */
void tr2_shm_unlink(void);

/* In a forked child: the mapping is the parent's.  It stays in place, for code that the fork interrupted. */
void tr2_shm_forget(void);

/* The file's name, "" for memory that has none. */
const char *tr2_shm_path(void);

/*
 * Make bytes at address usable, at least a page.  Return  0 or -errno (-ENOSPC: the file system is full).
 * Thread  any    Signal safe    Cost  about 5 us for a chunk
 */
int tr2_shm_commit(void *address, size_t bytes);

static inline struct tr2_ring_head *tr2_shm_ring(unsigned i)
{
	return (struct tr2_ring_head *)(void *)(tr2_g_shm.rings + (size_t)i * 256);
}

static inline struct tr2_chunk *tr2_shm_chunk(unsigned i)
{
	return (struct tr2_chunk *)(void *)(tr2_g_shm.chunks + (size_t)i * TR2_CHUNK_STRIDE + TR2_CHUNK_BYTES);
}

#endif
