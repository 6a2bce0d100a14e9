/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ring - the input is a ring file, which is large and has much in it that is zero: a sequence of the lines of 64
 * bytes that are not, each behind its number in the file, 4 bytes.  A first number that is odd: as of a living process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expanding.h"
#include "fuzz.h"
#include "t2x_salvage.h"

enum { LINE = 64, FILE_LINES = 1 << 20 };

/* What t2x_salvage_next() makes, as the blocks of an input. */
struct source {
	struct t2x_blocks blocks;       /* first: the address of the blocks is the source's */
	const struct t2x_ring *ring;
	struct t2x_salvage *salvage;
};

static int next_block(struct t2x_blocks *blocks, struct t2x_block *block)
{
	return t2x_salvage_next(((struct source *)blocks)->salvage, block);
}

static void expand(void *from, const struct t2x_writer *writer, struct t2x_out *out)
{
	struct source *source = from;

	source->salvage = t2x_salvage_new(source->ring);
	if (!source->salvage)
		abort();
	expanding_blocks(&source->blocks, next_block, writer, out);
	t2x_salvage_free(source->salvage);
}

static char g_path[64];

static void remove_file(void)
{
	unlink(g_path);
}

/* A file that is opened by its name: links are not followed. */
static int make_file(void)
{
	int fd;

	snprintf(g_path, sizeof(g_path), "/tmp/fuzz_ring.XXXXXX");
	fd = mkstemp(g_path);
	if (fd < 0)
		abort();
	atexit(remove_file);
	return fd;
}

/* Return  0: no line was written */
static int write_file(const uint8_t *bytes, size_t n)
{
	static int fd = -1;
	size_t at = 0;

	if (fd < 0)
		fd = make_file();
	if (ftruncate(fd, 0) || ftruncate(fd, (off_t)LINE * FILE_LINES))
		abort();
	for (; n - at >= 4 + LINE; at += 4 + LINE) {
		uint32_t line;

		memcpy(&line, bytes + at, 4);
		if (pwrite(fd, bytes + at + 4, LINE, (off_t)(line / 2 % FILE_LINES) * LINE) != LINE)
			abort();
	}
	return at != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct source source = { .ring = NULL };
	struct t2x_ring ring;

	if (!write_file(bytes, n) || t2x_ring_open(&ring, g_path, bytes[0] & 1))
		return 0;
	source.ring = &ring;
	fuzz_texts(expand, &source, bytes, n, FUZZ_ONE_FORMAT);
	t2x_ring_close(&ring);
	return 0;
}
