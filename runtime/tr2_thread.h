/* SPDX-License-Identifier: MIT */
/*
 * tr2_thread.h - the calling thread's side of recording: its ring, its id and name, its timers.
 *
 * "Self" is the calling thread.  A thread gets a ring with its first event and keeps it until it ends; the
 * ring's owner mutex, which is robust, tells when that is, however it ended.  A ring whose thread is gone
 * goes to the next new thread.  Each new Trace2 thread context on a ring begins with a THREAD event in it, from
 * which the drain learns whose events follow.
 */
#ifndef TR2_THREAD_H
#define TR2_THREAD_H

#include <stdint.h>

#include "tr2_ring.h"

enum {
	TR2_MAX_TIMERS = 64,
	TR2_MAX_COUNTERS = 64,
	TR2_THREAD_NAME = 24,
	TR2_KEPT_REGIONS = 256,           /* open regions of a thread that a new cycle, or a forked child, restates */
};

/* One stopwatch of one thread, or of the process; ns once it is a total. */
struct tr2_timer {
	uint64_t intervals, total, min, max;
	uint64_t started;                 /* raw clock of the outermost start */
	uint32_t depth;                   /* nested starts */
};

struct tr2_thread {
	struct tr2_ring ring;
	void *member[1];                  /* the registry's link, see tr2_reg.c */
	uint32_t is_member;               /* [M6] */
	uint32_t tid;                     /* Trace2 thread id: 0 is main */
	char name[TR2_THREAD_NAME + 1];
	uint64_t start;                   /* raw clock */
	uint64_t drop_mark;               /* tr2_drain_progress() when the ring was last found full; UINT64_MAX: not */
	struct tr2_timer timers[TR2_MAX_TIMERS];
	uint64_t counters[TR2_MAX_COUNTERS];
	void *post;                       /* the drain's own data about the thread */
};

extern __thread struct tr2_thread *tr2_self __attribute__((tls_model("initial-exec")));

/*
 * Prepare the tables; the calling thread becomes main.  After tr2_shm_create().  In a forked child the calling
 * thread keeps its identity, its timers and its open regions.  0 or -errno.
 */
int tr2_thread_init(void);

/* Self, with a ring if there is one to be had; else NULL.  Signal safe.  Cost  nothing, or 10 us the first time */
struct tr2_thread *tr2_thread_self(void);

/* Self becomes a new Trace2 thread, "thNN:" and base_name. */
void tr2_thread_begin(const char *base_name);

/* Self's Trace2 thread ends: what it does later belongs to a new one, "unknown". */
void tr2_thread_end(void);

/* 1 if self is the thread that called tr2_thread_init(). */
int tr2_thread_is_main(void);

/*
 * Reserve a chain of events, 1..TR2_CHAIN_EVENTS, in self's ring.
 * Return  the first event: fill in all but the first header, then tr2_ring_commit().  NULL: dropped and counted.
 * Signal  safe    Errno kept    Cost  2 ns; about 2 us once in 2,700 events
 */
struct tlg_event *tr2_reserve_slow(uintptr_t position, unsigned events);

static inline struct tlg_event *tr2_reserve(unsigned events)
{
	struct tr2_thread *self = tr2_self;
	uintptr_t position = 0;

	if (__builtin_expect(self != NULL, 1)) {
		position = tr2_local_add(&self->ring.hot->cur, events * sizeof(struct tlg_event));
		if (__builtin_expect(tr2_in_chunk(position, events * sizeof(struct tlg_event)), 1))
			return (struct tlg_event *)position;
	}
	return tr2_reserve_slow(position, events);
}

/* All signals, the C library's own too, blocked until tr2_signals_restore().  Signal safe.  Cost 80 ns each. */
void tr2_signals_block(uint64_t *saved);
void tr2_signals_restore(const uint64_t *saved);

/* 1 in a process that was forked from the one that initialized, and has not been set up afresh. */
int tr2_is_forked_child(void);

#endif
