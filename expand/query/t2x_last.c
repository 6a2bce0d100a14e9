/* SPDX-License-Identifier: MIT */
/*
 * t2x_last.c - see t2x_last.h.
 *
 * All texts are in one list, the oldest first; those of a thread are in a queue, too, in the same order.  So the oldest
 * of all is the oldest of its thread, and each goes at the same cost.
 */
#include "t2x_last.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The texts of a thread.  It stays, when the thread has ended, as long as it has some. */
struct queue {
	struct t2x_last_text *oldest, *newest;
	unsigned n;
	int has_ended;
};

struct t2x_last_text {
	struct t2x_last_text *before, *next;   /* of all threads */
	struct t2x_last_text *later;           /* of the same thread */
	struct queue *queue;
	size_t n;
	char text[];
};

struct record {
	struct t2x_thread_record head;
	struct queue *queue;
};

static size_t find_bytes(const struct t2x_last_text *text)
{
	return sizeof(*text) + text->n;
}

static void end_queue(struct queue *queue)
{
	if (queue && !queue->n && queue->has_ended)
		free(queue);
}

static void forget(void *target, void *record)
{
	struct queue *queue = ((struct record *)record)->queue;

	(void)target;
	if (queue)
		queue->has_ended = 1;
	end_queue(queue);
}

void t2x_last_init(struct t2x_last *last, unsigned max)
{
	*last = (struct t2x_last){ .max = max };
	last->threads = (struct t2x_threads){ .bytes = sizeof(struct record), .forget = forget };
}

/* The oldest of its thread goes. */
static void drop(struct t2x_last *last, struct t2x_last_text *text)
{
	struct queue *queue = text->queue;

	queue->oldest = text->later;
	queue->n--;
	*(text->before ? &text->before->next : &last->first) = text->next;
	*(text->next ? &text->next->before : &last->last) = text->before;
	last->bytes -= find_bytes(text);
	free(text);
	end_queue(queue);
}

static void append(struct t2x_last *last, struct queue *queue, struct t2x_last_text *text)
{
	text->queue = queue;
	text->before = last->last;
	*(last->last ? &last->last->next : &last->first) = text;
	last->last = text;
	*(queue->n ? &queue->newest->later : &queue->oldest) = text;
	queue->newest = text;
	queue->n++;
	last->bytes += find_bytes(text);
}

/* Return  NULL: no memory */
static struct queue *find_queue(struct t2x_last *last, const struct t2x_thread *thread)
{
	struct record *record = t2x_threads_get(&last->threads, thread);

	if (record && !record->queue)
		record->queue = calloc(1, sizeof(*record->queue));
	return record ? record->queue : NULL;
}

int t2x_last_add(struct t2x_last *last, const struct t2x_thread *thread, const char *text, size_t n)
{
	struct queue *queue = find_queue(last, thread);
	struct t2x_last_text *added = queue ? malloc(sizeof(*added) + n) : NULL;

	if (!added)
		return -ENOMEM;
	*added = (struct t2x_last_text){ .n = n };
	memcpy(added->text, text, n);
	append(last, queue, added);
	if (queue->n > last->max)
		drop(last, queue->oldest);
	while (last->bytes > T2X_LAST_BYTES && last->first != last->last)
		drop(last, last->first);
	return 0;
}

void t2x_last_end_thread(struct t2x_last *last, const struct t2x_thread *thread)
{
	struct record *record = t2x_threads_get(&last->threads, thread);

	if (record)
		t2x_threads_remove(&last->threads, record);
}

void t2x_last_put(const struct t2x_last *last, struct t2x_out *out)
{
	for (const struct t2x_last_text *text = last->first; text; text = text->next) {
		t2x_out_bytes(out, text->text, text->n);
		t2x_out_end_line(out);
	}
}

void t2x_last_free(struct t2x_last *last)
{
	while (last->first)
		drop(last, last->first);
	t2x_threads_free(&last->threads);
}
