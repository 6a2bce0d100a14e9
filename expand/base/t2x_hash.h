/* SPDX-License-Identifier: MIT */
/*
 * t2x_hash.h - a hash of texts.
 *
 * The texts come from files.  Whoever makes a file could choose texts that collide if he knew where the hash begins, so
 * it begins at another number in each run.  Nothing that is printed or written may depend on it.
 */
#ifndef T2X_HASH_H
#define T2X_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Where the hashes of a table begin: its address, which the kernel chooses. */
static inline uint32_t t2x_hash_seed(const void *table)
{
	return (uint32_t)((uintptr_t)table >> 12) ^ UINT32_C(2166136261);
}

static inline uint32_t t2x_hash(uint32_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * UINT32_C(16777619);
	return hash;
}

#endif
