/* SPDX-License-Identifier: MIT */
/*
 * t2x_out.h - buffered output to a file descriptor, or to a function.
 *
 * Text is put together in one large buffer, and written in one of four ways:
 *   in lines         each write ends with a line, and has 64 KiB or less; a line longer than the buffer is cut
 *   in large writes  the same, with up to 1 MiB a write: for regular files
 *   in whole lines   no line is cut, the buffer grows: for files to which others write, too
 *   in blocks        each write has T2X_OUT_BLOCK bytes: for what takes text apart again
 * Errors are sticky: the first errno stays in error, what is written later is dropped, and no call here fails.  EPIPE
 * is an error like any other, for the owner to be quiet about.  One thread; the descriptor stays the caller's.
 */
#ifndef T2X_OUT_H
#define T2X_OUT_H

#include <stddef.h>

#include "t2x_digits.h"

enum {
	T2X_OUT_BLOCK = 64 * 1024,
	T2X_OUT_ROOM = 4096,          /* the most that t2x_out_room() can promise */
	T2X_OUT_BYTES = T2X_OUT_BLOCK + T2X_OUT_ROOM,   /* of the buffer */
	T2X_OUT_LARGE = 1024 * 1024,  /* of the buffer for large writes, when it is full for the first time */
};

/* Write n bytes: whole lines, or part of one that is too long; or whole blocks.  Return  0 or an errno */
typedef int t2x_write_fn(void *target, const char *text, size_t n);

struct t2x_out {
	char *pos;                    /* next free byte */
	char *end;                    /* behind the buffer */
	char *line;                   /* where the line being written begins; all before it are complete */
	char *buf;
	int fd;
	t2x_write_fn *write;          /* NULL: to fd */
	void *target;
	int in_blocks;                /* and not in lines */
	int in_whole_lines;           /* however long they are */
	int in_large_writes;
	int error;                    /* errno of the first failed write, or 0 */
	int broken_line;              /* the beginning of the line has left the buffer already */
	char last;                    /* if so: the last byte that left */
};

/* Output to a descriptor, to a function.  Return  0 or -ENOMEM */
int t2x_out_init(struct t2x_out *out, int fd);
int t2x_out_init_fn(struct t2x_out *out, t2x_write_fn *write, void *target);

/* Write in blocks.  Call it before anything is written. */
void t2x_out_in_blocks(struct t2x_out *out);

/*
 * Write up to 1 MiB at a time.  The kernel then caches the file in few large pieces: ext4 takes 5.2 GB/s instead of
 * 3.2.  A short text fits the first buffer and costs what it costs without.  Without memory the writes stay small.
 */
void t2x_out_in_large_writes(struct t2x_out *out);

/* Write in whole lines.  The buffer shrinks again at the next flush.  Not together with blocks. */
void t2x_out_in_whole_lines(struct t2x_out *out);

/* Write n bytes to a descriptor, in as many goes as it takes.  Return  0 or an errno */
int t2x_out_write_all(int fd, const char *text, size_t n);

/* Free the buffer; what is in it is lost. */
void t2x_out_free(struct t2x_out *out);

/* Write out all that is there, a line without end included.  Return  out->error */
int t2x_out_flush(struct t2x_out *out);

/* Make at least T2X_OUT_ROOM bytes free.  Blocks  for the write */
void t2x_out_make_room(struct t2x_out *out);

/* Append n bytes, any number of them. */
void t2x_out_long(struct t2x_out *out, const char *text, size_t n);

/* Append n times the byte c. */
void t2x_out_repeat(struct t2x_out *out, char c, size_t n);

/* Append a text that is to stay on its line: its control characters become ?. */
void t2x_out_in_line(struct t2x_out *out, const char *text);

void t2x_out_int(struct t2x_out *out, int64_t value);
void t2x_out_uint(struct t2x_out *out, uint64_t value);

/* Append seconds, as t2x_put_seconds_us() and t2x_put_seconds_ns() print them. */
void t2x_out_seconds_us(struct t2x_out *out, uint64_t us, unsigned width);
void t2x_out_seconds_ns(struct t2x_out *out, uint64_t ns);

/* A duration in seconds: with nine decimals if it is to be exact, else as t2x_out_seconds_ns() prints it. */
void t2x_out_duration(struct t2x_out *out, uint64_t ns, int is_exact);

/* n <= T2X_OUT_ROOM bytes at the returned position; the caller moves out->pos behind what it has filled. */
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

/* End the line: a newline, unless there is one already or nothing at all. */
static inline void t2x_out_end_line(struct t2x_out *out)
{
	char last = out->pos > out->line ? out->pos[-1] : out->broken_line ? out->last : '\n';

	if (last != '\n')
		t2x_out_char(out, '\n');
	out->line = out->pos;
	out->broken_line = 0;
}

/* The same for a line of which the last byte is that before p, where one is free. */
static inline void t2x_out_end_line_at(struct t2x_out *out, char *p)
{
	*p = '\n';
	p += p[-1] != '\n';
	out->pos = out->line = p;
	out->broken_line = 0;
}

#define t2x_out_literal(out, text) t2x_out_bytes((out), "" text, sizeof(text) - 1)

#endif
