/* SPDX-License-Identifier: MIT */
/*
 * t2x_utf8.h - texts of a program for readers that insist on UTF-8: a byte that is none becomes U+FFFD.
 */
#ifndef T2X_UTF8_H
#define T2X_UTF8_H

#include "base/t2x_out.h"

/* How many bytes from the start are whole UTF-8 characters. */
size_t t2x_utf8_valid(const char *text, size_t n);

/* A text for the inside of a JSON string, with quotes around it. */
void t2x_utf8_json(struct t2x_out *out, const char *text, size_t n);

/* As it is, but for bytes that are no UTF-8. */
void t2x_utf8_text(struct t2x_out *out, const char *text, size_t n);

#endif
