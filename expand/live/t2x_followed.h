/* SPDX-License-Identifier: MIT */
/*
 * t2x_followed.h - the processes that are followed: which streams are theirs, what of each was delivered.
 */
#ifndef T2X_FOLLOWED_H
#define T2X_FOLLOWED_H

#include "t2x_seen.h"
#include "read/t2x_pace.h"

struct t2x_followed {
	struct t2x_followed *next;
	uint32_t pid;
	uint64_t start;                   /* raw clock; a forked child has its parent's */
	char *sid;
	uint32_t stream;                  /* under which its blocks are delivered: that of its first one */
	uint32_t number;                  /* of its latest block */
	struct t2x_seen seen;
	struct t2x_pace pace;
	uint64_t marked;                  /* raw clock of the latest MARK delivered */
	int is_sought;                    /* its first block was not read */
	int has_prologue;                 /* PROCINFO and CYCLE were delivered */
	int has_file_clock;               /* so the ring's clock, which is less exact, is not needed */
	int has_file;                     /* blocks of it came from a file */
	struct tlg_event end;             /* END or RECOVERED: waits until what is in front was handed over ... */
	uint64_t end_ns;                  /* ... as when a MARK of this time was delivered; 0: none has come */
	int is_ended;                     /* it was delivered */
	uint64_t missed;                  /* events that had left its ring and went to no file that we can read */
};

struct t2x_followed_table {
	struct t2x_followed *all;
	struct t2x_map streams;           /* the same by the ids of all their streams */
};

/* The process of a stream.  Return  NULL: it is not known */
struct t2x_followed *t2x_followed_get(const struct t2x_followed_table *table, uint32_t stream);

/* The process with this id, start and session id; a new one if there is none.  Return  NULL: no memory */
struct t2x_followed *t2x_followed_add(struct t2x_followed_table *table, uint32_t stream, uint32_t pid, uint64_t start,
				      const char *sid);

/* 1: the session id is that of a known process, or of a descendant. */
int t2x_followed_is_known(const struct t2x_followed_table *table, uint32_t pid, uint64_t start, const char *sid);

/* PROCINFO of a process block.  Return  0: the block has none */
int t2x_followed_read(const struct t2x_block *block, uint32_t *pid, uint64_t *start, char *sid, size_t size);

/*
 * Reduce a block of the process to what was not delivered yet.  *block is changed, and its events are then at to, which
 * has room for block->count + 1.  is_ring  1: it comes from a ring.  now_ns  the present time
 * Return  1; 0: nothing of it is new; -ENOMEM
 */
int t2x_followed_filter(struct t2x_followed *process, struct t2x_block *block, struct tlg_event *to, int is_ring,
			uint64_t now_ns);

/* Make a block that says that nothing older than this will come.  Return  0: that was said already, or cannot be */
int t2x_followed_mark(struct t2x_followed *process, uint64_t ns, struct t2x_block *block, struct tlg_event *to);

/* The process was killed: what came so far is all.  now_ns  the present time */
void t2x_followed_kill(struct t2x_followed *process, uint64_t now_ns);

/* Make the block that ends a process.  now_ns  of the latest MARK.  Return  0: it goes on, or has ended before */
int t2x_followed_end(struct t2x_followed *process, uint64_t now_ns, struct t2x_block *block, struct tlg_event *to);

/* Forget the processes whose end was delivered. */
void t2x_followed_forget(struct t2x_followed_table *table);

void t2x_followed_free(struct t2x_followed_table *table);

#endif
