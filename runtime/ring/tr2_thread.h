/* SPDX-License-Identifier: MIT */
/*
 * tr2_thread.h - the calling thread's side of recording: its ring, its id and name, its timers.
 *
 * "Self" is the calling thread.  A thread acquires a ring with its first event and releases it when it ends.  The ring
 * learns of its owner's death however the thread ends, see tr2_owner.h.  The next new thread then acquires the ring;
 * any thread acquires its chunks, once they have been read.  The events of each Trace2 thread on a ring begin with
 * THREAD, which has the thread's id and name for the drain.
 */
#ifndef TR2_THREAD_H
#define TR2_THREAD_H

#include <stdint.h>

#include "tr2_gap.h"
#include "tr2_registry.h"
#include "tr2_ring_read.h"
#include "base/tr2_reported.h"

enum {
	TR2_MAX_TIMERS = 64,
	TR2_MAX_COUNTERS = 64,
	TR2_THREAD_NAME = 24,
	TR2_REPEATED_REGIONS = 256,       /* open regions of a thread that a new cycle, or a forked child, repeats */
};

/*
 * One stopwatch of one thread, or of the process; in ticks.  The shortest is stored as its complement: 0 means none
 * yet, and both extremes only grow.
 */
struct tr2_timer {
	uint64_t intervals, total, not_min, max;
	uint64_t started;                 /* raw clock of the outermost start */
	uintptr_t depth;                  /* nested starts */
};

/* Where a thread's name comes from: the program; nowhere, it is "unknown"; the system, which may change it. */
enum { TR2_BY_PROGRAM, TR2_BY_NOBODY, TR2_BY_SYSTEM };

/* When a thread whose process lacks the drain's thread looks next whether it can be started, see drain/tr2_wake.h. */
struct tr2_look {
	uint64_t next, next_ask;          /* raw clock: not before; handlers are asked about again */
	uint64_t mask;                    /* blocked when they were asked about last */
};

struct tr2_thread {
	struct tr2_ring ring;
	struct tr2_registry_link link;    /* in the set of rings */
	uint32_t tid;                     /* Trace2 thread id: 0 is main */
	char name[TR2_THREAD_NAME + 1];
	unsigned char named_by;           /* TR2_BY_... */
	uint32_t renamed;                 /* how many renames there had been when the system was asked for the name */
	uint64_t start;                   /* raw clock */
	uint64_t drop_mark;               /* tr2_collect_progress() when it was last found full; UINT64_MAX: not */
	uint32_t quick_drops;             /* so often without a look */
	uint64_t ordinary_mask;           /* signals blocked in code that is no handler, as far as is known */
	struct tr2_look look;
	int is_announced;                 /* THREAD is in the ring */
	int is_dead;                      /* its last owner has ended without giving it back */
	uint64_t lost_events;             /* what the ring had dropped when the thread took it over */
	struct tr2_gap gap;               /* what has been dropped and not been reported */
	_Alignas(64) struct tr2_reader reader;   /* of the ring; see there who may touch it */
	uint64_t counters[TR2_MAX_COUNTERS];
	struct tr2_timer timers[TR2_MAX_TIMERS];   /* last: only the first are in a page that is used anyway */
};

/* Timers and counters that the program has defined: a thread's further ones are 0.  May run past the maximum. */
extern struct tr2_defined { uint32_t timers, counters; } tr2_g_defined;

extern __thread struct tr2_thread *tr2_self __attribute__((tls_model("initial-exec")));

/*
 * Keep in *to, from here on, the id and the name that the trace has for the calling thread; NULL: no longer.  A thread
 * that has no id yet gets one now.  Signal safe, but not while the thread acquires its ring
 */
void tr2_thread_report(struct tr2_reported *to);

/*
 * Prepare the tables; the calling thread becomes main, but not in a forked child.  After tr2_shm_create().
 * Return  0 or -errno
 */
int tr2_thread_init(int is_child);

/* The same for a session that begins late: any thread may call, and acquires no ring.  Signals masked    Signal safe */
int tr2_thread_init_late(void);

/*
 * Forking.  In the child the thread that forked still has its parent's self, until it records; and threads that the
 * child starts may record before it, or at the same time.  One of them sets up the child's session, and the others wait
 * for it.
 *
 * tr2_thread_claim()    1 for the thread that sets it up    Orders [M14]
 * tr2_thread_ready()    it is set up; tr2_is_forked_child() is 0 from now on    Orders [M14]
 * tr2_thread_inherit()  the calling thread, without self, goes on as parent, in the child's own rings.  It has entered
 *                       its open regions at the times in `enters`, as OPEN has them.  NULL: there is no free ring
 */
int tr2_thread_claim(void);
void tr2_thread_ready(void);
struct tr2_thread *tr2_thread_inherit(const struct tr2_thread *parent, const uint64_t *enters, unsigned open);

/*
 * Self becomes a new Trace2 thread, "thNN:" and base_name.
 * Return  self, or NULL: there is no ring to be had    Signal safe    Cost  10 us the first time
 */
struct tr2_thread *tr2_thread_begin(const char *base_name);

/* The calling code is no signal handler: what its thread blocks now is its ordinary_mask.  Signal safe    Cost 80 ns */
void tr2_thread_is_ordinary(void);

/* The same with the name by which the system knows the thread; "unknown", as git has it. */
struct tr2_thread *tr2_thread_begin_by_system(void);
struct tr2_thread *tr2_thread_begin_unknown(void);

/*
 * A thread of the process has got another name.  Threads that have their names from the system read them again with
 * their next samples.  Signal safe
 */
void tr2_thread_note_rename(void);

/*
 * If self has its name from the system, read it again: at a sample only after a rename; now in any case, as at its end.
 * A sample also gives an "unknown" thread its name from the system.
 * Signal safe    Errno kept    Cost  two loads; 0.3 us when it reads the name
 */
void tr2_thread_name_at_sample(void);
void tr2_thread_name_now(void);

/* An id for a Trace2 thread of the library's own, which records in no ring. */
uint32_t tr2_thread_new_id(void);

/* Self's Trace2 thread ends: what it does later belongs to a new one, "unknown". */
void tr2_thread_end(void);

/*
 * Reserve a chain of events in self's ring, in a new chunk if need be.  Signals masked.
 * opened  set to 1 if a chunk was opened
 * Return  NULL: they are dropped; the position is then out of bounds
 */
struct tlg_event *tr2_thread_reserve(struct tr2_thread *self, unsigned events, int *opened);

/* 1 while tracing is on. */
static inline int tr2_is_enabled(void)
{
	return tr2_load_rlx(&tr2_enabled_v1); /* relaxed: a flag, which orders nothing */
}

/*
 * Switch it on or off.  api/tr2_life.c owns the flag, of which a process may have two copies.
 * Thread  any    Signal safe
 */
void tr2_set_enabled(int on);

/* All rings: for (t = tr2_thread_first(); t; t = tr2_thread_next(t)).  New ones may be seen only the next time. */
struct tr2_thread *tr2_thread_first(void);
struct tr2_thread *tr2_thread_next(struct tr2_thread *thread);

/*
 * For tr2_thread.c: make new tables of rings; acquire a ring for the calling thread, NULL: there is none; release it;
 * 1: it was main's.  Signals masked
 */
int tr2_thread_map(void);
struct tr2_thread *tr2_thread_acquire_ring(void);
void tr2_thread_release_ring(struct tr2_thread *thread);
int tr2_thread_was_main(const struct tr2_thread *thread);

/*
 * For the drain: acquire a ring whose owner has ended.
 * Return  ALIVE: it has an owner, or there is nothing left to do for it; NONE: its owner has released it; DEAD: it has
 *         not, and tr2_thread_release() does
 */
enum tr2_owner { TR2_OWNER_ALIVE, TR2_OWNER_NONE, TR2_OWNER_DEAD };
enum tr2_owner tr2_thread_seize(struct tr2_thread *thread);
void tr2_thread_release(struct tr2_thread *thread);

/* 1 if there is self and it is this process's, not a parent's. */
int tr2_thread_has_self(void);

/* 1 if self is the thread that called tr2_thread_init(), in a forked child what goes on as it. */
int tr2_thread_is_main(void);

/*
 * In the child, after fork(): wipe the positions, which the kernel does not before Linux 4.14 or under an emulator.
 * There the child of a bare clone(2) is not recognized.
 */
void tr2_thread_wipe(void);

/* 1 in a process that was forked from the one that initialized, and has not been set up afresh. */
int tr2_is_forked_child(void);

#endif
