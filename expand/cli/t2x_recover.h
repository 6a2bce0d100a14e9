/* SPDX-License-Identifier: MIT */
/*
 * t2x_recover.h - the ring files of a run: which are wanted, which .tlg files they belong to, what became of them.
 *
 * Either all are opened at once, for one text of them all; or one after the other, each for a text of its own, and
 * closed again.  Everything is read-only until t2x_recover_delete().
 *
 * Unasked, the ring files of young processes (runtime/drain/tr2_young.h) are read whose .tlg files are inputs: nobody
 * writes what these have recorded for as long as they are idle.
 */
#ifndef T2X_RECOVER_H
#define T2X_RECOVER_H

#include "t2x_options.h"
#include "recover/t2x_join.h"
#include "recover/t2x_ring_files.h"

struct t2x_recovered {
	struct t2x_ring ring;
	struct t2x_join join;
	const char *why;                  /* the .tlg file is not joined, in words; NULL: it is */
	dev_t device;                     /* of the .tlg file, if it is there, be it empty */
	ino_t inode;                      /* 0: it is not there */
};

struct t2x_recover {
	const struct t2x_settings *settings;
	struct t2x_report *report;
	struct t2x_ring_files files;
	int is_unasked;                   /* only young processes of the inputs are wanted */
	unsigned next;                    /* of those named and those found, the one that is opened next */
	struct t2x_recovered *items;      /* those that were opened */
	unsigned n;
	unsigned failed;                  /* what was asked for by name, or process id, and cannot be read */
	unsigned refused;                 /* what was found, and is left alone */
	unsigned left_out;                /* for too many are open already */
	uint64_t hits, in_flight;         /* of all that were reported */
	unsigned reported;
};

/* Find what the settings ask for; settings and report outlive it.  Return  0 or -ENOMEM; to be freed in any case */
int t2x_recover_find(struct t2x_recover *recover, const struct t2x_settings *settings, struct t2x_report *report);
void t2x_recover_free(struct t2x_recover *recover);

/* Open the next ring file that can be read.  Return  1: it is the last item; 0: there is none; -ENOMEM */
int t2x_recover_next(struct t2x_recover *recover);

/* It has been read. */
void t2x_recover_close(struct t2x_recovered *item);

/* Find, and open all.  Return  0 or -ENOMEM; to be freed in any case */
int t2x_recover_open(struct t2x_recover *recover, const struct t2x_settings *settings, struct t2x_report *report);

/* Report one on stderr; at the end, the totals of those that were not reported one by one. */
void t2x_recover_report(struct t2x_recover *recover, const struct t2x_recovered *item);
void t2x_recover_finish(struct t2x_recover *recover);

/* Remove the ring file if it was read completely.  Return  0: it stays, as stderr says */
int t2x_recover_delete(struct t2x_recover *recover, const struct t2x_recovered *item);

#endif
