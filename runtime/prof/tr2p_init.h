/* SPDX-License-Identifier: MIT */
/*
 * tr2p_init.h - making the profiler ready, with the first profile; forking; the end.
 *
 * A process without TRACE2_PROF that calls no function which starts a profile pays nothing for it.
 */
#ifndef TR2P_INIT_H
#define TR2P_INIT_H

/*
 * Make ready what all profiles need: memory, the unwinder, hooks of fork.  Each function that starts a profile begins
 * with it, and so does each that takes a sample of a profile of the program's own.
 * Return  0 or an error number    Errno kept    Cost  100 us the first time
 */
int tr2p_init(void);

/* 1: tr2p_init() has been called: the profiler has to know each new thread.  Signal safe */
int tr2p_is_ready(void);

#endif
