/* SPDX-License-Identifier: MIT */
/*
 * t2x_following.h - `t2 follow', `t2 top' and `t2 state': which processes they read, and when they end.
 *
 * SIGINT and SIGTERM end a command normally: it prints what it has read so far, and its exit status is 0.
 */
#ifndef T2X_FOLLOWING_H
#define T2X_FOLLOWING_H

#include "t2x_options.h"
#include "base/t2x_out.h"
#include "live/t2x_follow.h"
#include "live/t2x_state.h"
#include "live/t2x_top.h"

struct t2x_following {
	struct t2x_follow *follow;
	struct t2x_blocks *blocks;        /* what t2x_follow_next() reads */
	struct t2x_out *out;
	struct t2x_state_settings state;
	struct t2x_top_settings top;
	int is_top;
};

/* Begin; the settings may get another writer.  Return  NULL, or why not, in words.  To be ended in both cases */
const char *t2x_following_begin(struct t2x_following *following, struct t2x_settings *settings,
				struct t2x_report *report, struct t2x_out *out);
void t2x_following_end(struct t2x_following *following);

#endif
