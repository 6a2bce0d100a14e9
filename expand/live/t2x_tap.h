/* SPDX-License-Identifier: MIT */
/*
 * t2x_tap.h - reads again and again what a process has in its ring file, until the process has ended.
 *
 * Each round reads a copy (recover/t2x_ring_copy.h), so the process never waits for us.  When the process has ended,
 * a last round reads the ring file itself, with the events whose calls were in flight.  The tap keeps the file open:
 * a process that ends normally removes the name only.
 */
#ifndef T2X_TAP_H
#define T2X_TAP_H

#include "recover/t2x_salvage.h"

enum t2x_tap_state {
	T2X_TAP_NEW,                      /* its head is not complete yet */
	T2X_TAP_ALIVE,
	T2X_TAP_DEAD,                     /* it was killed: a last round reads what is left */
	T2X_TAP_OVER,                     /* nothing more comes: the trace has its END, or the last round was read */
};

struct t2x_tap {
	struct t2x_tap *next;
	char *path;
	int fd;
	int pidfd;                        /* readable when the process ends; -1: it is in another PID namespace */
	dev_t device;
	ino_t inode;
	enum t2x_tap_state state;
	unsigned checks;                  /* so far */
	int is_wanted;
	int is_done;                      /* for the owner: the end of the process was handled */
	struct tlg_ring_file head;        /* of the latest look at the file itself */
	struct tlg_ring_state file;       /* likewise */
	struct t2x_ring ring;             /* of this round */
	struct t2x_salvage *salvage;      /* likewise; NULL: there is none */
	const char *why;                  /* the latest round could not be read, in words; NULL: it could */
};

/* Return  NULL: the file is not there any more, or no memory */
struct t2x_tap *t2x_tap_open(const char *path);
void t2x_tap_close(struct t2x_tap *tap);

/* Look at the head, and whether the process lives. */
void t2x_tap_check(struct t2x_tap *tap);

/* Begin and end a round, in which the salvage delivers blocks.  Return of begin  0: there is nothing to read */
int t2x_tap_begin(struct t2x_tap *tap);
void t2x_tap_end(struct t2x_tap *tap);

/* 1: a process with this id lives, which may have called exec(3) since. */
int t2x_tap_has_process(const struct t2x_tap *tap);

#endif
