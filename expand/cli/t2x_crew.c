/* SPDX-License-Identifier: MIT */
/* t2x_crew.c - see t2x_crew.h. */
#include "t2x_crew.h"

#include <pthread.h>
#include <stdlib.h>

enum { STACK_BYTES = 512 * 1024 };

struct t2x_crew {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct t2x_duty *duties;          /* guarded by lock, as all that follows */
	int is_over;
	unsigned n;
	pthread_t threads[T2X_CREW_MAX];
};

/* Do a piece of the first duty that is ready.  Return  0: none is */
static int do_piece(struct t2x_crew *crew)
{
	for (struct t2x_duty *duty = crew->duties; duty; duty = duty->next) {
		if (duty->is_busy || !duty->is_ready(duty))
			continue;
		duty->is_busy = 1;
		duty->work(duty);
		duty->is_busy = 0;
		pthread_cond_broadcast(&crew->changed);
		return 1;
	}
	return 0;
}

static void *help(void *argument)
{
	struct t2x_crew *crew = argument;

	pthread_mutex_lock(&crew->lock);
	while (!crew->is_over)
		t2x_crew_wait(crew);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static void start_helpers(struct t2x_crew *crew, unsigned helpers)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes))
		return;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	while (crew->n < helpers && crew->n < T2X_CREW_MAX &&
	       !pthread_create(&crew->threads[crew->n], &attributes, help, crew))
		crew->n++;
	pthread_attr_destroy(&attributes);
}

struct t2x_crew *t2x_crew_new(unsigned helpers)
{
	struct t2x_crew *crew = calloc(1, sizeof(*crew));

	if (!crew)
		return NULL;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->changed, NULL);
	start_helpers(crew, helpers);
	return crew;
}

void t2x_crew_free(struct t2x_crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->is_over = 1;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
	for (unsigned i = 0; i < crew->n; i++)
		pthread_join(crew->threads[i], NULL);
	pthread_cond_destroy(&crew->changed);
	pthread_mutex_destroy(&crew->lock);
	free(crew);
}

void t2x_crew_lock(struct t2x_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
}

void t2x_crew_unlock(struct t2x_crew *crew)
{
	pthread_mutex_unlock(&crew->lock);
}

void t2x_crew_changed(struct t2x_crew *crew)
{
	pthread_cond_broadcast(&crew->changed);
}

void t2x_crew_add(struct t2x_crew *crew, struct t2x_duty *duty)
{
	struct t2x_duty **end = &crew->duties;

	while (*end)
		end = &(*end)->next;
	duty->next = NULL;
	duty->is_busy = 0;
	*end = duty;
	pthread_cond_broadcast(&crew->changed);
}

void t2x_crew_remove(struct t2x_crew *crew, struct t2x_duty *duty)
{
	struct t2x_duty **at = &crew->duties;

	while (duty->is_busy)
		pthread_cond_wait(&crew->changed, &crew->lock);
	while (*at != duty)
		at = &(*at)->next;
	*at = duty->next;
}

void t2x_crew_wait(struct t2x_crew *crew)
{
	if (!do_piece(crew))
		pthread_cond_wait(&crew->changed, &crew->lock);
}
