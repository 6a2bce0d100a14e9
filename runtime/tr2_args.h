/* SPDX-License-Identifier: MIT */
/*
 * tr2_args.h - what a checkpoint carries besides its time and place: values, and texts one behind the other.
 *
 * The caller describes the arguments; nothing is formatted, nothing allocated, and texts are only pointed to.  What is
 * recorded are the values in their order, and behind them all texts without a gap: a text argument's value says how
 * many of the bytes are its own.
 */
#ifndef TR2_ARGS_H
#define TR2_ARGS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tlg.h"

/* An argument with a VALUE of its own. */
struct tr2_value {
	int64_t value;            /* an integer, the bits of a double, the length of a text */
	uint32_t type;            /* TLG_ARG_* */
};

/* Bytes of text: an argument's, or a piece of them. */
struct tr2_piece {
	const char *bytes;
	size_t count;
};

enum {
	TR2_ARGS_VALUES = 16 + 7, /* 7 more when the scope travels along */
	TR2_ARGS_TEXTS = 16 + 4 + 2,   /* 4 more then; a text whose password is hidden has three pieces */
};

/* All arguments of a checkpoint: the fixed ones, then a list of texts or a last text without a VALUE. */
struct tr2_args {
	struct tr2_value value[TR2_ARGS_VALUES];
	struct tr2_piece text[TR2_ARGS_TEXTS];
	unsigned nvalues, ntexts;
	size_t bytes;             /* of all texts but the list's */
	const char *const *list;  /* NULL or NULL-terminated */
	unsigned nlist;
	int redact;               /* hide passwords in the list's texts */
	char room[128];           /* for a text that has to be made up */
};

/* No arguments yet.  (An initializer would clear a kilobyte: 10 ns.) */
static inline void tr2_args_init(struct tr2_args *args)
{
	args->nvalues = 0;
	args->ntexts = 0;
	args->bytes = 0;
	args->list = NULL;
	args->nlist = 0;
	args->redact = 0;
}

/* Append an argument that is no text. */
static inline void tr2_args_add(struct tr2_args *args, uint32_t type, int64_t value)
{
	struct tr2_value *to = &args->value[args->nvalues++];

	to->value = value;
	to->type = type;
}

/* Append bytes to the texts. */
static inline void tr2_args_append(struct tr2_args *args, const char *bytes, size_t count)
{
	struct tr2_piece *to = &args->text[args->ntexts++];

	to->bytes = bytes;
	to->count = count;
	args->bytes += count;
}

/* Append an argument that is a text of so many bytes. */
static inline void tr2_args_bytes(struct tr2_args *args, const char *bytes, size_t count)
{
	tr2_args_add(args, TLG_ARG_TEXT, (int64_t)count);
	tr2_args_append(args, bytes, count);
}

/* Append an argument of a common kind.  A null text is recorded as such. */
static inline void tr2_args_int(struct tr2_args *args, int64_t value)
{
	tr2_args_add(args, TLG_ARG_INT, value);
}

static inline void tr2_args_uint(struct tr2_args *args, uint64_t value)
{
	tr2_args_add(args, TLG_ARG_UINT, (int64_t)value);
}

static inline void tr2_args_text(struct tr2_args *args, const char *text)
{
	if (text)
		tr2_args_bytes(args, text, strlen(text));
	else
		tr2_args_add(args, TLG_ARG_NULL, 0);
}

/* The last text.  NULL is allowed. */
static inline void tr2_args_last(struct tr2_args *args, const char *text)
{
	if (text)
		tr2_args_append(args, text, strlen(text));
}

/* A text whose password, if it has one, is hidden when the settings say so. */
void tr2_args_redacted(struct tr2_args *args, const char *text);

/* The list.  NULL is allowed. */
void tr2_args_list(struct tr2_args *args, const char *const *list, int redact);

/*
 * The pieces of a text: itself, or, if redact and the settings say so, what is around its password, and in between
 * that it was hidden.
 * Return  how many pieces
 */
unsigned tr2_args_split(const char *text, int redact, struct tr2_piece pieces[3]);

/* The bytes of these pieces. */
size_t tr2_args_sum(const struct tr2_piece *pieces, unsigned count);

#endif
