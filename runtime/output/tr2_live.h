/* SPDX-License-Identifier: MIT */
/*
 * tr2_live.h - the live text targets: PREFIX, PREFIX_PERF, PREFIX_EVENT written while the program runs.
 *
 * The expander's own merge, model and writers read the blocks that the raw target gets.  So a live text has the same
 * bytes as one expanded later.  tr2_live.c is the only file of the library that knows the expander.  All functions but
 * tr2_live_open() and those that mute need the drain's lock.  They allocate, so a signal handler never calls them.
 */
#ifndef TR2_LIVE_H
#define TR2_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "tlg.h"
#include "tr2_dst.h"

/*
 * Open the targets that the settings name.  name: of a file in a directory    rules: as for tr2_dst_open()
 * Return  how many are on    Signal unsafe
 */
int tr2_live_open(const char *name, const struct tr2_dst_rules *rules);

/* 1 if any target is on. */
int tr2_live_is_on(void);

/* 1 if those that are on go to files. */
int tr2_live_has_only_files(void);

/*
 * 1 if the event target writes the sentinel of a directory with too many files, as only this text reports that; 0 if
 * not; -1: the target is off.
 */
int tr2_live_is_sentinel(void);

/*
 * A target that is muted goes on, and its text is thrown away, from whole line to whole line.  Thread  any, no lock
 * tr2_live_is_target()  by its name: normal, perf, event.  Return  0: that is none; 1: it is not on; 2: it is
 */
int tr2_live_is_target(const char *name, size_t length);
void tr2_live_mute(const char *name, size_t length, int is_muted);

/* As tr2_sink_lacks_files(), tr2_sink_open_again().  A text that cannot be opened again has ended. */
int tr2_live_lacks_files(void);
void tr2_live_open_again(void);

/*
 * Print the checkpoints of these whole blocks of the stream, up to a time before which no more can come.  The text has
 * also what the raw target has lost by failed writes, so such LOSS events are voided.
 */
void tr2_live_write(struct tlg_event *blocks, size_t bytes, uint32_t stream);

/* Print what is left, close the targets. */
void tr2_live_close(void);

/* In a forked child: go on in the parent's targets, without printing what they held.  Return  how many are on */
int tr2_live_inherit(void);

/* Close the targets without printing what they hold; any code may be interrupted here.  Signal safe */
void tr2_live_reset(void);

#endif
