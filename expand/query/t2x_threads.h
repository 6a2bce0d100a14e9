/* SPDX-License-Identifier: MIT */
/*
 * t2x_threads.h - something to remember of each thread, by stream and thread id.
 *
 * A thread's number (t2x_hit.h) changes with its name, while its regions stay open: so it is only the shortcut.
 */
#ifndef T2X_THREADS_H
#define T2X_THREADS_H

#include <stddef.h>

#include "model/t2x_hit.h"
#include "base/t2x_map.h"

enum { T2X_THREADS_MAX = 32768, T2X_THREADS_AT_HAND = 256 };

/* What the records of all users begin with. */
struct t2x_thread_record {
	uint32_t stream, tid;
	uint64_t number;                      /* with its latest name */
};

struct t2x_threads {
	struct t2x_map streams;               /* to maps of the threads */
	unsigned count;
	size_t bytes;                         /* of a record */
	void (*forget)(void *target, void *record);   /* frees what is in it; NULL: nothing is */
	/* the thread, whose record there was, has got another name; NULL: nothing is done */
	void (*renamed)(void *target, void *record, const struct t2x_thread *thread);
	void *target;
	size_t *budget;                       /* bytes that records may still take; NULL: any */
	struct {
		uint64_t number;
		void *record;
	} at_hand[T2X_THREADS_AT_HAND];       /* number 0: none, NULL */
};

/* The long way. */
void *t2x_threads_search(struct t2x_threads *threads, const struct t2x_thread *thread);

/* The record of a thread that is at hand, as most are.  Return  NULL: it is not */
static inline void *t2x_threads_at_hand(const struct t2x_threads *threads, const struct t2x_thread *thread)
{
	unsigned at = thread->number % T2X_THREADS_AT_HAND;

	return threads->at_hand[at].number == thread->number ? threads->at_hand[at].record : NULL;
}

/* The record of a thread, all zero but for its head at first.  Return  NULL: no memory, or there are too many */
static inline void *t2x_threads_get(struct t2x_threads *threads, const struct t2x_thread *thread)
{
	void *record = t2x_threads_at_hand(threads, thread);

	return record ? record : t2x_threads_search(threads, thread);
}

/* The thread has ended. */
void t2x_threads_remove(struct t2x_threads *threads, void *record);

/* Call visit for each record. */
void t2x_threads_each(const struct t2x_threads *threads, void (*visit)(void *target, void *record), void *target);

void t2x_threads_free(struct t2x_threads *threads);

#endif
