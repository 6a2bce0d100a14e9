/* SPDX-License-Identifier: MIT */
/*
 * tr2_cause.h - why triggers request a snapshot, and whether they may: the modifiers max, quiet and window.
 *
 * A trigger that finds something adds a cause.  Behind a look at all rings the causes become one request, and each of
 * them an event of the snapshot: data, category "trace2", key "snapshot", in a thread of its own called "trigger".
 * With a window the snapshot leaves out what is older than the window's begin.  It is taken at once, so that nobody
 * overwrites what came before; what comes after is a second snapshot, when the window ends.
 *
 * Thread  the holder of the drain's lock    Signal safe
 */
#ifndef TR2_CAUSE_H
#define TR2_CAUSE_H

#include <stdint.h>

#include "settings/tr2_rules.h"

enum { TR2_CAUSE_TEXT = 512 };

/* These rules' modifiers hold from now on: nothing has been found yet. */
void tr2_cause_begin(const struct tr2_rules *rules);

/* In a forked child: its parent's causes are not its own. */
void tr2_cause_reset(void);

/*
 * when    raw clock: it happened    begun  raw clock: and had begun, so the window reaches back to before that
 * kind    AGAIN: it is the end of something that has caused a snapshot already: modifiers do not keep it back
 *         LAST: the process ends: neither does quiet
 * text    the rule and what was measured; it is copied
 * Return  1: it is part of a snapshot; 0: a modifier has kept it back
 */
enum tr2_cause_kind { TR2_CAUSE_NEW, TR2_CAUSE_AGAIN, TR2_CAUSE_LAST };
int tr2_cause_add(enum tr2_cause_kind kind, uint64_t when, uint64_t begun, const char *text);

/* Before and behind a look: request a snapshot if there is a cause, or if a window has ended. */
void tr2_cause_request(uint64_t now);

/* ns until a window ends; 0: none is open */
uint64_t tr2_cause_wait_ns(uint64_t now);

/* In a snapshot of what was recorded before `now`: append the causes to the stream. */
void tr2_cause_append(uint64_t now);

/* Snapshots so far; causes that a modifier has kept back. */
uint64_t tr2_cause_snapshots(void);
uint64_t tr2_cause_kept_back(void);

#endif
