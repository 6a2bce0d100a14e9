/* SPDX-License-Identifier: MIT */
/*
 * t2x_git_times.h - finds when the events of a thread were, as far as git's event target does not say it.
 *
 * Only some events carry t_abs.  Others carry t_rel: their distance from the enter of their region, to the microsecond.
 * `time' is read from another clock a little later.  The times found here are in the order of the events, agree with
 * each t_abs and each t_rel, and are otherwise as close to `time' as that leaves them.  If a thread's own lines
 * contradict each other, t_abs counts.
 */
#ifndef T2X_GIT_TIMES_H
#define T2X_GIT_TIMES_H

#include <stddef.h>
#include <stdint.h>

#define T2X_GIT_UNKNOWN_US INT64_MIN
enum { T2X_GIT_NO_ENTER = -1 };

struct t2x_git_moment {
	int64_t known_us;         /* by t_abs; T2X_GIT_UNKNOWN_US */
	int64_t estimate_us;      /* by `time' */
	int64_t rel_us;           /* t_rel, of a leave */
	int32_t enter;            /* index of its enter; T2X_GIT_NO_ENTER */
	int64_t us;               /* result */
	int64_t latest_us;        /* for the search */
};

/* earliest_us  nothing is older */
void t2x_git_times_find(struct t2x_git_moment *moments, size_t n, int64_t earliest_us);

#endif
