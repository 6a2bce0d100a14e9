/* SPDX-License-Identifier: MIT */
/*
 * t2x_escape.h - makes text from a file harmless for a terminal.
 *
 * Some bytes can make a terminal do or show something else than the text: control characters (C0 except the newline,
 * DEL, C1), characters that change the direction of writing, and bytes that are not UTF-8.  Each of these bytes becomes
 * \xNN.  All other characters, the backslash too, stay as they are.  The text may come in pieces, which may end inside
 * of a character.
 */
#ifndef T2X_ESCAPE_H
#define T2X_ESCAPE_H

#include <stddef.h>

struct t2x_escape {
	void (*put)(void *to, const char *text, size_t n);   /* receives the escaped text */
	void *to;
	int is_json;                   /* the text is JSON: \\xNN, so that it stays JSON */
	int is_line;                   /* the text is part of a line: the newline is escaped, too */
	unsigned char partial[4];      /* the beginning of a character that may continue in the next piece */
	unsigned npartial;
};

/* Escape the next n bytes.  The caller sets put, to and the flags; all else is zero before the first piece. */
void t2x_escape_text(struct t2x_escape *escape, const char *text, size_t n);

/* The text is complete: a character that is still partial is none, so its bytes are escaped. */
void t2x_escape_end(struct t2x_escape *escape);

#endif
