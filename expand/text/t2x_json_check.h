/* SPDX-License-Identifier: MIT */
/*
 * t2x_json_check.h - whether a text that a program gave as JSON is JSON.
 */
#ifndef T2X_JSON_CHECK_H
#define T2X_JSON_CHECK_H

#include <stddef.h>

enum { T2X_JSON_DEPTH = 200 };     /* arrays and objects within each other: what all readers take */

/*
 * Return  1: the text is one JSON value, with or without blanks around it, and not too deep.  Bytes above 0x7f
 * count as characters.
 */
int t2x_json_is_value(const char *text, size_t n);

#endif
