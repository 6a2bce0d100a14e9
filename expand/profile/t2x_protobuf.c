/* SPDX-License-Identifier: MIT */
/* t2x_protobuf.c - see t2x_protobuf.h. */
#include "t2x_protobuf.h"

#include "text/t2x_utf8.h"

enum { VARINT = 0, FIXED = 1, BYTES = 2 };                 /* wire types */
enum { MAX_VARINT = 10 };

void t2x_protobuf_packed(struct t2x_bytes *values, uint64_t value)
{
	unsigned char *start = t2x_bytes_extend(values, MAX_VARINT), *p = start;

	if (!start)
		return;
	for (; value > 0x7f; value >>= 7)
		*p++ = (unsigned char)(value | 0x80);
	*p++ = (unsigned char)value;
	values->n -= MAX_VARINT - (size_t)(p - start);
}

static void put_key(struct t2x_bytes *message, unsigned field, unsigned type)
{
	t2x_protobuf_packed(message, field << 3 | type);
}

void t2x_protobuf_each(struct t2x_bytes *message, unsigned field, uint64_t value)
{
	put_key(message, field, VARINT);
	t2x_protobuf_packed(message, value);
}

void t2x_protobuf_uint(struct t2x_bytes *message, unsigned field, uint64_t value)
{
	if (value)
		t2x_protobuf_each(message, field, value);
}

void t2x_protobuf_fixed(struct t2x_bytes *message, unsigned field, uint64_t value)
{
	put_key(message, field, FIXED);
	t2x_bytes_u64(message, value);
}

void t2x_protobuf_bytes(struct t2x_bytes *message, unsigned field, const void *bytes, size_t n)
{
	put_key(message, field, BYTES);
	t2x_protobuf_packed(message, n);
	t2x_bytes_put(message, bytes, n);
}

void t2x_protobuf_text(struct t2x_bytes *message, unsigned field, const char *text, size_t n)
{
	struct t2x_bytes clean = { .n = 0 };
	size_t valid = t2x_utf8_valid(text, n);

	if (valid == n) {
		t2x_protobuf_bytes(message, field, text, n);
		return;
	}
	for (; n; text += valid + 1, n -= valid + 1, valid = t2x_utf8_valid(text, n)) {
		t2x_bytes_put(&clean, text, valid);
		if (valid == n)
			break;
		t2x_bytes_put(&clean, "\xef\xbf\xbd", 3);
	}
	t2x_protobuf_message(message, field, &clean);
	t2x_bytes_free(&clean);
}

void t2x_protobuf_message(struct t2x_bytes *message, unsigned field, struct t2x_bytes *inner)
{
	t2x_protobuf_bytes(message, field, inner->bytes, inner->n);
	if (inner->error)
		message->error = inner->error;
	inner->n = 0;
}
