/* SPDX-License-Identifier: MIT */
/* t2x_bytes.c - see t2x_bytes.h. */
#include "t2x_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 256 };

unsigned char *t2x_bytes_extend(struct t2x_bytes *bytes, size_t n)
{
	size_t max = bytes->max ? bytes->max : FIRST_BYTES;
	unsigned char *grown;

	while (max - bytes->n < n)
		max *= 2;
	if (max > bytes->max) {
		grown = realloc(bytes->bytes, max);
		if (!grown) {
			bytes->error = -ENOMEM;
			return NULL;
		}
		bytes->bytes = grown;
		bytes->max = max;
	}
	bytes->n += n;
	return bytes->bytes + bytes->n - n;
}

void t2x_bytes_put(struct t2x_bytes *bytes, const void *from, size_t n)
{
	unsigned char *p = n ? t2x_bytes_extend(bytes, n) : NULL;

	if (p)
		memcpy(p, from, n);
}

static void put_little(struct t2x_bytes *bytes, uint64_t value, unsigned n)
{
	unsigned char *p = t2x_bytes_extend(bytes, n);

	for (unsigned i = 0; p && i < n; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

void t2x_bytes_u32(struct t2x_bytes *bytes, uint32_t value)
{
	put_little(bytes, value, 4);
}

void t2x_bytes_u64(struct t2x_bytes *bytes, uint64_t value)
{
	put_little(bytes, value, 8);
}

void t2x_bytes_free(struct t2x_bytes *bytes)
{
	free(bytes->bytes);
	*bytes = (struct t2x_bytes){ .n = 0 };
}
