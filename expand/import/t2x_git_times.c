/* SPDX-License-Identifier: MIT */
/*
 * t2x_git_times.c - solves difference constraints: event i is not behind event i + 1, and a leave is t_rel behind its
 * enter.  The functions pass bounds on until none changes.  First they find the latest times that the known ones allow;
 * these are one solution.  Then they find the earliest times that are not before the estimates, as far as the estimates
 * are not behind the latest times.  Since the latest times are a solution, so are these.
 */
#include "t2x_git_times.h"

/* Regions nest; each level takes one pass more.  Deeper ones keep what they have reached. */
enum { PASSES = 256 };

/* a + b, or the nearest number to it: lines may say anything. */
static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? b < 0 ? INT64_MIN : INT64_MAX : sum;
}

static int lower(int64_t *value, int64_t bound)
{
	if (*value <= bound)
		return 0;
	*value = bound;
	return 1;
}

static int raise_to(int64_t *value, int64_t bound)
{
	if (*value >= bound)
		return 0;
	*value = bound;
	return 1;
}

static int lower_once(struct t2x_git_moment *moments, size_t n)
{
	int changed = 0;

	for (size_t i = n; i-- > 0;) {
		struct t2x_git_moment *moment = &moments[i];
		if (i + 1 < n)
			changed |= lower(&moment->latest_us, moments[i + 1].latest_us);
		if (moment->enter >= 0) {
			struct t2x_git_moment *enter = &moments[moment->enter];
			if (moment->latest_us != INT64_MAX)
				changed |= lower(&enter->latest_us, plus(moment->latest_us, -moment->rel_us));
			if (enter->latest_us != INT64_MAX)
				changed |= lower(&moment->latest_us, plus(enter->latest_us, moment->rel_us));
		}
	}
	return changed;
}

static int raise_once(struct t2x_git_moment *moments, size_t n)
{
	int changed = 0;

	for (size_t i = 0; i < n; i++) {
		struct t2x_git_moment *moment = &moments[i];
		if (i)
			changed |= raise_to(&moment->us, moments[i - 1].us);
		if (moment->enter >= 0) {
			struct t2x_git_moment *enter = &moments[moment->enter];
			changed |= raise_to(&moment->us, plus(enter->us, moment->rel_us));
			changed |= raise_to(&enter->us, plus(moment->us, -moment->rel_us));
		}
	}
	return changed;
}

void t2x_git_times_find(struct t2x_git_moment *moments, size_t n, int64_t earliest_us)
{
	for (size_t i = 0; i < n; i++)
		moments[i].latest_us = moments[i].known_us == T2X_GIT_UNKNOWN_US ? INT64_MAX : moments[i].known_us;
	for (int pass = 0; pass < PASSES && lower_once(moments, n); pass++)
		;
	for (size_t i = 0; i < n; i++) {
		struct t2x_git_moment *moment = &moments[i];
		moment->us = moment->known_us == T2X_GIT_UNKNOWN_US ? moment->estimate_us : moment->known_us;
		if (moment->us > moment->latest_us)
			moment->us = moment->latest_us;
		raise_to(&moment->us, earliest_us);
	}
	for (int pass = 0; pass < PASSES && raise_once(moments, n); pass++)
		;
	for (size_t i = 0; i < n; i++)
		if (moments[i].known_us != T2X_GIT_UNKNOWN_US)
			moments[i].us = moments[i].known_us;
}
