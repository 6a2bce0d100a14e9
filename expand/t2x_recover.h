/* SPDX-License-Identifier: MIT */
/*
 * t2x_recover.h - the ring files of a run: which are wanted, which .tlg files they belong to, what became of them.
 *
 * Everything is read-only until t2x_recover_delete().
 */
#ifndef T2X_RECOVER_H
#define T2X_RECOVER_H

#include "t2x_join.h"
#include "t2x_leftover.h"
#include "t2x_options.h"

struct t2x_recovered {
	struct t2x_ring ring;
	struct t2x_join join;
	const char *why;                  /* the .tlg file is not joined, in words; NULL: it is */
	dev_t device;                     /* of the .tlg file, if it is there */
	ino_t inode;
};

struct t2x_recover {
	struct t2x_leftovers leftovers;
	struct t2x_recovered *items;
	unsigned n;
	unsigned failed;                  /* what was asked for by name, or process id, and cannot be read */
};

/* Open what the settings ask for.  Return  0 or -ENOMEM; to be freed in any case */
int t2x_recover_open(struct t2x_recover *recover, const struct t2x_settings *settings, struct t2x_report *report);
void t2x_recover_free(struct t2x_recover *recover);

/* Say on stderr what came out of them. */
void t2x_recover_report(const struct t2x_recover *recover, struct t2x_report *report);

/* Remove the ring files that were read completely.  Return  how many of the others there are */
unsigned t2x_recover_delete(const struct t2x_recover *recover, struct t2x_report *report);

#endif
