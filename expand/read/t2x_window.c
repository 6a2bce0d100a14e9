/* SPDX-License-Identifier: MIT */
/* t2x_window.c - see t2x_window.h. */
#include "t2x_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int t2x_window_init(struct t2x_window *window, size_t want, t2x_fill_fn *fill, void *source, size_t min_room)
{
	size_t size = want + min_room;

	*window = (struct t2x_window){
		.fill = fill, .source = source, .min_room = min_room, .data = malloc(size), .size = size
	};
	return window->data ? 0 : -ENOMEM;
}

void t2x_window_free(struct t2x_window *window)
{
	free(window->data);
	window->data = NULL;
}

int t2x_window_resize(struct t2x_window *window, size_t want)
{
	size_t size = want + window->min_room;
	unsigned char *data;

	if (size <= window->size)
		return 0;
	data = realloc(window->data, size);
	if (!data)
		return -ENOMEM;
	window->data = data;
	window->size = size;
	return 0;
}

static void slide(struct t2x_window *window)
{
	memmove(window->data, window->data + window->start, window->end - window->start);
	window->end -= window->start;
	window->start = 0;
}

static void fill_more(struct t2x_window *window)
{
	ssize_t n = window->fill(window->source, window->data + window->end, window->size - window->end);

	if (n > 0) {
		window->end += (size_t)n;
		return;
	}
	window->ended = 1;
	window->error = (int)-n;
}

size_t t2x_window_peek(struct t2x_window *window, size_t want, const unsigned char **bytes)
{
	if (want > window->size - window->min_room)
		want = window->size - window->min_room;
	while (window->end - window->start < want && !window->ended) {
		size_t room = window->size - window->end;
		if (room < window->min_room || window->size - window->start < want)
			slide(window);
		fill_more(window);
	}
	*bytes = window->data + window->start;
	return window->end - window->start;
}

void t2x_window_skip(struct t2x_window *window, size_t n)
{
	window->start += n;
	window->offset += n;
}

void t2x_window_park(struct t2x_window *window, uint64_t offset)
{
	t2x_window_free(window);
	window->start = window->end = 0;
	window->ended = 0;
	window->offset = offset;
}

int t2x_window_restore(struct t2x_window *window)
{
	window->data = malloc(window->size);
	return window->data ? 0 : -ENOMEM;
}

void t2x_window_restart(struct t2x_window *window)
{
	window->offset += window->end - window->start;
	window->start = window->end = 0;
	window->ended = 0;
}
