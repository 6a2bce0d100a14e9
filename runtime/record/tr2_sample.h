/* SPDX-License-Identifier: MIT */
/*
 * tr2_sample.h - samples of profiles: what libtrace2-prof (prof/) calls, and nobody else.
 *
 * A sample is a checkpoint of kind `sample` in the ring of its thread; FORMAT.md section 8 says what its texts are.
 * Its scope has all that is needed to read it, so the drain posts it as any definition.  Names with _v1 are frozen, as
 * those of trace2.h.
 */
#ifndef TR2_SAMPLE_H
#define TR2_SAMPLE_H

#include <stdint.h>

#include "base/tr2_reported.h"

struct tr2_sample_v1 {
	uint32_t scope;               /* from tr2_sample_scope_v1(); 0: the texts travel along with the sample */
	const char *profile, *modules, *stack;   /* used with scope 0 only */
	int64_t count, value, period;
	const char *const *labels;    /* key, value, ..., NULL; or NULL: none */
};

#pragma GCC visibility push(default)

/*
 * Before trace2_initialize(): the consumer thread starts late, unless the settings say when.
 * Thread  before any other    Alloc malloc
 */
void tr2_sample_start_late_v1(void);

/*
 * The scope of a profile's stack, the same for the life of the process and of its forked children.
 * Return  1..; 0: tracing is off, a text is longer than TLG_NAME_MAX, or profiles have half of the table already: the
 *         rest is for the program's own checkpoints
 * Thread  any, no lock    Signal safe    Cost  100 ns when known, 1 us when new
 */
uint32_t tr2_sample_scope_v1(const char *profile, const char *modules, const char *stack);

/*
 * Record a sample.
 * Return  1; 0: tracing is off
 * Thread  any, no lock    Signal safe    Errno kept    Cost  a clock read and its arguments
 */
int tr2_sample_v1(const struct tr2_sample_v1 *sample);

/*
 * Who has the ring file may ask by a signal where all threads are: this one, as the ring file says; 0: none.
 * Thread  any    Signal safe
 */
void tr2_sample_signal_v1(int signal);

/*
 * Such a question, the number of which is the value of its samples, has been put to so many threads; the calling one
 * has answered.  Behind the thread's sample: a forked child has no ring file of its own before.
 * Thread  any, no lock    Signal safe
 */
void tr2_sample_asked_v1(uint32_t question, uint32_t threads);
void tr2_sample_answered_v1(void);

/*
 * 1: the calling thread is libtrace2's own, or inside libtrace2, which has called a function that libtrace2-prof stands
 * in front of: what it does is not the program's.
 * Thread  any    Signal safe    Cost  a load
 */
int tr2_sample_is_inside_v1(void);

/*
 * Threads may have got other names from the system: the calling one, which is asked for its own at once; others, with
 * their next samples.
 * is_certain  0: the calling one, at its end
 * Thread  any    Errno kept
 */
void tr2_sample_renamed_v1(int is_certain);

/*
 * From here on *to, which must stay, is how the trace calls the calling thread: so that another thread can record
 * samples of it, see TLG_LABEL_THREAD.  While tracing is off nothing is.  to  NULL: no longer
 * Thread  any, signals blocked
 */
void tr2_sample_tell_v1(struct tr2_reported *to);

/* After trace2_finish(): wait until libtrace2's thread is gone.  Thread  any, not in a handler */
void tr2_sample_await_end_v1(void);

#pragma GCC visibility pop

#endif
