/* SPDX-License-Identifier: MIT */
/*
 * tr2p_unload.h - modules stay while a stack of another thread is walked.
 *
 * What a thread has on its own stack is not unloaded under its feet.  But the thread that is looked at from outside may
 * go on, and another one unload where it was: the tables that the walk reads would be gone.  So we stand in front of
 * dlclose(), which waits for the walk under way, some 10 us; and no walk begins while a dlclose() runs, however long.
 * libc unloads its own converters (iconv(3)) without that call; no thread is blocked in those.
 */
#ifndef TR2P_UNLOAD_H
#define TR2P_UNLOAD_H

/* Around a walk; one thread does that.  Return  0: a module is being unloaded, so there is no walk */
int tr2p_unload_hold(void);
void tr2p_unload_release(void);

/* In a forked child: whoever held or unloaded was another thread, or is this one. */
void tr2p_unload_begin_child(void);

#endif
