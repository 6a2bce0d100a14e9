/* SPDX-License-Identifier: MIT */
/*
 * tr2p_rename.h - threads get other names: the trace has the last one.
 *
 * A thread that the program has not named by trace2_thread_start() has the name that the system knows it by, as it was
 * at its first sample.  Programs often name their threads later.  So we stand in front of pthread_setname_np(), and of
 * prctl() in tr2p_sandbox.c, and notify libtrace2.  That reads the name again: at once if it is the calling thread's,
 * else with the thread's next sample.  It also reads the name of each thread that ends.
 */
#ifndef TR2P_RENAME_H
#define TR2P_RENAME_H

#include <stdint.h>

/* Some thread has got another name; the calling one ends, with the name that it has.  Errno kept */
void tr2p_rename_note(void);
void tr2p_rename_end(void);

/*
 * A thread may have renamed another one, which may be blocked and never take a sample.  The wall clock's thread reads
 * names again when the count has changed.
 */
void tr2p_rename_other(void);
uint32_t tr2p_rename_count(void);

#endif
