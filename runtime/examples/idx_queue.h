/* SPDX-License-Identifier: MIT */
/*
 * idx_queue.h - the paths on their way from the walking thread to the reading ones.
 *
 * Bounded: when the readers are slower, the walk waits, so memory does not grow with the tree.
 */
#ifndef IDX_QUEUE_H
#define IDX_QUEUE_H

#include <pthread.h>

enum { IDX_QUEUE_PATHS = 256 };

struct idx_queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	char *paths[IDX_QUEUE_PATHS];    /* malloc'ed, owned by the queue */
	unsigned first, count;
	int closed;
};

/* Return 0, or an errno value; then there is nothing to destroy. */
int idx_queue_init(struct idx_queue *queue);

/* No thread may use the queue any more.  Frees the paths that nobody took. */
void idx_queue_destroy(struct idx_queue *queue);

/* Append a malloc'ed path, which the queue now owns.  Blocks while the queue is full. */
void idx_queue_put(struct idx_queue *queue, char *path);

/* Take the oldest path, to be freed by the caller.  Blocks while empty.  NULL: closed and empty. */
char *idx_queue_take(struct idx_queue *queue);

/* Nothing more will be put: the takers get what is left, then NULL. */
void idx_queue_close(struct idx_queue *queue);

#endif
