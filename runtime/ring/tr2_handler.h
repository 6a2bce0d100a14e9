/* SPDX-License-Identifier: MIT */
/*
 * tr2_handler.h - may the calling code be a signal handler?
 *
 * Nothing tells for certain.  While a handler runs, its signal is blocked; so code that blocks no signal that has a
 * handler is none.  A handler that does not block its own signal (SA_NODEFER) is known not to run by other signs: it
 * would have left its own stack (SA_ONSTACK), would be installed no more (SA_RESETHAND, of a fault), or would block
 * other signals (sa_mask).  Inside of one that is installed no more nothing tells but that it was, when we last looked.
 * Threads that always block such signals, as workers do, look like handlers for ever.  Where a mistake only costs time,
 * what they block where it is known that no handler runs may be left out: tr2_thread.ordinary_mask.
 */
#ifndef TR2_HANDLER_H
#define TR2_HANDLER_H

#include <stdint.h>

/*
 * mask    the signals that the thread blocked before tracing blocked all
 * Return  0: it runs none of their handlers    Signal safe    Cost  5 us
 */
int tr2_handler_may_run(uint64_t mask);

/*
 * Look at the handlers that there are, for the answer inside of one that is gone when it has begun: before anything
 * else may call us in one.  Signal safe    Cost  5 us
 */
void tr2_handler_note(void);

/* The calling code is no handler: note what its thread blocks now as its ordinary_mask.  Cost 80 ns */
void tr2_handler_is_ordinary(void);

#endif
