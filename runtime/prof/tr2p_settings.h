/* SPDX-License-Identifier: MIT */
/*
 * tr2p_settings.h - TRACE2_PROF, a list of words: cpu=100hz,heap=512k,block=10us,mutex=10,threadcreate,frames=64
 *
 * With TRACE2_DST_DEBUG the profiler reports wrong words, as libtrace2 does for its own settings, and ignores them.
 * The first process reports them, and not each that it executes.
 */
#ifndef TR2P_SETTINGS_H
#define TR2P_SETTINGS_H

#include <stdint.h>

#include "tr2p_unwind.h"

/* How stacks are unwound: before tr2p_init(). */
struct tr2p_how {
	enum tr2p_way way;
	unsigned frames;              /* 0: the default */
};
extern struct tr2p_how tr2p_g_how;

/* The value of a setting, not of a program with privileges that its caller does not have; NULL: not set, or empty. */
const char *tr2p_setting(const char *variable);

/* 1: no traced process has executed this one: it would have reported wrong settings. */
extern int tr2p_g_is_first;

/* Find out who has executed this process.  Call it before tracing begins, which changes what children inherit. */
void tr2p_settings_find_parent(void);

/* Start what the list says.  Thread  before any other */
void tr2p_settings_apply(const char *list);

/*
 * For `t2 ctl profile`, in libtrace2's thread: as tr2_sample_steer_v1() says.  The list "status" changes nothing: stop
 * becomes the names of the profiles that run.  All words are read before the first one has an effect.  What a program
 * sets by its own calls meanwhile may get lost.
 */
int tr2p_settings_steer(const char *list, char *stop, unsigned long stop_size, char *why, unsigned long why_size);

/* Of a profile that can be stopped: 1, it runs; start it at its usual rate.  Return  0 or an error number */
int tr2p_settings_is_on(const char *name);
int tr2p_settings_start(const char *name);

/*
 * One line on stderr, "warning: trace2: " and the parts up to a NULL, if TRACE2_DST_DEBUG is set.  Errno kept; no
 * cancellation point.
 */
void tr2p_warn(const char *const *parts);
#define tr2p_warning(...) tr2p_warn((const char *const[]){ __VA_ARGS__, NULL })

#endif
