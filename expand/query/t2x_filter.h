/* SPDX-License-Identifier: MIT */
/*
 * t2x_filter.h - selecting events, the same for all formats: a writer in front of the format's writer.
 *
 * Regions stay pairs: a leave is shown if its enter was selected.  How deep events are nested counts the regions that
 * are shown, so what comes out looks like a program that has no others.  What is missing in a trace is shown whatever
 * is selected, unless its thread or its time is not; the counts of regions that a gap closed are those of shown ones.
 * What was open at --since is shown as open, with its own time, in front of what comes next.
 *
 * A sample is one of all regions around it: it is shown if one of these is selected, and none is excluded.
 *
 * Of a region shorter than --min-duration nothing is shown: neither data, steps, samples and regions in it.  Until it
 * is known how long it was, it waits, and all behind it: in trace time never longer than that duration.  At most
 * T2X_QUEUED_MAX events wait; when there would be more, the first region among them is shown, however short it was.
 */
#ifndef T2X_FILTER_H
#define T2X_FILTER_H

#include "t2x_patterns.h"
#include "t2x_when.h"
#include "base/t2x_report.h"
#include "model/t2x_writer.h"

enum t2x_filter_option {
#define T2X_FILTER_OPTION(name, option, value, help) T2X_FILTER_##name,
#include "t2x_filter.def"
#undef T2X_FILTER_OPTION
	T2X_FILTER_OPTIONS
};

struct t2x_filter_help {
	const char *option, *value, *help;
};
extern const struct t2x_filter_help t2x_filter_options[T2X_FILTER_OPTIONS];

/* What is asked for.  All zero: everything. */
struct t2x_filter {
	const struct t2x_writer *writer;      /* behind it */
	int is_on;                            /* something was asked for */
	struct t2x_instant since, until;
	struct t2x_patterns thread, pid, sid, category, label, event;
	uint64_t min_ns;
	unsigned max_depth;                   /* 0: any */
	uint64_t first_ns, end_ns;            /* of the earliest and the latest event; 0: not known */
	int32_t utcoff;                       /* of the first one's process */
	uint64_t early_ns;                    /* so much older than first_ns some events turned out to be */
	void *own;                            /* what t2x_writer_totals, t2x_writer_profile add to */
};

/* Take an option.  Return  0, -EINVAL if the value makes no sense, or -ENOMEM */
int t2x_filter_set(struct t2x_filter *filter, enum t2x_filter_option option, const char *value);

/* It counts from the end, which has to be known before. */
int t2x_filter_needs_end(const struct t2x_filter *filter);

int t2x_filter_selects_process(const struct t2x_filter *filter, const struct t2x_process *process);
int t2x_filter_selects_thread(const struct t2x_filter *filter, const struct t2x_thread *thread);

/*
 * Whether the event's kind, and its category and label, are selected; whether a pattern with a ! is why these are not.
 * A sample has no names to select it by but those of the regions around it.
 */
enum { T2X_FILTER_KIND = 1, T2X_FILTER_NAMES = 2, T2X_FILTER_EXCLUDED = 4 };
unsigned t2x_filter_match(const struct t2x_filter *filter, const struct t2x_event *event);

/*
 * Whether a sample is selected that is in regions which are selected, or excluded, if any: T2X_WITHIN_... of
 * t2x_filtered.h.  A label that it was recorded with, as key=value, counts like the label of a region around it.
 */
int t2x_filter_selects_sample(const struct t2x_filter *filter, const struct t2x_event *event, unsigned within);

/*
 * Report the patterns that have matched nothing of what was read: it may be a misspelt one that has selected nothing.
 * A pattern with a ! may match nothing.  report  NULL: they are only counted    Return  how many there are
 */
unsigned t2x_filter_report(const struct t2x_filter *filter, struct t2x_report *report);

/* What belongs to the region around it: regions, data, steps and samples. */
int t2x_filter_nests(const struct t2x_event *event);

void t2x_filter_free(struct t2x_filter *filter);

/*
 * The writer that filters: options->filter says what, and which writer is behind it.  And one that prints nothing and
 * finds when the first and the last event are.
 */
extern const struct t2x_writer t2x_writer_filter, t2x_writer_span;

#endif
