/* SPDX-License-Identifier: MIT */
/*
 * wellformed.h - for tests: whether a text of t2expand is what it promises to be, whatever it was made from.
 *
 * Written apart from the code under test: other algorithms, or somebody else's.  Each function returns NULL, or
 * what is wrong.
 */
#ifndef WELLFORMED_H
#define WELLFORMED_H

#include <stddef.h>

/* Lines, each a JSON object.  Bytes above 0x7f count as characters. */
const char *wellformed_json_document(const char *text, size_t n);   /* one value */
const char *wellformed_json(const char *text, size_t n);

/* XML elements, together with a root around them a document. */
const char *wellformed_xml(const char *text, size_t n);

/* UTF-8 without control characters but newlines, and without those that change the direction of writing. */
const char *wellformed_screen(const char *text, size_t n);

/* Lines: the last one ends, too. */
const char *wellformed_lines(const char *text, size_t n);

#endif
