/* SPDX-License-Identifier: MIT */
/*
 * tr2_text.h - short strings, put together piece by piece.
 *
 * snprintf() would do, but its first call costs a process that may last a millisecond 10 us of page faults, and a
 * signal handler must not call it.  What does not fit is cut off; the text always ends with a NUL.
 *
 * Thread  any    Signal safe
 */
#ifndef TR2_TEXT_H
#define TR2_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct tr2_text {
	char *at;                 /* the NUL that ends it so far */
	char *end;                /* last place for that */
};

/* An empty text in a buffer of size bytes, at least one. */
struct tr2_text tr2_text_begin(char *buffer, size_t size);

void tr2_text_add(struct tr2_text *text, const char *piece);

/* Numbers, with zeros in front up to width digits; width is at most 20. */
void tr2_text_decimal(struct tr2_text *text, uint64_t value, unsigned width);
void tr2_text_hex(struct tr2_text *text, uint64_t value, unsigned width);

/* 1 if they differ in the case of ASCII letters at most.  (strcasecmp() asks the locale, 3 us the first time.) */
int tr2_text_is(const char *text, const char *other);

/* The same of the beginning of text. */
int tr2_text_begins(const char *text, const char *beginning);

/*
 * What an error number means, in English: strerror() reads the catalogue of the program's language, on a descriptor
 * that the program may count on.  Signal safe
 */
const char *tr2_text_error(int error);

/*
 * The same as the program itself says it, in its language; in the buffer, or static.
 * Signal  as strerror_r()
 */
const char *tr2_text_error_as_said(int error, char *to, size_t size);

#endif
