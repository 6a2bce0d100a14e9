/* SPDX-License-Identifier: MIT */
/* t2x_out.c - see t2x_out.h. */
#include "t2x_out.h"

#include <errno.h>
#include <unistd.h>

#include "t2x_memory.h"

enum { PAGE_BYTES = 4096 };

int t2x_out_init(struct t2x_out *out, int fd)
{
	*out = (struct t2x_out){ .fd = fd };
	out->buf = t2x_aligned(PAGE_BYTES, T2X_OUT_BYTES);
	if (!out->buf)
		return -ENOMEM;
	out->pos = out->line = out->buf;
	out->end = out->buf + T2X_OUT_BYTES;
	return 0;
}

int t2x_out_init_fn(struct t2x_out *out, t2x_write_fn *write_fn, void *target)
{
	int error = t2x_out_init(out, -1);

	out->write = write_fn;
	out->target = target;
	return error;
}

void t2x_out_free(struct t2x_out *out)
{
	t2x_free(out->buf);
	out->buf = out->pos = out->end = out->line = NULL;
}

int t2x_out_write_all(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(fd, text, n);

		if (done > 0) {
			text += done;
			n -= (size_t)done;
		} else if (done == 0) {
			return EIO;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

void t2x_out_in_blocks(struct t2x_out *out)
{
	out->in_blocks = 1;
}

void t2x_out_in_whole_lines(struct t2x_out *out)
{
	out->in_whole_lines = 1;
}

void t2x_out_in_large_writes(struct t2x_out *out)
{
	out->in_large_writes = 1;
}

/* Make the buffer so large.  Return  0: no memory */
static int set_buffer_size(struct t2x_out *out, size_t bytes)
{
	size_t used = (size_t)(out->pos - out->buf), line = (size_t)(out->line - out->buf);
	char *buf = t2x_realloc(out->buf, bytes);

	if (!buf)
		return 0;
	out->buf = buf;
	out->pos = buf + used;
	out->line = buf + line;
	out->end = buf + bytes;
	return 1;
}

/* Write the first n bytes of the buffer, and move those behind them to its beginning. */
static void release(struct t2x_out *out, size_t n)
{
	size_t rest = (size_t)(out->pos - out->buf) - n, line = (size_t)(out->line - out->buf);

	if (n && !out->error)
		out->error = out->write ? out->write(out->target, out->buf, n)
					: t2x_out_write_all(out->fd, out->buf, n);
	if (line < n) {
		out->broken_line = 1;
		out->last = out->buf[n - 1];
		line = n;
	}
	memmove(out->buf, out->buf + n, rest);
	out->line = out->buf + (line - n);
	out->pos = out->buf + rest;
}

int t2x_out_flush(struct t2x_out *out)
{
	release(out, (size_t)(out->pos - out->buf));
	if (out->end - out->buf > T2X_OUT_BYTES && !out->in_large_writes)
		set_buffer_size(out, T2X_OUT_BYTES);
	return out->error;
}

void t2x_out_make_room(struct t2x_out *out)
{
	size_t used = (size_t)(out->pos - out->buf), line = (size_t)(out->line - out->buf);
	size_t size = (size_t)(out->end - out->buf);

	if (out->in_blocks)
		release(out, used - used % T2X_OUT_BLOCK);
	else if (out->in_large_writes && size < T2X_OUT_LARGE && set_buffer_size(out, T2X_OUT_LARGE))
		return;
	else if (used - line <= size - T2X_OUT_ROOM)
		release(out, line);
	else if (!out->in_whole_lines || out->broken_line || !set_buffer_size(out, 2 * size))
		release(out, used);
}

void t2x_out_long(struct t2x_out *out, const char *text, size_t n)
{
	while (n) {
		size_t room;

		if (out->end - out->pos < T2X_OUT_ROOM)
			t2x_out_make_room(out);
		room = (size_t)(out->end - out->pos);
		if (room > n)
			room = n;
		memcpy(out->pos, text, room);
		out->pos += room;
		text += room;
		n -= room;
	}
}

void t2x_out_repeat(struct t2x_out *out, char c, size_t n)
{
	while (n) {
		size_t part = n < T2X_OUT_ROOM ? n : T2X_OUT_ROOM;

		memset(t2x_out_room(out, part), c, part);
		out->pos += part;
		n -= part;
	}
}

void t2x_out_in_line(struct t2x_out *out, const char *text)
{
	for (; *text; text++)
		t2x_out_char(out, (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

void t2x_out_uint(struct t2x_out *out, uint64_t value)
{
	out->pos = t2x_put_uint(t2x_out_room(out, T2X_MAX_DIGITS), value);
}

void t2x_out_int(struct t2x_out *out, int64_t value)
{
	out->pos = t2x_put_int(t2x_out_room(out, T2X_MAX_DIGITS), value);
}

void t2x_out_seconds_us(struct t2x_out *out, uint64_t us, unsigned width)
{
	out->pos = t2x_put_seconds_us(t2x_out_room(out, T2X_MAX_SECONDS), us, width);
}

void t2x_out_seconds_ns(struct t2x_out *out, uint64_t ns)
{
	out->pos = t2x_put_seconds_ns(t2x_out_room(out, T2X_MAX_SECONDS), ns);
}

void t2x_out_duration(struct t2x_out *out, uint64_t ns, int is_exact)
{
	char *p = t2x_out_room(out, T2X_MAX_SECONDS);

	out->pos = is_exact ? t2x_put_seconds_exact(p, ns, 0) : t2x_put_seconds_ns(p, ns);
}
