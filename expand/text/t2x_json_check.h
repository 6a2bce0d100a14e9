/* SPDX-License-Identifier: MIT */
/*
 * t2x_json_check.h - checks whether a text that a program passed as JSON is JSON.
 */
#ifndef T2X_JSON_CHECK_H
#define T2X_JSON_CHECK_H

#include <stddef.h>

enum { T2X_JSON_DEPTH = 200 };     /* nesting of arrays and objects that every JSON reader accepts */

/*
 * Return  1: the text is one JSON value, with or without blanks around it, and not nested too deep.  Bytes above 0x7f
 * count as characters.
 */
int t2x_json_is_value(const char *text, size_t n);

#endif
