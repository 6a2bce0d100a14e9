/* SPDX-License-Identifier: MIT */
/*
 * wellformed.h - for tests: checks whether a text of t2expand is well-formed, whatever the input was.
 *
 * The checks share no code with the code under test: they use other algorithms, or those of others.  Each function
 * returns NULL, or what is wrong.
 */
#ifndef WELLFORMED_H
#define WELLFORMED_H

#include <stddef.h>

/* Lines, each a JSON object.  Bytes above 0x7f count as characters. */
const char *wellformed_json_document(const char *text, size_t n);   /* one value */
const char *wellformed_json(const char *text, size_t n);

/* XML elements, which are a document if a root is put around them. */
const char *wellformed_xml(const char *text, size_t n);

/* UTF-8 without control characters, except newlines, and without characters that change the direction of writing. */
const char *wellformed_screen(const char *text, size_t n);

/* Lines, of which the last one ends, too. */
const char *wellformed_lines(const char *text, size_t n);

#endif
