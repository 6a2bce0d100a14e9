/* SPDX-License-Identifier: MIT */
/*
 * t2x_copy.h - events that are kept beyond the call that brings them.
 *
 * A copy of an event has copies of everything it points at; those of scopes and threads are shared and counted, for
 * most events have the same ones.
 */
#ifndef T2X_COPY_H
#define T2X_COPY_H

#include "model/t2x_writer.h"

enum { T2X_COPY_SCOPES = 2048, T2X_COPY_THREADS = 256 };

/* The latest copies, by number modulo their count.  All zero: none. */
struct t2x_copies {
	struct t2x_scope_copy *scopes[T2X_COPY_SCOPES];
	struct t2x_thread_copy *threads[T2X_COPY_THREADS];
};

struct t2x_filtered;

struct t2x_event_copy {
	struct t2x_event event;
	struct t2x_scope_copy *scope;
	struct t2x_thread_copy *thread;
	struct t2x_lost lost;
	size_t bytes;                 /* of memory */
	struct t2x_filtered *region, *before;   /* its owner's, as is */
	int verdict;
	struct t2x_arg args[];
};

/* Return  NULL: no memory */
struct t2x_event_copy *t2x_copy_event(struct t2x_copies *copies, const struct t2x_event *event);
void t2x_copy_free(struct t2x_event_copy *copy);

void t2x_copies_free(struct t2x_copies *copies);

#endif
