/* SPDX-License-Identifier: MIT */
/*
 * t2x_window.h - a window that slides over a sequence of bytes, which a function supplies.
 */
#ifndef T2X_WINDOW_H
#define T2X_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Store the next bytes at to, at most room of them.
 * Return  how many; 0 at the end; -errno
 */
typedef ssize_t t2x_fill_fn(void *source, unsigned char *to, size_t room);

struct t2x_window {
	t2x_fill_fn *fill;
	void *source;
	size_t min_room;          /* fill needs at least so much room */
	int ended;                /* fill has returned 0 or an error */
	int error;                /* errno of that error, or 0 */
	unsigned char *data;
	size_t start, end;        /* of the bytes in data */
	size_t size;              /* of data */
	uint64_t offset;          /* of data[start] in the sequence */
};

/* Make a window of at least want bytes.  Return  0 or -ENOMEM */
int t2x_window_init(struct t2x_window *window, size_t want, t2x_fill_fn *fill, void *source, size_t min_room);
void t2x_window_free(struct t2x_window *window);

/* Enlarge it.  Return  0 or -ENOMEM */
int t2x_window_resize(struct t2x_window *window, size_t want);

/*
 * Read until want bytes, or as many as the window can have, are at *bytes.
 * Return  how many are there: fewer only at the end of the sequence
 */
size_t t2x_window_peek(struct t2x_window *window, size_t want, const unsigned char **bytes);

/* Skip n bytes, all of which peek has shown. */
void t2x_window_skip(struct t2x_window *window, size_t n);

/* Drop the bytes in the window, which the source does not continue, and clear the end, so that reading goes on. */
void t2x_window_restart(struct t2x_window *window);

/*
 * Free the memory of a window until it is restored, empty.  What was in it has to be supplied again: fill goes on at
 * the offset.  Return of restoring  0 or -ENOMEM
 */
void t2x_window_park(struct t2x_window *window, uint64_t offset);
int t2x_window_restore(struct t2x_window *window);

#endif
