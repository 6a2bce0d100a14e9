/* SPDX-License-Identifier: MIT */
/*
 * t2x_crash.h - where the threads of each process were when they were last asked, as a crash report shows them: samples
 * of the profile `threads', those of a process's last question.
 */
#ifndef T2X_CRASH_H
#define T2X_CRASH_H

#include "t2x_samples.h"
#include "model/t2x_writer.h"

/* All zero: nobody was asked. */
struct t2x_crash {
	struct t2x_crash_thread **threads;
	unsigned n, max;
	uint64_t left_out;                /* answers, for there are too many */
	int error;                        /* 0 or ENOMEM */
};

/* An event of the profile, with the stack and labels of the sample. */
void t2x_crash_add(struct t2x_crash *crash, const struct t2x_event *ev, const struct t2x_sample *sample);

/* The threads, sorted, with the names that their locations have in samples.  Return  0 or ENOMEM */
int t2x_crash_write(struct t2x_crash *crash, const struct t2x_samples *samples, struct t2x_out *out);

void t2x_crash_free(struct t2x_crash *crash);

#endif
