/* SPDX-License-Identifier: MIT */
/*
 * record.h - for tests: a model that records what the front end passes to it, one line each.
 *
 *   hit NAME NS LABEL ARGUMENTS...    label "?7": scope 7 is not resolved; texts in quotes
 *   open NAME NS[:LABEL]...           enter times of open regions, with the labels of those that will be shown; "lost":
 *                                     the enter was dropped; "|": the regions before it are only assumed
 *   gap NAME COUNT [-LEFT +ENTERED]   "?": the number is not known
 *   drop TID REASON TOTAL
 *
 * Times are nanoseconds from TLGMAKE_SECOND.
 */
#ifndef RECORD_H
#define RECORD_H

#include "merge/t2x_merge.h"

struct record {
	char *text;
	size_t n, max;
	unsigned forgotten_threads, forgotten_processes;
	struct t2x_report report;         /* of the latest run */
	struct t2x_context context;       /* of the latest run */
	struct t2x_process process;       /* of the latest hit; its texts have been freed */
	char sid[256];                    /* of the latest hit's process */
	unsigned open_streams;            /* of the first input */
};

/* Expand files into a new record.  layout: NULL, or a foreign one */
void record_run(struct record *record, const char *const *paths, unsigned n, const struct t2x_layout *layout);

/* The same with one file, from a cycle on that is older than ns, counted from TLGMAKE_SECOND. */
void record_sought(struct record *record, const char *path, uint64_t ns);

/* As record_run() with bytes. */
void record_bytes(struct record *record, const void *bytes, size_t n);

void record_free(struct record *record);

#endif
