/* SPDX-License-Identifier: MIT */
/* t2x_html_block.c - see t2x_html_block.h. */
#include "t2x_html_block.h"

#include "profile/t2x_deflate.h"
#include "base/t2x_memory.h"

enum { LEVEL = 4 };               /* a tenth larger than the best, in half of its time */

struct t2x_html_block {
	struct t2x_out *out;
	struct t2x_deflate *deflate;
};

/* Three bytes as four letters; of the last ones n may be less. */
static void put_group(char *to, const unsigned char *bytes, size_t n)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned word = (unsigned)bytes[0] << 16;

	if (n > 1)
		word |= (unsigned)bytes[1] << 8;
	if (n > 2)
		word |= bytes[2];
	to[0] = letters[word >> 18];
	to[1] = letters[word >> 12 & 63];
	to[2] = n > 1 ? letters[word >> 6 & 63] : '=';
	to[3] = n > 2 ? letters[word & 63] : '=';
}

/* What is deflated, as base64: three bytes become four, but for the last ones. */
static int write_base64(void *target, const char *text, size_t n)
{
	struct t2x_out *out = target;
	const unsigned char *from = (const unsigned char *)text;

	while (n) {
		size_t part = n < T2X_OUT_ROOM / 4 * 3 ? n : T2X_OUT_ROOM / 4 * 3;
		char *to = t2x_out_room(out, T2X_OUT_ROOM);

		for (size_t i = 0; i < part; i += 3, to += 4)
			put_group(to, from + i, part - i);
		out->pos = to;
		from += part;
		n -= part;
	}
	return 0;
}

struct t2x_html_block *t2x_html_block_new(struct t2x_out *out)
{
	struct t2x_html_block *block = t2x_calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->out = out;
	block->deflate = t2x_deflate_new(T2X_DEFLATE_ZLIB, LEVEL, write_base64, out);
	if (!block->deflate) {
		t2x_free(block);
		return NULL;
	}
	return block;
}

void t2x_html_block_free(struct t2x_html_block *block)
{
	if (block)
		t2x_deflate_free(block->deflate);
	t2x_free(block);
}

void t2x_html_block_begin(struct t2x_html_block *block, const char *kind)
{
	t2x_out_literal(block->out, "<script type=\"t2/");
	t2x_out_string(block->out, kind);
	t2x_out_literal(block->out, "\">");
}

void t2x_html_block_put(struct t2x_html_block *block, const void *bytes, size_t n)
{
	t2x_deflate_put(block->deflate, bytes, n);
}

void t2x_html_block_end(struct t2x_html_block *block)
{
	t2x_deflate_end(block->deflate);
	t2x_out_literal(block->out, "</script>\n");
	block->out->line = block->out->pos;
}
