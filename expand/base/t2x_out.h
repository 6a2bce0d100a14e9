/* SPDX-License-Identifier: MIT */
/*
 * t2x_out.h - buffered output to a file descriptor, or to a function.
 *
 * One large buffer collects the text.  It is written in one of four ways:
 *   in lines         each write ends with a line and has at most 64 KiB; a line longer than the buffer is divided
 *   in large writes  the same, with up to 1 MiB a write: for regular files
 *   in whole lines   the buffer grows, so that no line is divided: for files to which others write, too
 *   in blocks        each write has T2X_OUT_BLOCK bytes: for a function that does not need whole lines
 * Errors are sticky: error keeps the first errno, later text is dropped, and no call here fails.  EPIPE is an error
 * like any other; the owner decides not to report it.  One thread uses an output.  The caller closes the descriptor.
 */
#ifndef T2X_OUT_H
#define T2X_OUT_H

#include <stddef.h>

#include "t2x_digits.h"

enum {
	T2X_OUT_BLOCK = 64 * 1024,
	T2X_OUT_ROOM = 4096,          /* the largest n of t2x_out_room() */
	T2X_OUT_BYTES = T2X_OUT_BLOCK + T2X_OUT_ROOM,   /* of the buffer */
	T2X_OUT_LARGE = 1024 * 1024,  /* of the buffer for large writes; it replaces the first one when that is full */
};

/* Write n bytes: whole lines, or part of a line that is too long, or whole blocks.  Return  0 or an errno */
typedef int t2x_write_fn(void *target, const char *text, size_t n);

struct t2x_out {
	char *pos;                    /* next free byte */
	char *end;                    /* behind the buffer */
	char *line;                   /* where the unfinished line begins; all lines before it are complete */
	char *buf;
	int fd;
	t2x_write_fn *write;          /* NULL: to fd */
	void *target;
	int in_blocks;                /* and not in lines */
	int in_whole_lines;           /* however long they are */
	int in_large_writes;
	int error;                    /* errno of the first failed write, or 0 */
	int broken_line;              /* the beginning of the line has been written already */
	char last;                    /* if so: the last byte that was written */
};

/* Output to a descriptor, to a function.  Return  0 or -ENOMEM */
int t2x_out_init(struct t2x_out *out, int fd);
int t2x_out_init_fn(struct t2x_out *out, t2x_write_fn *write, void *target);

/* Write in blocks.  Call it before anything is written. */
void t2x_out_in_blocks(struct t2x_out *out);

/*
 * Write up to 1 MiB at a time.  The kernel then caches the file in fewer, larger pieces: ext4 writes 5.2 GB/s instead
 * of 3.2.  A short text costs nothing more, since it fits into the first buffer.  Without memory the writes stay small.
 */
void t2x_out_in_large_writes(struct t2x_out *out);

/* Write in whole lines.  The buffer shrinks again at the next flush.  Not together with blocks. */
void t2x_out_in_whole_lines(struct t2x_out *out);

/* Write n bytes to a descriptor, with as many calls of write(2) as it takes.  Return  0 or an errno */
int t2x_out_write_all(int fd, const char *text, size_t n);

/* Free the buffer; what is in it is lost. */
void t2x_out_free(struct t2x_out *out);

/* Write all text, also an unfinished line.  Return  out->error */
int t2x_out_flush(struct t2x_out *out);

/* Write, if needed, until at least T2X_OUT_ROOM bytes are free. */
void t2x_out_make_room(struct t2x_out *out);

/* Append n bytes; n may be larger than the buffer. */
void t2x_out_long(struct t2x_out *out, const char *text, size_t n);

/* Append n times the byte c. */
void t2x_out_repeat(struct t2x_out *out, char c, size_t n);

/* Append a text with its control characters replaced by '?', so that it stays on its line. */
void t2x_out_in_line(struct t2x_out *out, const char *text);

void t2x_out_int(struct t2x_out *out, int64_t value);
void t2x_out_uint(struct t2x_out *out, uint64_t value);

/* Append seconds, as t2x_put_seconds_us() and t2x_put_seconds_ns() print them. */
void t2x_out_seconds_us(struct t2x_out *out, uint64_t us, unsigned width);
void t2x_out_seconds_ns(struct t2x_out *out, uint64_t ns);

/* Append a duration in seconds: if is_exact with nine decimals, else as t2x_out_seconds_ns() prints it. */
void t2x_out_duration(struct t2x_out *out, uint64_t ns, int is_exact);

/* Return  a position where n <= T2X_OUT_ROOM bytes are free; the caller moves out->pos behind what it wrote there */
static inline char *t2x_out_room(struct t2x_out *out, size_t n)
{
	if ((size_t)(out->end - out->pos) < n)
		t2x_out_make_room(out);
	return out->pos;
}

static inline void t2x_out_bytes(struct t2x_out *out, const char *text, size_t n)
{
	if ((size_t)(out->end - out->pos) < n) {
		t2x_out_long(out, text, n);
		return;
	}
	memcpy(out->pos, text, n);
	out->pos += n;
}

static inline void t2x_out_char(struct t2x_out *out, char c)
{
	*t2x_out_room(out, 1) = c;
	out->pos++;
}

static inline void t2x_out_string(struct t2x_out *out, const char *text)
{
	t2x_out_bytes(out, text, strlen(text));
}

/* End the line: append a newline, unless the line is empty or ends with one. */
static inline void t2x_out_end_line(struct t2x_out *out)
{
	char last = out->pos > out->line ? out->pos[-1] : out->broken_line ? out->last : '\n';

	if (last != '\n')
		t2x_out_char(out, '\n');
	out->line = out->pos;
	out->broken_line = 0;
}

/* The same for a line whose last byte is p[-1]; one byte at p is free. */
static inline void t2x_out_end_line_at(struct t2x_out *out, char *p)
{
	*p = '\n';
	p += p[-1] != '\n';
	out->pos = out->line = p;
	out->broken_line = 0;
}

#define t2x_out_literal(out, text) t2x_out_bytes((out), "" text, sizeof(text) - 1)

#endif
