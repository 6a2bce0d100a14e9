/* SPDX-License-Identifier: MIT */
/*
 * t2x_ship.h - `t2 ship': sends the traces of a directory to the collectors, and forgets nothing before its receipt.
 *
 * The directory itself is the spool: what was not receipted is still in its files, so ship has no state that could be
 * lost.  When it starts it sends from the beginning; the first receipts say what is stored already.  It reads what is
 * complete (live/t2x_tail.h) and never writes to a trace, so no program notices it.  In memory are at most 8 MiB of
 * messages, and those of one round.
 *
 * With --delete, files go when each of their blocks has a receipt.  With a quota, the oldest files of processes that
 * have ended go before, if they have to; a gap for each stream says which blocks that were, and is kept in a file of
 * its own until it has its receipt.
 */
#ifndef T2X_SHIP_H
#define T2X_SHIP_H

#include "t2x_nats.h"

struct t2x_ship_settings {
	struct t2x_nats_settings nats;
	const char *directory;
	char host[T2X_ENVELOPE_HOST];
	const char *status_file;          /* for Prometheus; NULL: none */
	uint64_t quota;                   /* bytes; 0: none */
	int deletes;
	int is_once;                      /* end when all that is there has its receipt */
};

/* Until SIGTERM or SIGINT.  Return  NULL, or why it could not begin */
const char *t2x_ship_run(const struct t2x_ship_settings *settings);

#endif
