/* SPDX-License-Identifier: MIT */
/*
 * t2x_utf8.h - makes texts of a program valid UTF-8, for readers that require it: any other byte becomes U+FFFD.
 */
#ifndef T2X_UTF8_H
#define T2X_UTF8_H

#include "base/t2x_out.h"

/* Return  how many bytes from the start are whole UTF-8 characters */
size_t t2x_utf8_valid(const char *text, size_t n);

/* Append a text as a JSON string, with quotes. */
void t2x_utf8_json(struct t2x_out *out, const char *text, size_t n);

/* Append a text as it is, except bytes that are not UTF-8. */
void t2x_utf8_text(struct t2x_out *out, const char *text, size_t n);

#endif
