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
#include "t2x_samples.h"
#include "t2x_tracks.h"
#include "symbols/t2x_symbols.h"

struct t2x_sampled {
	struct t2x_tracks tracks;
	struct t2x_samples *samples;
	const char *category;             /* of events that are its samples */
	uint64_t first_ns, last_ns;       /* of events; first 0: there was none */
	uint64_t lost;                    /* events */
	struct t2x_backtraces backtraces;
	struct t2x_bytes regions, texts;  /* reused */
};

/* Of printer->own; profile as of t2x_samples_new().  Return  0 or -ENOMEM */
int t2x_sampled_begin(struct t2x_printer *printer, const char *profile);

/* Takes any event, unresolved ones too. */
void t2x_sampled_event(struct t2x_printer *printer, const struct t2x_event *ev);

/* Behind the last event: names, times and what is missing become part of the profile. */
void t2x_sampled_end(struct t2x_printer *printer);

void t2x_sampled_free(struct t2x_printer *printer);

#endif
