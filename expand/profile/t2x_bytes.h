/* SPDX-License-Identifier: MIT */
/*
 * t2x_bytes.h - bytes in memory that grow: what has to be complete before its length can be written in front of it.
 * Errors are sticky: without memory nothing is added, and error says so.
 */
#ifndef T2X_BYTES_H
#define T2X_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
struct t2x_bytes {
	unsigned char *bytes;
	size_t n, max;
	int error;                        /* 0 or -ENOMEM */
};

/* n bytes more, which the caller fills.  Return  NULL: no memory */
unsigned char *t2x_bytes_extend(struct t2x_bytes *bytes, size_t n);

void t2x_bytes_put(struct t2x_bytes *bytes, const void *from, size_t n);

/* Little-endian numbers. */
void t2x_bytes_u32(struct t2x_bytes *bytes, uint32_t value);
void t2x_bytes_u64(struct t2x_bytes *bytes, uint64_t value);

void t2x_bytes_free(struct t2x_bytes *bytes);

#endif
