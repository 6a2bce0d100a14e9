/* SPDX-License-Identifier: MIT */
/*
 * tr2p_unload.h - modules stay while a stack of another thread is walked.
 *
 * A module with a function on the calling thread's own stack is not unloaded.  But while the profiler walks the stack
 * of another thread, that thread may go on, and the module of its function may be unloaded: the tables that the walk
 * reads would disappear.  So the profiler intercepts dlclose(), which waits for a walk, some 10 us; and no walk begins
 * while a dlclose() runs, however long.  libc unloads its own converters (iconv(3)) without that call, but no thread is
 * blocked in those.
 */
#ifndef TR2P_UNLOAD_H
#define TR2P_UNLOAD_H

/* Around a walk, which one thread makes.  Return  0: a module is being unloaded, so there is no walk */
int tr2p_unload_hold(void);
void tr2p_unload_release(void);

/* In a forked child: whoever held or unloaded was another thread, or is this one. */
void tr2p_unload_begin_child(void);

#endif
