/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ring - the input describes a ring file, which is large and mostly zero: it has the lines of 64 bytes that are
 * not zero, each behind the 4 bytes of its number.  If the first number is odd, the ring file is that of a living
 * process.  Behind the number JOINED comes the .tlg file that the ring file continues.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expanding.h"
#include "fuzz.h"
#include "recover/t2x_join.h"

enum {
	LINE = 64, RECORD = 4 + LINE,
	FILE_LINES = 1 << 24,           /* a gigabyte: more than a ring file is long */
	MAX_LINES = 1024,
	KEPT_PAGES = 2048,              /* about, of the file */
	MAX_TLG = 65536,
};
#define JOINED UINT32_MAX

static uint32_t load_number(const uint8_t *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

/* ---- the ring file ------------------------------------------------------------------------------ */

/* The file, in memory: it has only the lines of the latest input. */
static struct {
	int fd;
	uint32_t lines[MAX_LINES];
	unsigned nlines;
} g_file = { .fd = -1 };

static void write_line(uint32_t line, const uint8_t *bytes)
{
	if (pwrite(g_file.fd, bytes, LINE, (off_t)line * LINE) != LINE)
		abort();
}

/* Clear the lines of the latest input, so that they read as if never written.  Now and then release their memory. */
static void clear_file(void)
{
	static const uint8_t empty[LINE];
	static unsigned written = KEPT_PAGES;

	written += g_file.nlines;
	if (g_file.fd < 0)
		g_file.fd = memfd_create("ring", MFD_CLOEXEC);
	if (written >= KEPT_PAGES) {
		if (g_file.fd < 0 || ftruncate(g_file.fd, 0))
			abort();
		written = g_file.nlines = 0;
	}
	while (g_file.nlines)
		write_line(g_file.lines[--g_file.nlines], empty);
}

/* Return  the bytes of the lines, up to JOINED or an incomplete line */
static size_t lines_of(const uint8_t *bytes, size_t n)
{
	size_t at = 0;

	while (n - at >= RECORD && at < MAX_LINES * RECORD && load_number(bytes + at) != JOINED)
		at += RECORD;
	return at;
}

/* Write the lines, and let the file end behind the last one: zeros behind it would take long to read. */
static void write_file(const uint8_t *bytes, size_t n)
{
	uint32_t end = 0;

	clear_file();
	for (size_t at = 0; at < n; at += RECORD) {
		uint32_t line = load_number(bytes + at) / 2 % FILE_LINES;

		write_line(line, bytes + at + 4);
		g_file.lines[g_file.nlines++] = line;
		if (line >= end)
			end = line + 1;
	}
	if (ftruncate(g_file.fd, (off_t)end * LINE))
		abort();
}

/* ---- expansion ---------------------------------------------------------------------------------- */

struct source {
	const struct t2x_ring *ring;
	const uint8_t *tlg;             /* the .tlg file that it continues; tlg_n 0: none */
	size_t tlg_n;
};

static void open_tlg(struct t2x_input *input, struct t2x_report *report, const struct source *source)
{
	static uint8_t sealed[MAX_TLG];
	size_t n = source->tlg_n < MAX_TLG ? source->tlg_n : MAX_TLG;

	*input = (struct t2x_input){ .path = "bytes", .report = report, .is_done = 1 };
	if (!n)
		return;
	memcpy(sealed, source->tlg, n);
	fuzz_reseal(sealed, n, NULL);
	*input = (struct t2x_input){ .path = expanding_store(sealed, n), .report = report };
	if (!t2x_input_check(input, 1))
		input->is_done = 1;
}

static void expand(void *from, const struct t2x_writer *writer, struct t2x_out *out)
{
	const struct source *source = from;
	struct t2x_report report = { .to = NULL };
	struct t2x_join join = {
		.salvage = t2x_salvage_new(source->ring),
		.stream = source->ring->state.stream, .blocks = source->ring->state.blocks,
	};
	struct t2x_input input;

	if (!join.salvage)
		abort();
	open_tlg(&input, &report, source);
	t2x_join_add(&input, &join);
	expanding_blocks(&input.blocks, t2x_join_next, writer, out);
	t2x_input_close(&input);
	t2x_salvage_free(join.salvage);
}

/* ---- changes ------------------------------------------------------------------------------------ */

/* Change a number by a little: that of a line, or an index or offset in a line. */
static void change_word(uint8_t *word, unsigned seed)
{
	static const int32_t steps[] = { 1, -1, 2, -2, 16, 1024, -1024, 2048, INT32_MAX, INT32_MIN };
	uint32_t value;

	memcpy(&value, word, 4);
	value += (uint32_t)steps[seed % (sizeof(steps) / sizeof(steps[0]))];
	memcpy(word, &value, 4);
}

/* Change whole lines: change one inside, copy one over another, insert or delete one.  n and max  bytes of lines */
static size_t change_line(uint8_t *bytes, size_t n, size_t max, unsigned seed)
{
	size_t lines = n / RECORD, i = seed / 16 % lines, k = seed / 4096 % lines;

	switch (seed % 8) {
	case 1:
		memmove(bytes + k * RECORD + 4, bytes + i * RECORD + 4, LINE);
		break;
	case 2:
		if (n + RECORD > max)
			break;
		memmove(bytes + (i + 1) * RECORD, bytes + i * RECORD, n - i * RECORD);
		change_word(bytes + i * RECORD, seed / 4096);
		return n + RECORD;
	case 3:
		memmove(bytes + i * RECORD, bytes + (i + 1) * RECORD, n - (i + 1) * RECORD);
		return n - RECORD;
	case 4:
	case 5:
		change_word(bytes + i * RECORD + seed / 4096 % (RECORD / 4) * 4, seed / 65536);
		break;
	default:
		LLVMFuzzerMutate(bytes + i * RECORD + 4, LINE, LINE);
		break;
	}
	return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed)
{
	static uint8_t rest[MAX_TLG];
	size_t lines = lines_of(bytes, n), left = n - lines, changed;

	if (lines < 2 * RECORD || left > MAX_TLG || seed % 16 == 0)
		return LLVMFuzzerMutate(bytes, n, max);
	if (left > 4 && seed / 16 % 4 == 0)
		return lines + 4 + LLVMFuzzerMutate(bytes + lines + 4, left - 4, max - lines - 4);
	memcpy(rest, bytes + lines, left);
	changed = change_line(bytes, lines, max - left, seed);
	memcpy(bytes + changed, rest, left);
	return changed + left;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t lines = lines_of(bytes, n);
	struct source source = { .ring = NULL };
	struct t2x_ring ring;

	fuzz_begin();
	if (!lines)
		return 0;
	write_file(bytes, lines);
	if (t2x_ring_adopt(&ring, dup(g_file.fd), "bytes", bytes[0] & 1))
		return 0;
	source.ring = &ring;
	if (n - lines > 4 && load_number(bytes + lines) == JOINED) {
		source.tlg = bytes + lines + 4;
		source.tlg_n = n - lines - 4;
	}
	fuzz_texts(expand, &source, bytes, n);
	t2x_ring_close(&ring);
	return 0;
}
