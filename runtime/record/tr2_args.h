/* SPDX-License-Identifier: MIT */
/*
 * tr2_args.h - what a checkpoint carries besides its time and place: values, and strings one behind the other.
 *
 * The caller describes the arguments.  These functions format and allocate nothing, and only point to strings.  The
 * ring gets the values in their order, then the bytes of all strings without a gap: a string's value is its length.
 */
#ifndef TR2_ARGS_H
#define TR2_ARGS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tlg.h"

/* An argument with a VALUE of its own. */
struct tr2_value {
	int64_t value;            /* an integer, the bits of a double, the length of a string */
	uint32_t type;            /* TLG_ARG_* */
};

/* Bytes of a string: an argument's, or a part of them. */
struct tr2_piece {
	const char *bytes;
	size_t count;
};

enum {
	TR2_ARGS_VALUES = 16 + 7, /* 7 more when the scope travels along */
	TR2_ARGS_PIECES = 16 + 4 + 2,   /* 4 more then; a string with a hidden password has three */
};

/* Their buffers, and one for a string that is made here. */
struct tr2_room {
	struct tr2_value values[TR2_ARGS_VALUES];
	struct tr2_piece pieces[TR2_ARGS_PIECES];
	char text[128];
};

/* What is recorded, in this order.  It does not contain its buffers, so that a compiler keeps it in registers. */
struct tr2_body {
	struct tr2_value *values, *values_end;
	struct tr2_piece *pieces, *pieces_end;
	size_t bytes;             /* of all pieces */
};

/* All arguments of a checkpoint: the fixed ones, then a list of strings, or a last one without a VALUE.  Not copied. */
struct tr2_args {
	struct tr2_body body;
	const char *const *list;  /* NULL or NULL-terminated */
	unsigned nlist;
	int redact;               /* hide passwords in the list's strings */
	struct tr2_room room;
};

static inline struct tr2_body tr2_body_in(struct tr2_room *room)
{
	return (struct tr2_body){ room->values, room->values, room->pieces, room->pieces, 0 };
}

/* No arguments yet.  (An initializer would clear a kilobyte: 10 ns.) */
static inline void tr2_args_init(struct tr2_args *args)
{
	args->body = tr2_body_in(&args->room);
	args->list = NULL;
	args->nlist = 0;
	args->redact = 0;
}

/* Append an argument that is no string. */
static inline void tr2_body_add(struct tr2_body *body, uint32_t type, int64_t value)
{
	*body->values_end++ = (struct tr2_value){ value, type };
}

/* Append bytes to the strings. */
static inline void tr2_body_append(struct tr2_body *body, const char *bytes, size_t count)
{
	*body->pieces_end++ = (struct tr2_piece){ bytes, count };
	body->bytes += count;
}

/* Append an argument of a common kind.  A null string is recorded as such. */
static inline void tr2_args_int(struct tr2_args *args, int64_t value)
{
	tr2_body_add(&args->body, TLG_ARG_INT, value);
}

static inline void tr2_args_uint(struct tr2_args *args, uint64_t value)
{
	tr2_body_add(&args->body, TLG_ARG_UINT, (int64_t)value);
}

static inline void tr2_args_text(struct tr2_args *args, const char *text)
{
	size_t count = text ? strlen(text) : 0;

	tr2_body_add(&args->body, text ? TLG_ARG_TEXT : TLG_ARG_NULL, (int64_t)count);
	if (text)
		tr2_body_append(&args->body, text, count);
}

/* The last string.  NULL is allowed. */
static inline void tr2_args_last(struct tr2_args *args, const char *text)
{
	if (text)
		tr2_body_append(&args->body, text, strlen(text));
}

/* A string whose password, if it has one, is hidden when the settings say so. */
void tr2_args_redacted(struct tr2_args *args, const char *text);

/* The list.  NULL is allowed. */
void tr2_args_list(struct tr2_args *args, const char *const *list, int redact);

/*
 * The pieces of a string.  If redact and the settings ask for it, a fixed text replaces its password.
 * Return  how many pieces
 */
unsigned tr2_args_split(const char *text, int redact, struct tr2_piece pieces[3]);

/* The bytes of these pieces. */
size_t tr2_args_sum(const struct tr2_piece *pieces, unsigned count);

#endif
