/* SPDX-License-Identifier: MIT */
/*
 * tr2p_ask.h - asks one thread where it is, by a signal: the last real-time signal that can be sent and has no handler.
 *
 * Two callers ask: trace2_prof_write_to(), which waits for stacks (tr2p_stacks.h), and a signal from another process,
 * which does not (tr2p_remote.h).  A question goes to all threads; its number is the value of its samples.
 *
 * The program may send the same signal in any way.  A thread recognizes a question by a random number that only this
 * process knows, in the place of the sender's user id, which the kernel passes on as it is.  The process also notes
 * each question, and a thread answers it once.  Every other signal does what the program wants, see tr2p_signal.h.
 */
#ifndef TR2P_ASK_H
#define TR2P_ASK_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "tr2p_unwind.h"

/* The signal's value: 31 bits of the question, and one bit that shows who asks. */
enum { TR2P_ASK_BITS = 31 };
#define TR2P_ASK_REMOTE (UINT32_C(1) << TR2P_ASK_BITS)

/*
 * Install the handler; of another signal, if the program uses this one by now.
 * Return  0 or an error number; EBUSY: none is left
 */
int tr2p_ask_init(void);

/* 1: our handler is installed, and the program does not use the signal.  Signal safe */
int tr2p_ask_is_ready(void);

/* 1: the thread blocks the signal, or has ended.  Signal safe */
int tr2p_ask_cannot_answer(pid_t tid);

/*
 * Ask a thread of this process, which is pid also for a child that looks for threads.
 * Return  0 or an error number; ESRCH: it has ended    Signal safe
 */
int tr2p_ask(pid_t pid, pid_t tid, uint32_t what);

/* The number of a new question, 1..  Signal safe */
uint32_t tr2p_ask_begin(void);

/*
 * A thread has waited for this signal by sigwait() or a function like it, called from caller.  Answer it if it is a
 * question.
 * Return  0: it is the program's
 */
int tr2p_ask_take_waited(const siginfo_t *info, const void *caller);

#endif
