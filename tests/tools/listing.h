/* SPDX-License-Identifier: MIT */
/*
 * listing.h - for tests: what --format=xml and --format=raw make of some bytes.
 */
#ifndef LISTING_H
#define LISTING_H

#include "read/t2x_blocks.h"

/* The XML, NUL-terminated, or the raw bytes; to be freed.  layout: NULL, or a foreign one */
char *listing_xml(const void *bytes, size_t n, const struct t2x_layout *layout);
unsigned char *listing_raw(const void *bytes, size_t n, const struct t2x_layout *layout, size_t *raw_bytes);

/* A whole file, NUL-terminated; to be freed. */
char *listing_read(const char *path);

#endif
