/* SPDX-License-Identifier: MIT */
/* t2x_out.c - see t2x_out.h. */
#include "t2x_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char t2x_digit_pairs[201] =
	"00010203040506070809" "10111213141516171819" "20212223242526272829" "30313233343536373839"
	"40414243444546474849" "50515253545556575859" "60616263646566676869" "70717273747576777879"
	"80818283848586878889" "90919293949596979899";

/* Up to here a microsecond count in a double still prints its exact six decimals. */
#define EXACT_US (UINT64_C(1) << 52)

/* Likewise nanoseconds, but for halves of a microsecond. */
#define EXACT_NS (UINT64_C(1) << 52)

int t2x_out_init(struct t2x_out *out, int fd)
{
	*out = (struct t2x_out){ .fd = fd };
	out->buf = malloc(T2X_OUT_BYTES);
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
	free(out->buf);
	out->buf = out->pos = out->end = out->line = NULL;
}

static void write_all(struct t2x_out *out, const char *text, size_t n)
{
	if (out->write && n && !out->error) {
		out->error = out->write(out->target, text, n);
		return;
	}
	while (n && !out->error) {
		ssize_t done = write(out->fd, text, n);

		if (done > 0) {
			text += done;
			n -= (size_t)done;
		} else if (done == 0) {
			out->error = EIO;
		} else if (errno != EINTR) {
			out->error = errno;
		}
	}
}

int t2x_out_flush(struct t2x_out *out)
{
	write_all(out, out->buf, (size_t)(out->pos - out->buf));
	if (out->pos > out->line) {
		out->broken_line = 1;
		out->last = out->pos[-1];
	}
	out->pos = out->line = out->buf;
	return out->error;
}

void t2x_out_make_room(struct t2x_out *out)
{
	size_t part = (size_t)(out->pos - out->line);

	if (part > T2X_OUT_BYTES - T2X_OUT_ROOM) {
		t2x_out_flush(out);
		return;
	}
	write_all(out, out->buf, (size_t)(out->line - out->buf));
	memmove(out->buf, out->line, part);
	out->line = out->buf;
	out->pos = out->buf + part;
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

void t2x_out_end_line(struct t2x_out *out)
{
	int empty = out->pos == out->line;

	if (empty ? out->broken_line && out->last != '\n' : out->pos[-1] != '\n')
		t2x_out_char(out, '\n');
	out->line = out->pos;
	out->broken_line = 0;
}

char *t2x_put_uint(char *to, uint64_t value)
{
	char digits[T2X_MAX_DIGITS], *p = digits + sizeof(digits);
	size_t n;

	for (; value >= 100; value /= 100) {
		p -= 2;
		t2x_put_2(p, (unsigned)(value % 100));
	}
	/* What is left is the front: one digit or two; often it is all. */
	if (value < 10)
		*to++ = (char)('0' + value);
	else
		to = t2x_put_2(to, (unsigned)value);
	n = (size_t)(digits + sizeof(digits) - p);
	memcpy(to, p, n);
	return to + n;
}

char *t2x_put_int(char *to, int64_t value)
{
	uint64_t size = (uint64_t)value;

	if (value < 0) {
		*to++ = '-';
		size = 0 - size;
	}
	return t2x_put_uint(to, size);
}

void t2x_out_uint(struct t2x_out *out, uint64_t value)
{
	out->pos = t2x_put_uint(t2x_out_room(out, T2X_MAX_DIGITS), value);
}

void t2x_out_int(struct t2x_out *out, int64_t value)
{
	out->pos = t2x_put_int(t2x_out_room(out, T2X_MAX_DIGITS), value);
}

/* What only the C library rounds as the C library does.  Its decimal point follows the locale, ours does not. */
static void print_rounded(struct t2x_out *out, double seconds)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%.6f", seconds);

	t2x_out_bytes(out, text, strspn(text, "0123456789"));
	t2x_out_char(out, '.');
	t2x_out_bytes(out, text + n - 6, 6);
}

void t2x_out_seconds_us(struct t2x_out *out, uint64_t us, unsigned width)
{
	char text[T2X_MAX_DIGITS + 8], *end;

	if (us >= EXACT_US) {
		print_rounded(out, (double)us / 1000000.0);
		return;
	}
	end = t2x_put_uint(text, us / 1000000);
	*end++ = '.';
	end = t2x_put_6(end, (unsigned)(us % 1000000));
	if (end - text < (ptrdiff_t)width)
		t2x_out_repeat(out, ' ', width - (size_t)(end - text));
	t2x_out_bytes(out, text, (size_t)(end - text));
}

void t2x_out_seconds_ns(struct t2x_out *out, uint64_t ns)
{
	if (ns >= EXACT_NS || ns % 1000 == 500)
		print_rounded(out, (double)ns / 1e9);
	else
		t2x_out_seconds_us(out, (ns + 500) / 1000, 0);
}
