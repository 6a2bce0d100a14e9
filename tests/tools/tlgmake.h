/* SPDX-License-Identifier: MIT */
/*
 * tlgmake.h - for tests: makes .tlg streams, block by block, and stores them in files.
 *
 * The clock counts nanoseconds.  Its reading TLGMAKE_RAW is the second TLGMAKE_SECOND; times below count from there.
 * Sequence numbers of threads advance as with a writer.  Out of memory ends the test.
 */
#ifndef TLGMAKE_H
#define TLGMAKE_H

#include "tlg.h"

enum { TLGMAKE_THREADS = 16 };
#define TLGMAKE_RAW UINT64_C(5000000000000)
#define TLGMAKE_SECOND INT64_C(1700000000)

struct tlgmake {
	uint32_t stream;
	int is_packed;                    /* pack blocks of threads that are sealed from now on */
	unsigned pid;
	const char *sid, *hierarchy;      /* of the next cycle's PROCINFO */
	unsigned char *bytes;             /* what has been made */
	size_t n, max;
	uint64_t start_ns;                /* when the process began */
	uint64_t cycle_ns;                /* when the next cycle begins */
	uint32_t number, cycle;           /* of the latest block, the latest cycle */
	uint64_t hits;                    /* so far, for MARK and END */
	uint32_t tid;                     /* of the open block */
	unsigned count;                   /* events in it */
	uint32_t next[TLGMAKE_THREADS];   /* sequence of each thread's next event, minus 1 */
	struct tlg_event block[TLG_BLOCK_LIMIT + 1];
};

/* A stream without anything in it. */
void tlgmake_init(struct tlgmake *make, uint32_t stream, unsigned pid);
void tlgmake_free(struct tlgmake *make);

/* Open a block of a thread, and close it.  count 0: nothing is appended */
void tlgmake_begin(struct tlgmake *make, uint32_t tid);
void tlgmake_seal(struct tlgmake *make);

/* The next event of the open block; its payload is zero. */
struct tlg_event *tlgmake_add(struct tlgmake *make, unsigned flags, uint32_t sequence);

/* INFO events with n bytes, the last one marked. */
void tlgmake_text(struct tlgmake *make, uint32_t sequence, const char *text, size_t n);

/* Blocks of the process: the prologue group; MARK; LOSS; END. */
void tlgmake_cycle(struct tlgmake *make);
void tlgmake_mark(struct tlgmake *make, uint64_t ns);
void tlgmake_loss(struct tlgmake *make, uint32_t tid, unsigned reason, uint64_t total);
void tlgmake_end(struct tlgmake *make);

/* Definitions in the open block, for the thread's next HIT. */
void tlgmake_thread(struct tlgmake *make, const char *name, uint64_t start_ns);
void tlgmake_file(struct tlgmake *make, uint16_t filenum, const char *name);
void tlgmake_scope(struct tlgmake *make, uint32_t index, unsigned style, uint16_t filenum, const char *label);
void tlgmake_open_region(struct tlgmake *make, uint64_t ns, uint32_t scope);

/* A HIT without arguments in the open block; at_ns 0: a step. */
void tlgmake_hit(struct tlgmake *make, uint64_t at_ns, uint32_t scope);

/*
 * A HIT with arguments: letters i (int64_t), u (uint64_t), t (uint64_t: a time, 0: none), s (const char *,
 * NULL: null text), and S, the last text; an argument for each follows.
 */
void tlgmake_hit_with(struct tlgmake *make, uint64_t at_ns, uint32_t scope, const char *letters, ...);

/* The thread loses so many events. */
void tlgmake_lose(struct tlgmake *make, uint32_t tid, uint32_t events);

/* Convert the stream to what a machine of the other byte order would have written. */
void tlgmake_swap(struct tlgmake *make);

/* Return  the stream as LZ4 frames with marks, at most limit plain bytes in each, for free().  *n: its bytes */
unsigned char *tlgmake_lz4(const struct tlgmake *make, size_t limit, size_t *n);

/* Store these bytes in a file.  Return  its path, valid until tlgmake_close() of it */
const char *tlgmake_path(const void *bytes, size_t n);
void tlgmake_close(const char *path);

#endif
