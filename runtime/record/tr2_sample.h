/* SPDX-License-Identifier: MIT */
/*
 * tr2_sample.h - samples of profiles: the functions that only libtrace2-prof (prof/) calls.
 *
 * A sample is a checkpoint of kind `sample` in the ring of its thread; FORMAT.md section 8 says what its texts are.
 * Its scope holds all that a reader needs, and the drain posts it like any other definition.  Names with _v1 are
 * frozen, as those of trace2.h.
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
 * Store in the ring file which signal asks all threads where they are, for readers of that file; 0: none.
 * Thread  any    Signal safe
 */
void tr2_sample_signal_v1(int signal);

/*
 * A question has been put to so many threads; the calling thread has answered.  A question's number is the value of its
 * samples.  The calling thread has recorded its sample before, so that a forked child has a ring file of its own.
 * Thread  any, no lock    Signal safe
 */
void tr2_sample_asked_v1(uint32_t question, uint32_t threads);
void tr2_sample_answered_v1(void);

/*
 * 1: the calling thread is libtrace2's own, or is inside libtrace2, which has called a function that libtrace2-prof
 * intercepts.  What it does is then not the program's.
 * Thread  any    Signal safe    Cost  a load
 */
int tr2_sample_is_inside_v1(void);

/*
 * Threads may have got other names in the system.  libtrace2 reads the calling thread's name at once, that of others
 * with their next samples.
 * is_certain  0: the calling thread ends, and may have another name
 * Thread  any    Errno kept
 */
void tr2_sample_renamed_v1(int is_certain);

/*
 * From here on libtrace2 keeps in *to the id and the name that the trace has for the calling thread, so that another
 * thread can record samples of it (TLG_LABEL_THREAD).  While tracing is off it writes nothing.  *to must stay.
 * to      NULL: no longer
 * Thread  any, signals blocked
 */
void tr2_sample_tell_v1(struct tr2_reported *to);

/*
 * A forked child that has recorded nothing will never record anything, not even its end: it may be about to enter a
 * sandbox that would end it for the system calls of a new session.  Nothing happens in any other process.
 * Thread  any    Signal safe
 */
void tr2_sample_stay_out_v1(void);

/* After trace2_finish(): wait until libtrace2's thread is gone.  Thread  any, not in a handler */
void tr2_sample_await_end_v1(void);

/*
 * Around a call that a process of several threads is refused, or that changes what belongs to a thread: libtrace2's
 * thread ends, and comes back (drain/tr2_pause.h).  One caller at a time.
 * Return  of the first  1: the second has to follow
 * Thread  any    Errno kept    Blocks  for 1 ms, a second at most
 */
int tr2_sample_pause_v1(void);
void tr2_sample_resume_v1(void);

/*
 * libtrace2's thread calls function for `t2 ctl profile`.
 *   list  as TRACE2_PROF; or NAME=off; or off, for all; or status: stop becomes the names of those that run
 *   stop  filled with a list that stops what was started; NULL: nobody asks for it
 *   why   filled with the first error    Return  1; 0: with why
 * Thread  before any other
 */
void tr2_sample_steer_v1(int (*function)(const char *list, char *stop, unsigned long stop_size, char *why,
					 unsigned long why_size));

/*
 * The path of the .tlg file that is written now; "": there is none.
 * Thread  any, not in a handler    Blocks  for who writes, 1 s at most
 */
void tr2_sample_file_v1(char *path, unsigned long size);

#pragma GCC visibility pop

#endif
