/* SPDX-License-Identifier: MIT */
/*
 * t2x_escape.h - text from a file made harmless for a terminal.
 *
 * What can make a terminal do or show something else than the text - control characters (C0 but the newline,
 * DEL, C1), those that turn the direction of writing, bytes that are no UTF-8 - becomes \xNN, byte by byte.
 * All other characters, the backslash too, stay as they are.  The text may come in pieces that end
 * anywhere.
 */
#ifndef T2X_ESCAPE_H
#define T2X_ESCAPE_H

#include <stddef.h>

struct t2x_escape {
	void (*put)(void *to, const char *text, size_t n);   /* takes what has become of the text */
	void *to;
	int is_json;                   /* the text is JSON: \\xNN, so that it stays JSON */
	int is_line;                   /* the text is part of a line: the newline is escaped, too */
	unsigned char held[4];         /* the beginning of a character that may go on in the next piece */
	unsigned nheld;
};

/* n bytes of the text.  put, to and the kind are set, the rest was zero before the first piece. */
void t2x_escape_text(struct t2x_escape *escape, const char *text, size_t n);

/* The text is complete: what is held is no character. */
void t2x_escape_end(struct t2x_escape *escape);

#endif
