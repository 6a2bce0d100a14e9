/* SPDX-License-Identifier: MIT */
/*
 * t2x_answered.h - what a process says of itself by its control page, as `t2 ctl PID status' shows it.
 *
 * The text is hostile: it is lines "key: value", in any order, with any bytes in them.  The parser is a pure function.
 */
#ifndef T2X_ANSWERED_H
#define T2X_ANSWERED_H

#include <stdint.h>

#include "tlg_ring.h"

enum { T2X_ANSWERED_REASONS = 16 };

struct t2x_answered {
	char state[64];                   /* on, off, dormant, ... */
	char file[TLG_RING_PATH];         /* absolute path; "": none */
	char policy[16];
	char profiles[128];               /* those that run, with commas between them */
	int has_profiles;                 /* the process says which run; older versions do not */
	int has_counts;                   /* it records, and has said: */
	uint64_t written;                 /* checkpoints in the file */
	uint64_t moved;                   /* raw events out of its rings */
	uint64_t threads, memory_used;    /* bytes */
	unsigned nlost;
	struct {
		char reason[32];
		uint64_t count;
	} lost[T2X_ANSWERED_REASONS];
};

void t2x_answered_parse(struct t2x_answered *answered, const char *text);

/* 1: the profile of this name runs. */
int t2x_answered_has(const struct t2x_answered *answered, const char *profile);

#endif
