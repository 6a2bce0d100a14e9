/* SPDX-License-Identifier: MIT */
/*
 * t2x_json_scan.h - scans JSON text as git writes it, without a copy: members of an object, values of an array.
 *
 * A library would not do.  The text of a nested document must survive byte by byte, blanks included, and so must bytes
 * that are not UTF-8, which git prints as they are.  Control characters in strings are accepted for the same reason.
 * All text is untrusted.  Nothing here allocates memory or recurses.
 */
#ifndef T2X_JSON_SCAN_H
#define T2X_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>

enum t2x_json_type {
	T2X_JSON_STRING, T2X_JSON_NUMBER, T2X_JSON_TRUE, T2X_JSON_FALSE, T2X_JSON_NULL, T2X_JSON_ARRAY, T2X_JSON_OBJECT,
};

/* A value as it stands in the text.  A string is without its quotes, and still has its escapes. */
struct t2x_json_item {
	enum t2x_json_type type;
	const char *text;
	size_t length;
};

/* Nested documents may be so deep. */
enum { T2X_JSON_DEPTH = 64 };

/* Scan one value at p, which has no blanks in front.  Return  the byte behind it; NULL: it is not JSON */
const char *t2x_json_scan(const char *p, const char *end, struct t2x_json_item *item);

/*
 * Walk through the members of an object, or the values of an array (key: NULL), from its text[1] on.
 * Return  the byte behind the value; NULL: there is no other one, or the text is not JSON, which *is_bad tells
 */
const char *t2x_json_next(const char *p, const char *end, struct t2x_json_item *key, struct t2x_json_item *value,
			  int *is_bad);

/*
 * Undo the escapes of a string.  \u0000 and half a surrogate pair become U+FFFD.
 * to      item->length bytes    Return  bytes written
 */
size_t t2x_json_unescape(char *to, const struct t2x_json_item *item);

/* Return  1: the item is an integer of 64 bits, as git prints them, also above 2^63 */
int t2x_json_integer(const struct t2x_json_item *item, int64_t *value);

/*
 * A decimal number of seconds, as millionths; digits behind these are cut off.  Return  0: it is none, or too large.
 */
int t2x_json_microseconds(const struct t2x_json_item *item, int64_t *us);

#endif
