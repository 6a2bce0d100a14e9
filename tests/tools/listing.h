/* SPDX-License-Identifier: MIT */
/*
 * listing.h - for tests: expands bytes with --format=xml and --format=raw.
 */
#ifndef LISTING_H
#define LISTING_H

#include "read/t2x_blocks.h"

/* Return  the XML, NUL-terminated, or the raw bytes; the caller frees them.  layout: NULL, or a foreign one */
char *listing_xml(const void *bytes, size_t n, const struct t2x_layout *layout);
unsigned char *listing_raw(const void *bytes, size_t n, const struct t2x_layout *layout, size_t *raw_bytes);

/* Return  a whole file, NUL-terminated; the caller frees it */
char *listing_read(const char *path);

#endif
