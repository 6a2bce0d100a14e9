/* SPDX-License-Identifier: MIT */
/* t2x_pool.c - see t2x_pool.h. */
#include "t2x_pool.h"

#include <pthread.h>
#include <stdlib.h>

/*
 * libdw needs 200 KB of stack for the lines of a file, and a demangler, which is recursive, needs more.  glibc puts the
 * thread's variables into the same mapping, 1 MB with ThreadSanitizer.  Pages that nobody touches cost no memory.
 */
enum { STACK_BYTES = 2 * 1024 * 1024 };

struct t2x_pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct t2x_task *tasks;          /* the lock guards this and all that follows */
	int is_over;
	unsigned n;
	pthread_t threads[T2X_POOL_MAX];
};

/* Do a piece of the first task that is ready.  Return  0: no task is */
static int do_piece(struct t2x_pool *pool)
{
	for (struct t2x_task *task = pool->tasks; task; task = task->next) {
		if (task->is_busy || !task->is_ready(task))
			continue;
		task->is_busy = 1;
		task->work(task);
		task->is_busy = 0;
		pthread_cond_broadcast(&pool->changed);
		return 1;
	}
	return 0;
}

static void *help(void *argument)
{
	struct t2x_pool *pool = argument;

	pthread_mutex_lock(&pool->lock);
	while (!pool->is_over)
		t2x_pool_wait(pool);
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static void start_helpers(struct t2x_pool *pool, unsigned helpers)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes))
		return;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	while (pool->n < helpers && pool->n < T2X_POOL_MAX &&
	       !pthread_create(&pool->threads[pool->n], &attributes, help, pool))
		pool->n++;
	pthread_attr_destroy(&attributes);
}

struct t2x_pool *t2x_pool_new(unsigned helpers)
{
	struct t2x_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->changed, NULL);
	start_helpers(pool, helpers);
	return pool;
}

void t2x_pool_free(struct t2x_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->is_over = 1;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->n; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void t2x_pool_lock(struct t2x_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
}

void t2x_pool_unlock(struct t2x_pool *pool)
{
	pthread_mutex_unlock(&pool->lock);
}

void t2x_pool_changed(struct t2x_pool *pool)
{
	pthread_cond_broadcast(&pool->changed);
}

void t2x_pool_add(struct t2x_pool *pool, struct t2x_task *task)
{
	struct t2x_task **end = &pool->tasks;

	while (*end)
		end = &(*end)->next;
	task->next = NULL;
	task->is_busy = 0;
	*end = task;
	pthread_cond_broadcast(&pool->changed);
}

void t2x_pool_remove(struct t2x_pool *pool, struct t2x_task *task)
{
	struct t2x_task **at = &pool->tasks;

	while (task->is_busy)
		pthread_cond_wait(&pool->changed, &pool->lock);
	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
}

void t2x_pool_wait(struct t2x_pool *pool)
{
	if (!do_piece(pool))
		pthread_cond_wait(&pool->changed, &pool->lock);
}
