/* SPDX-License-Identifier: MIT */
/* shown.h - for tests: collects what tlg_show prints. */
#ifndef SHOWN_H
#define SHOWN_H

#include "tlg_show.h"

struct shown {
	char c[65536];            /* NUL-terminated */
	size_t n;
};

/* Append a piece: a tlg_show_fn.  to: struct shown; aborts if it is full */
void shown_append(void *to, const char *piece, size_t n);

/* All that a function prints; valid until the next call. */
const struct shown *shown(void (*show)(tlg_show_fn *, void *));

#endif
