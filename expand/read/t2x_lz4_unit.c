/* SPDX-License-Identifier: MIT */
/* t2x_lz4_unit.c - see t2x_lz4_unit.h. */
#include "t2x_lz4_unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "t2x_lz4.h"

enum { MAX_FRAME = T2X_LZ4_MARK_BYTES + TLG_FRAME_BYTES + 64 };   /* of ours, stored; compressed not longer */

/* The offset of the flags in a frame's header, the flags, and the bytes of a header that has the content's size */
enum {
	HEADER_FLAGS = 4, HAS_CONTENT_SIZE = 8, HAS_BLOCK_CHECKSUMS = 16, HAS_CHECKSUM = 4, HAS_DICTIONARY = 1,
	HEADER_BYTES = 7 + 8
};

static uint32_t load_le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Return  0 or -1 */
static int read_step(struct t2x_lz4_steps *steps, uint64_t offset)
{
	ssize_t got;

	do
		got = pread(steps->fd, steps->bytes, sizeof(steps->bytes), (off_t)offset);
	while (got < 0 && errno == EINTR);
	steps->at = offset;
	steps->n = got > 0 ? (size_t)got : 0;
	return got < 0 ? -1 : 0;
}

/* Return  1: these bytes are in memory already, or the file is known to end before them */
static int is_at_hand(const struct t2x_lz4_steps *steps, uint64_t offset, size_t n)
{
	if (offset < steps->at || offset > steps->at + steps->n)
		return 0;
	return offset + n <= steps->at + steps->n || (steps->n && steps->n < sizeof(steps->bytes));
}

/* Copy n bytes at an offset of the file.  Return  how many, fewer than n at its end; -1: an error */
static ssize_t read_at(struct t2x_lz4_steps *steps, uint64_t offset, unsigned char *to, size_t n)
{
	size_t there;

	if (!is_at_hand(steps, offset, n) && read_step(steps, offset))
		return -1;
	there = steps->n - (size_t)(offset - steps->at);
	if (n > there)
		n = there;
	memcpy(to, steps->bytes + (offset - steps->at), n);
	return (ssize_t)n;
}

int t2x_lz4_is_end(struct t2x_lz4_steps *steps, uint64_t offset)
{
	unsigned char byte;

	return !read_at(steps, offset, &byte, 1);
}

/* Skip the blocks of a frame, the first of which begins at *offset.  Return  as t2x_lz4_unit_at() */
static int skip_blocks(struct t2x_lz4_steps *steps, uint64_t *offset, unsigned flags)
{
	const unsigned checksum = flags & HAS_BLOCK_CHECKSUMS ? 4 : 0;
	uint64_t begun = *offset;
	unsigned char word[4];

	for (;;) {
		ssize_t n = read_at(steps, *offset, word, sizeof(word));
		uint32_t size = load_le32(word) & 0x7fffffff;
		if (n != sizeof(word))
			return n < 0 ? -1 : 0;
		*offset += sizeof(word);
		if (!size)
			break;
		*offset += size + checksum;
		if (*offset - begun > MAX_FRAME)
			return -1;
	}
	*offset += flags & HAS_CHECKSUM ? 4 : 0;
	return 1;
}

int t2x_lz4_unit_at(struct t2x_lz4_steps *steps, uint64_t offset, struct t2x_lz4_unit *unit)
{
	unsigned char head[T2X_LZ4_MARK_BYTES + HEADER_BYTES];
	const unsigned char *frame = head + T2X_LZ4_MARK_BYTES;
	ssize_t n = read_at(steps, offset, head, sizeof(head));
	uint64_t at = offset + sizeof(head);
	int result;

	if (n < 0 || (n >= T2X_LZ4_MARK_BYTES && !t2x_lz4_is_mark(head, (size_t)n)))
		return -1;
	if ((size_t)n < sizeof(head))
		return 0;
	if (load_le32(frame) != T2X_LZ4_FRAME_MAGIC || !(frame[HEADER_FLAGS] & HAS_CONTENT_SIZE) ||
	    frame[HEADER_FLAGS] & HAS_DICTIONARY)
		return -1;
	result = skip_blocks(steps, &at, frame[HEADER_FLAGS]);
	*unit = (struct t2x_lz4_unit){ load_le32(head + 8), at - offset, load_le32(head + 16) };
	return result;
}
