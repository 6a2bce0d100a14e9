/* SPDX-License-Identifier: MIT */
/*
 * t2x_last.h - of each thread the texts of its last events, up to a number of them, printed at the end in the order in
 * which they came.
 *
 * Of all threads together there is room for T2X_LAST_BYTES; beyond that the oldest text goes, whichever thread's it is.
 */
#ifndef T2X_LAST_H
#define T2X_LAST_H

#include "base/t2x_out.h"
#include "t2x_threads.h"

enum { T2X_LAST_BYTES = 32 * 1024 * 1024 };

struct t2x_last {
	unsigned max;                     /* of a thread */
	struct t2x_threads threads;       /* to a queue of each, while it lives */
	struct t2x_last_text *first, *last;   /* of all threads, in their order */
	size_t bytes;                     /* of these, all that they take */
};

void t2x_last_init(struct t2x_last *last, unsigned max);

/* The text of a thread's next event.  Return  0 or -ENOMEM */
int t2x_last_add(struct t2x_last *last, const struct t2x_thread *thread, const char *text, size_t n);

/* The thread ends: another one may get its id. */
void t2x_last_end_thread(struct t2x_last *last, const struct t2x_thread *thread);

/* Print what there is. */
void t2x_last_put(const struct t2x_last *last, struct t2x_out *out);

void t2x_last_free(struct t2x_last *last);

#endif
