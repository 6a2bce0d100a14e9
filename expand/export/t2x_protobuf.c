/* SPDX-License-Identifier: MIT */
/* t2x_protobuf.c - see t2x_protobuf.h. */
#include "t2x_protobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_utf8.h"

enum { VARINT = 0, FIXED = 1, BYTES = 2 };                 /* wire types */
enum { FIRST_BYTES = 256, MAX_VARINT = 10, FIXED_BYTES = 8 };

/* Where n bytes may be put; the message has them.  Return  NULL: no memory */
static unsigned char *extend(struct t2x_protobuf *message, size_t n)
{
	size_t max = message->max ? message->max : FIRST_BYTES;
	unsigned char *grown;

	while (max - message->n < n)
		max *= 2;
	if (max > message->max) {
		grown = realloc(message->bytes, max);
		if (!grown) {
			message->error = -ENOMEM;
			return NULL;
		}
		message->bytes = grown;
		message->max = max;
	}
	message->n += n;
	return message->bytes + message->n - n;
}

void t2x_protobuf_packed(struct t2x_protobuf *values, uint64_t value)
{
	unsigned char *start = extend(values, MAX_VARINT), *p = start;

	if (!start)
		return;
	for (; value > 0x7f; value >>= 7)
		*p++ = (unsigned char)(value | 0x80);
	*p++ = (unsigned char)value;
	values->n -= MAX_VARINT - (size_t)(p - start);
}

static void put_key(struct t2x_protobuf *message, unsigned field, unsigned type)
{
	t2x_protobuf_packed(message, field << 3 | type);
}

void t2x_protobuf_each(struct t2x_protobuf *message, unsigned field, uint64_t value)
{
	put_key(message, field, VARINT);
	t2x_protobuf_packed(message, value);
}

void t2x_protobuf_uint(struct t2x_protobuf *message, unsigned field, uint64_t value)
{
	if (value)
		t2x_protobuf_each(message, field, value);
}

void t2x_protobuf_fixed(struct t2x_protobuf *message, unsigned field, uint64_t value)
{
	unsigned char *p;

	put_key(message, field, FIXED);
	p = extend(message, FIXED_BYTES);
	for (unsigned i = 0; p && i < FIXED_BYTES; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

static void put_bytes(struct t2x_protobuf *message, const void *bytes, size_t n)
{
	unsigned char *p = extend(message, n);

	if (p && n)
		memcpy(p, bytes, n);
}

void t2x_protobuf_bytes(struct t2x_protobuf *message, unsigned field, const void *bytes, size_t n)
{
	put_key(message, field, BYTES);
	t2x_protobuf_packed(message, n);
	put_bytes(message, bytes, n);
}

void t2x_protobuf_text(struct t2x_protobuf *message, unsigned field, const char *text, size_t n)
{
	struct t2x_protobuf clean = { .n = 0 };
	size_t valid = t2x_utf8_valid(text, n);

	if (valid == n) {
		t2x_protobuf_bytes(message, field, text, n);
		return;
	}
	for (; n; text += valid + 1, n -= valid + 1, valid = t2x_utf8_valid(text, n)) {
		put_bytes(&clean, text, valid);
		if (valid == n)
			break;
		put_bytes(&clean, "\xef\xbf\xbd", 3);
	}
	t2x_protobuf_message(message, field, &clean);
	t2x_protobuf_free(&clean);
}

void t2x_protobuf_message(struct t2x_protobuf *message, unsigned field, struct t2x_protobuf *inner)
{
	t2x_protobuf_bytes(message, field, inner->bytes, inner->n);
	if (inner->error)
		message->error = inner->error;
	inner->n = 0;
}

void t2x_protobuf_free(struct t2x_protobuf *message)
{
	free(message->bytes);
	*message = (struct t2x_protobuf){ .n = 0 };
}
