/* SPDX-License-Identifier: MIT */
/*
 * tr2p_wall.h - the wall clock: a thread that looks at all others, once in each period.
 *
 * A signal that finds a thread blocked changes what its call returns: poll() fails, a write() that has moved bytes is
 * short, SA_RESTART or not.  So a thread that is blocked gets none.  For each thread one of these is true:
 *
 *   has not run since the last look    The wait that was found then goes on: its stack counts once more.
 *   has run, and is blocked            This is another wait: its stack is read from outside, see tr2p_look.h.
 *   runs                               The period is due: the thread takes the sample itself, in a tick.
 *
 * CPU time shows whether it has run.  A tick is SIGPROF, once, from a timer of its CPU time, and no tick interrupts a
 * call, in whichever moment the thread is about to block.  On x86 since Linux 5.9 such timers expire on the way back to
 * user mode, behind the call: there it is a timer of all CPU time.  Elsewhere that could expire in the midst of a
 * write(), so it is one of the CPU time that the thread uses in user mode.  This expires in the kernel's own tick while
 * the processor is in user mode, and the signal comes before the thread can enter the kernel again.  Kernels that count
 * time in user mode otherwise (nohz_full processors, s390x) may send it in a call.
 *
 * A wait is a sample when it is over, and each 100 ms before that.  The wall clock's thread takes it, in its own ring,
 * with the id of the thread that it is about, by which readers put it where it belongs (FORMAT.md section 8).  So what
 * was counted up to then survives a process that is killed, also of a thread that never runs again.
 *
 * A process with two threads is refused some requests: tr2p_alone.c ends ours around these.
 *
 * Functions need the lock of tr2p_timers, unless their comments say otherwise.
 */
#ifndef TR2P_WALL_H
#define TR2P_WALL_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "tr2p_thread.h"
#include "base/tr2_atomic.h"
#include "record/tr2_sample.h"

/*
 * What a thread reports of itself; the wall clock's thread reads it at any time, in memory that stays when the thread
 * has gone.  Labels are never freed either.
 */
struct tr2p_wall_reported {
	const struct trace2_labels *labels;
	struct tr2_reported traced;               /* how the trace calls it */
};

/* The calling thread has other labels.  No lock    Signal safe */
static inline void tr2p_wall_report_labels(void)
{
	if (tr2p_g_thread.reported)
		tr2_store_rlx(&tr2p_g_thread.reported->labels, tr2p_g_thread.labels); /* relaxed: sets stay as made */
}

/* The calling thread begins, and reports from here on; it ends.  Whether the clock runs or not */
void tr2p_wall_begin_thread(void);
void tr2p_wall_end_thread(void);

/*
 * The clock runs with this period; start its thread, when all threads have been added.
 * Return  0 or an error number
 */
void tr2p_wall_set(uint64_t period_ns);
int tr2p_wall_start(void);

/* Count what is not counted yet, and ask the thread to end; wait for that, without the lock. */
void tr2p_wall_stop(void);
void tr2p_wall_join(void);

/*
 * The clock looks at a thread from now on; not any more.
 * Return  the cookie of its ticks; NULL: no memory
 */
void *tr2p_wall_add(pid_t tid);
void tr2p_wall_remove(void *cookie);

/* The timer of its ticks, which the wall clock sets when one is due. */
void tr2p_wall_set_timer(void *cookie, timer_t timer);

/*
 * No thread is left to look at: ask the clock's thread to end, and wait for that.  libc ends a process in its last
 * thread, which must be one of the program's.  The clock's thread begins again with the next thread that is added.
 * Return  0: there are threads to look at
 */
int tr2p_wall_is_idle(void);

/* In a forked child, which has one thread.  Return  0; an error number: the clock does not run there */
int tr2p_wall_begin_child(void);

/* The process ends: the clock ends, and what is not counted yet is, unless somebody has the lock for long.  No lock */
void tr2p_wall_flush(void);

/*
 * In the handler of a tick: take over the nanoseconds that are due to the calling thread.
 * cookie  what the tick's si_value is, or anything
 * Return  -1: that is none of ours    No lock    Signal safe
 */
int64_t tr2p_wall_claim(const void *cookie, uint64_t *period_ns);

/* 1: the clock runs.  No lock */
int tr2p_wall_is_on(void);

/* Around a call that only a process of one thread may make: the clock's thread ends before it.  Lock  of tr2p_cpu */
void tr2p_wall_pause(void);
void tr2p_wall_resume(void);

/* How the thread is named. */
#define TR2P_WALL_COMM "trace2-wall"

#endif
