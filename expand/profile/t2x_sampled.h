/* SPDX-License-Identifier: MIT */
/*
 * t2x_sampled.h - the samples of one profile in a trace, for the formats that show it as a whole: pprof, folded.
 *
 * Each sample has labels: those it was recorded with, `thread` and `pid`, and, where regions are open, `region`, the
 * innermost as category/label, and `regions`, all of them, the outermost first.  Memory: distinct stacks and labels.
 */
#ifndef T2X_SAMPLED_H
#define T2X_SAMPLED_H

#include "t2x_bytes.h"
#include "t2x_crash.h"
#include "t2x_processes.h"
#include "t2x_samples.h"
#include "symbols/t2x_namer.h"

enum { T2X_SAMPLED_MAX = 256 };           /* profiles in one report; a program has up to 70 */

struct t2x_sampled {
	struct t2x_processes processes;
	struct t2x_samples *samples;
	const char *category;             /* of events that are its samples */
	int has_labels;
	int has_programs;                 /* one of them is the program, see t2x_sampled_label_programs() */
	int is_there;                     /* there was a sample of it */
	uint64_t first_ns, last_ns;       /* the earliest event that is not repeated, the latest; 0: none */
	uint64_t lost;                    /* events */
	struct t2x_backtraces backtraces;
	struct t2x_bytes regions, texts;  /* reused */
	int is_crash;                     /* threads are shown one by one: */
	struct t2x_crash crash;
	/* Of each profile, in the order in which they came; samples and category above are those of the latest one: */
	int is_each;
	struct t2x_sampled_one { char *category; struct t2x_samples *samples; } *each;
	unsigned neach;
	uint64_t left_out;                /* samples of profiles for which there was no room */
};

/* The profile of samples that the command line asks for.  Return  NULL: one of regions */
const char *t2x_sampled_profile(const struct t2x_printer *printer);

/*
 * Of printer->own; has_labels: else equal stacks are one.  Return  0 or -ENOMEM
 * profile  as of t2x_samples_new(); NULL: each that the trace has, up to T2X_SAMPLED_MAX
 */
int t2x_sampled_begin(struct t2x_printer *printer, const char *profile, int has_labels);

/* Each sample gets a label more, "program": the name of its process's program.  Right behind t2x_sampled_begin() */
void t2x_sampled_label_programs(struct t2x_printer *printer);

/*
 * Of the profile `threads': each thread's stack, as of the last question, instead of what they add up to.  Right behind
 * t2x_sampled_begin()
 */
void t2x_sampled_as_crash(struct t2x_printer *printer);

/* Takes any event, unresolved ones too. */
void t2x_sampled_event(struct t2x_printer *printer, const struct t2x_event *ev);

/*
 * Behind the last event: names, times and what is missing become part of the profile, which write, one of
 * t2x_samples_write...(), puts out, unless t2x_sampled_as_crash() was called; all is freed.
 */
void t2x_sampled_finish(struct t2x_printer *printer,
			int write(struct t2x_samples *samples, t2x_write_fn *write, void *target));

/* The same, where show prints each profile itself.  Return  how many; show: 0 or an errno */
typedef int t2x_show_samples_fn(const struct t2x_samples *samples, struct t2x_printer *printer, unsigned nth);
unsigned t2x_sampled_show(struct t2x_printer *printer, t2x_show_samples_fn *show);

#endif
