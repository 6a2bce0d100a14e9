/* SPDX-License-Identifier: MIT */
/*
 * tr2_dormant.h - the consumer thread while its process is not traced, and the commands that it serves at any time.
 *
 * A dormant process has the library and no trace.  It has a control page (ctl/tr2_page.h) and this thread, which sleeps
 * until there is a command.  If the session begins later, in a call of a program's thread, the consumer thread goes on
 * from here to its usual work.
 */
#ifndef TR2_DORMANT_H
#define TR2_DORMANT_H

/*
 * Let the consumer thread call this function each time that it is awake.
 * Return  of the function: ms until it is to be called again; 0: with the next command
 */
void tr2_dormant_set_server(unsigned (*function)(void));

/* Call that function.  Return  as it does; 0 without one    Thread  the consumer */
unsigned tr2_dormant_serve(void);

/*
 * This process is dormant, before its thread starts.  tr2_dormant_is() is 1 from here on, also when it is traced later.
 * A forked child is not dormant.  Thread  any
 */
void tr2_dormant_begin(void);
int tr2_dormant_is(void);

/*
 * tr2_dormant_await()   the consumer thread serves commands until the session has begun: 1; until the process ends, or
 *                       the thread has to end for a time (tr2_leave.h): 0
 * tr2_dormant_wake()    it looks whether one of these is so.  Signal safe
 * tr2_dormant_session() the session has begun; it does nothing where the process is not dormant.  Signal safe
 * tr2_dormant_end()     the process ends, and was never traced: the thread ends, too
 */
int tr2_dormant_await(void);
void tr2_dormant_wake(void);
void tr2_dormant_session(void);
void tr2_dormant_end(void);

#endif
