/* SPDX-License-Identifier: MIT */
#include "idx_queue.h"

#include <stdlib.h>

int idx_queue_init(struct idx_queue *queue)
{
	int error;

	queue->first = 0;
	queue->count = 0;
	queue->closed = 0;
	error = pthread_mutex_init(&queue->lock, NULL);
	if (error)
		return error;
	error = pthread_cond_init(&queue->not_empty, NULL);
	if (error)
		goto no_not_empty;
	error = pthread_cond_init(&queue->not_full, NULL);
	if (!error)
		return 0;
	pthread_cond_destroy(&queue->not_empty);
no_not_empty:
	pthread_mutex_destroy(&queue->lock);
	return error;
}

void idx_queue_destroy(struct idx_queue *queue)
{
	for (unsigned i = 0; i < queue->count; i++)
		free(queue->paths[(queue->first + i) % IDX_QUEUE_PATHS]);
	pthread_cond_destroy(&queue->not_full);
	pthread_cond_destroy(&queue->not_empty);
	pthread_mutex_destroy(&queue->lock);
}

void idx_queue_put(struct idx_queue *queue, char *path)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == IDX_QUEUE_PATHS)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	queue->paths[(queue->first + queue->count++) % IDX_QUEUE_PATHS] = path;
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

char *idx_queue_take(struct idx_queue *queue)
{
	char *path = NULL;

	pthread_mutex_lock(&queue->lock);
	while (!queue->count && !queue->closed)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	if (queue->count) {
		path = queue->paths[queue->first];
		queue->first = (queue->first + 1) % IDX_QUEUE_PATHS;
		queue->count--;
		pthread_cond_signal(&queue->not_full);
	}
	pthread_mutex_unlock(&queue->lock);
	return path;
}

void idx_queue_close(struct idx_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = 1;
	pthread_cond_broadcast(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}
