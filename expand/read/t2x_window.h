/* SPDX-License-Identifier: MIT */
/*
 * t2x_window.h - a window that slides over a sequence of bytes which some function supplies.
 */
#ifndef T2X_WINDOW_H
#define T2X_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Put at most room bytes at to.
 * Return  how many; 0 at the end; -errno
 */
typedef ssize_t t2x_fill_fn(void *source, unsigned char *to, size_t room);

struct t2x_window {
	t2x_fill_fn *fill;
	void *source;
	size_t min_room;          /* fill wants at least so much */
	int ended;                /* fill has returned 0 or an error */
	int error;                /* errno of that error, or 0 */
	unsigned char *data;
	size_t start, end;        /* of what is in data */
	size_t size;              /* of data */
	uint64_t offset;          /* of data[start] in the sequence */
};

/* A window in which want bytes can be seen at once.  Return  0 or -ENOMEM */
int t2x_window_init(struct t2x_window *window, size_t want, t2x_fill_fn *fill, void *source, size_t min_room);
void t2x_window_free(struct t2x_window *window);

/* Enlarge it.  Return  0 or -ENOMEM */
int t2x_window_resize(struct t2x_window *window, size_t want);

/*
 * See to it that want bytes are at *bytes, or as many as can be seen at once.
 * Return  the bytes that are there: fewer than that only at the end
 */
size_t t2x_window_peek(struct t2x_window *window, size_t want, const unsigned char **bytes);

/* Step over n bytes, all of which peek has shown. */
void t2x_window_skip(struct t2x_window *window, size_t n);

/* What is in the window does not go on: drop it, and read on. */
void t2x_window_restart(struct t2x_window *window);

#endif
