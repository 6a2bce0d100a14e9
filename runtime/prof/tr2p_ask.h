/* SPDX-License-Identifier: MIT */
/*
 * tr2p_ask.h - a signal to one thread, which has it answer where it is: the last one of real time that can be sent, and
 * for which nobody has a handler.
 *
 * Two ask: trace2_prof_write_to(), which waits for stacks (tr2p_stacks.h), and a signal from outside, which does not
 * (tr2p_remote.h).  What one asks all threads is a question; its number is the value of its samples.
 *
 * The program may use the same signal, by any way there is to send one.  A question is known by a random number that
 * nobody else has, in place of the sender's user id, of which the kernel keeps what it is given.  Whoever asks a thread
 * has noted it, too, and a thread answers once.  Every other signal does what the program wants, see tr2p_signal.h.
 */
#ifndef TR2P_ASK_H
#define TR2P_ASK_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "tr2p_unwind.h"

/* What a thread is asked, in the signal's value: 31 bits, and whose question it is. */
enum { TR2P_ASK_BITS = 31 };
#define TR2P_ASK_REMOTE (UINT32_C(1) << TR2P_ASK_BITS)

/*
 * Install the handler; of another signal, if the program uses this one by now.
 * Return  0 or an error number; EBUSY: none is left
 */
int tr2p_ask_init(void);

/* 1: the handler is the signal's, and the program does not use it.  Signal safe */
int tr2p_ask_is_ready(void);

/* 1: the thread would not answer.  Signal safe */
int tr2p_ask_cannot_answer(pid_t tid);

/*
 * Ask a thread of this process, which is pid also for a child that looks for threads.
 * Return  0 or an error number; ESRCH: it has ended    Signal safe
 */
int tr2p_ask(pid_t pid, pid_t tid, uint32_t what);

/* The number of a new question, 1..  Signal safe */
uint32_t tr2p_ask_begin(void);

/*
 * A signal that the thread has waited for, by sigwait() and its like called from caller: a question, which is answered?
 * Return  0: it is the program's
 */
int tr2p_ask_take_waited(const siginfo_t *info, const void *caller);

#endif
