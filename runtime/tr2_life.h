/* SPDX-License-Identifier: MIT */
/*
 * tr2_life.h - the life of the process: what is switched on, forks, the end.
 */
#ifndef TR2_LIFE_H
#define TR2_LIFE_H

#include <stdint.h>

#include "trace2.h"
#include "tr2_env.h"

extern struct tr2_settings tr2_g_settings;
extern int32_t tr2_g_utcoff;              /* seconds east of UTC when tracing began */
extern uint32_t tr2_g_layout_crc;         /* PROLOGUE.layout */


/* A random number, not 0, for the id of a stream. */
uint32_t tr2_life_random(void);

/* Signals masked, in a forked child, before its first event: rings, stream and destination of its own. */
void tr2_life_after_fork(void);

/* A checkpoint could not be recorded for want of a ring; its texts were cut.  Signal safe. */
void tr2_life_count_no_ring(void);
void tr2_life_count_cut(void);

/* The drain takes over what was counted. */
void tr2_life_post_losses(void);

#endif
