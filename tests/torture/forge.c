/* SPDX-License-Identifier: MIT */
/*
 * forge - makes bytes that look like blocks of a trace but are not: the expander must not print any of them.
 *
 * usage: forge noise|planted|torn [PART/PARTS]
 *
 *   noise    400 MiB of random bytes, in half of them every few events a forged block header, of a process
 *            that the file holds, behind a good stream
 *   planted  another whole trace inside the texts of a block, as it is, and placed where a reader searches behind
 *            damage: in a plain block, in the file's first block, up to the end of a packed block, as a frame in an LZ4
 *            frame; then every bit of that block or frame is flipped, header and mark included
 *   torn     the opposite case: whole short traces behind a block that was torn at any byte, as by a process that was
 *            killed in write(2), are not its texts, and the expander must print them
 *
 * It tries T2_SCALE per cent of the noise, the bits or the bytes; T2_SEED is the seed.  Exit status 0 if the expander
 * printed nothing that it should not, and all that it should.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"
#include "tlg_block.h"
#include "output/tr2_frame.h"

enum { PIECE_BYTES = 16 << 20, PIECES = 25, SAMPLE_BYTES = 16384, SAMPLE_CYCLES = 2, FORGED_EVENTS = 7 };

static struct {
	unsigned scale, part, parts;
	uint64_t random, forged, runs, failed;
} g;

static uint64_t next_random(void)
{
	g.random ^= g.random << 13;
	g.random ^= g.random >> 7;
	g.random ^= g.random << 17;
	return g.random * UINT64_C(0x2545f4914f6cdd1d);
}

static void fail(const char *what, unsigned long long have, unsigned long long want)
{
	if (g.failed++ < 10)
		printf("FAIL %s: %llu, not %llu\n", what, have, want);
}

/* Check that all of the good stream is there, and nothing else. */
static void check(const struct sample_result *result, unsigned missing, unsigned blocks)
{
	g.runs++;
	if (result->wrong)
		fail("checkpoints that were never made", result->wrong, 0);
	if (result->count[SAMPLE_MISSING] != missing)
		fail("checkpoints missing", result->count[SAMPLE_MISSING], missing);
	if (result->is.blocks != blocks)
		fail("blocks accepted", result->is.blocks, blocks);
}

/* ---- noise -------------------------------------------------------------------------------------- */

/* A header of the process's own, of a short block or a long one. */
static void forge_header(unsigned char *to, unsigned pid)
{
	struct tlg_event event = { .flags = TLG_BLOCK, .pid = (uint16_t)pid, .sequence = (uint32_t)next_random() };
	unsigned size = 1 + (unsigned)(next_random() % (next_random() % 8 ? 128 : TLG_BLOCK_LIMIT));

	event.u.block = (struct tlg_block){
		.magic = TLG_BLOCK_MAGIC, .crc = (uint32_t)next_random(),
		.tid = next_random() % 4 ? (uint32_t)(next_random() % 4) : TLG_NO_THREAD,
		.count = (uint16_t)size, .size = (uint16_t)size,
	};
	memcpy(to, &event, sizeof(event));
	g.forged++;
}

static void make_noise(unsigned char *to, size_t n, unsigned pid, int is_forged)
{
	for (size_t at = 0; at + 8 <= n; at += 8) {
		uint64_t value = next_random();
		memcpy(to + at, &value, 8);
	}
	for (size_t at = 0; is_forged && at + TLG_EVENT_SIZE <= n; at += TLG_EVENT_SIZE * FORGED_EVENTS)
		forge_header(to + at, pid);
}

static void try_noise(void)
{
	struct sample_result result = { .state = NULL };
	unsigned char *bytes = malloc(PIECE_BYTES);
	struct sample sample;
	uint64_t total = 0;

	sample_make(&sample, SAMPLE_BYTES, SAMPLE_CYCLES, 0);
	if (!bytes)
		abort();
	memcpy(bytes, sample.make.bytes, sample.make.n);
	for (unsigned i = g.part; i < PIECES; i += g.parts) {
		if (i * 100 / PIECES >= g.scale && i != g.part)
			break;
		make_noise(bytes + sample.make.n, PIECE_BYTES - sample.make.n, sample.make.pid,
			   i / g.parts % 2 == 0);
		sample_judge(&sample, &result, bytes, PIECE_BYTES);
		check(&result, 0, sample.nblocks);
		total += PIECE_BYTES - sample.make.n;
	}
	printf("noise: %llu MiB, %llu forged headers, %llu failures\n", (unsigned long long)(total >> 20),
	       (unsigned long long)g.forged, (unsigned long long)g.failed);
	sample_result_free(&result);
	sample_free(&sample);
	free(bytes);
}

/* ---- planted ------------------------------------------------------------------------------------ */

enum {
	SHIFT = 8, PLANTED = 5, PLANTED_BLOCKS = 3, PLANTED_ID = 0x600d1dea,
	/* of packed texts: each 16 bytes have a tag in front; so many events of a planted block are whole strides */
	STRIDE = TLG_TEXT_SIZE + 1, FULL_TAG = TLG_TEXT_SIZE << 3 | 5,
	PLANT_BYTES = PLANTED_BLOCKS * STRIDE * TLG_EVENT_SIZE,
	BEFORE_TAG = 2,                   /* bytes of the planted blocks in front of the first tag, a part of pid */
	LAST_TEXT = (PLANT_BYTES - BEFORE_TAG) % STRIDE - 1,
};

/* Return  the INFO at place i of the block's events; the traced program could choose its text */
static unsigned char *text_of(struct tlg_event *events, unsigned i)
{
	return (unsigned char *)events[i].u.info.text.c;
}

/*
 * Make blocks of another stream that are SHIFT bytes off the alignment of the events.  The first 16 bytes of each of
 * their events are text of an INFO, the last 8 are the header of the next INFO.  So this header is also BLOCK.tid,
 * count and size; its sequence number is chosen such that they fit.
 */
static void plant_shifted(struct tlg_event *events, unsigned first, unsigned pid)
{
	unsigned char image[(PLANTED + 1) * TLG_EVENT_SIZE];

	for (unsigned block = 0; block < PLANTED_BLOCKS; block++) {
		unsigned at = first + block * (PLANTED + 1);
		struct tlg_event head = { .flags = TLG_BLOCK, .pid = (uint16_t)pid, .sequence = block + 1 };

		head.u.block.magic = TLG_BLOCK_MAGIC;
		memcpy(text_of(events, at), &head, 16);
		for (unsigned i = 1; i <= PLANTED; i++) {
			struct tlg_event hit = { .flags = TLG_HIT, .pid = (uint16_t)pid, .sequence = i };

			hit.u.hit.when = TLGMAKE_RAW + 1;
			memcpy(text_of(events, at + i), &hit, 16);
		}
		memcpy(image, (unsigned char *)&events[at] + SHIFT, sizeof(image));
		head.u.block.crc = tlg_block_crc(image, sizeof(image), TLG_BLOCK_CRC_AT, PLANTED_ID);
		memcpy(text_of(events, at), &head, 16);
	}
}

/* Add a checkpoint with a text of n INFO events, which the caller fills in.  Return  the first of them */
static unsigned make_carrier(struct tlgmake *make, unsigned n)
{
	static char text[TLG_BLOCK_LIMIT * TLG_TEXT_SIZE];
	unsigned first;

	memset(text, 'x', sizeof(text));
	make->next[0] = 0x10001 * PLANTED - 1;
	tlgmake_begin(make, 0);
	tlgmake_add(make, TLG_HIT | TLG_HAS_INFO, make->next[0] + 1)->u.hit = (struct tlg_hit){
		TLGMAKE_RAW + 1, 1, 0
	};
	first = make->count;
	tlgmake_text(make, make->next[0] + 1, text, n * TLG_TEXT_SIZE);
	return first;
}

/* Packed text has a tag in each stride: the planted bytes must equal the tag there. */
static void put_tags(unsigned char *plant)
{
	for (unsigned at = BEFORE_TAG; at < PLANT_BYTES; at += STRIDE)
		plant[at] = FULL_TAG;
	plant[PLANT_BYTES - LAST_TEXT - 1] = LAST_TEXT << 3 | 6;
}

/* Make plain blocks of another stream whose checksums are right with the tags in them. */
static void make_plant(unsigned char *plant)
{
	struct tlg_event block[STRIDE];

	memset(plant, 'p', PLANT_BYTES);
	for (unsigned i = 0; i < PLANTED_BLOCKS; i++) {
		unsigned char *at = plant + i * sizeof(block);
		memset(block, 'p', sizeof(block));
		/* Packing drops zeros at the end of a text, so flags and tid must not be 0 there. */
		tlg_block_describe(block, FULL_TAG, i + 1, (uint32_t)FULL_TAG << 24 | 0x010101, STRIDE - 1);
		block->flags |= 1 << TLG_CYCLE_SHIFT;
		memcpy(at, block, sizeof(block));
		put_tags(plant);
		memcpy(block, at, sizeof(block));
		tlg_block_sign(block, PLANTED_ID);
		memcpy(at, block, sizeof(block));
	}
}

/* Pack the block such that the planted blocks are its last bytes.  Return  0: it ends with zeros, use another filler */
static int make_packed(struct tlgmake *make, unsigned filler)
{
	enum { FILLERS = 2 };
	unsigned n = FILLERS + 1 + (PLANT_BYTES - BEFORE_TAG) / STRIDE + 1, first = make_carrier(make, n);
	unsigned char plant[PLANT_BYTES], *text;

	make_plant(plant);
	for (unsigned i = 0; i < FILLERS; i++) {
		unsigned part = filler < TLG_TEXT_SIZE ? filler : TLG_TEXT_SIZE;
		memset(text_of(make->block + 1, first + i) + part, 0, TLG_TEXT_SIZE - part);
		filler -= part;
	}
	text = text_of(make->block + 1, first + FILLERS);
	memcpy(text + TLG_TEXT_SIZE - BEFORE_TAG, plant, BEFORE_TAG);
	for (unsigned at = BEFORE_TAG + 1, i = FILLERS + 1; i < n; i++, at += STRIDE) {
		text = memset(text_of(make->block + 1, first + i), 0, TLG_TEXT_SIZE);
		memcpy(text, plant + at, i + 1 < n ? TLG_TEXT_SIZE : LAST_TEXT);
	}
	make->is_packed = 1;
	tlgmake_seal(make);
	return !memcmp(make->bytes + make->n - PLANT_BYTES, plant, PLANT_BYTES);
}

/*
 * Flip every bit of a block or frame, and check that it is lost and nothing else is printed.
 * is_marked  1: a mark is in front, many of whose bits only repeat what is known
 */
static void flip_all(const struct sample *sample, unsigned char *bytes, size_t n, size_t from, size_t to, int is_marked)
{
	struct sample_result result = { .state = NULL };
	size_t step = (g.scale < 100 ? 100 / g.scale : 1) * g.parts, header = 8 * (from + 2 * TLG_EVENT_SIZE);
	unsigned blocks, wrong;

	sample_judge(sample, &result, bytes, n);
	blocks = (unsigned)result.is.blocks;
	wrong = result.wrong;
	for (size_t bit = 8 * from + g.part; bit < 8 * to; bit += bit < header ? g.parts : step) {
		bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
		sample_judge(sample, &result, bytes, n);
		if (!is_marked || result.is.blocks != blocks)
			check(&result, sample->nhits, blocks - 1);
		else if (result.wrong != wrong)
			fail("other checkpoints than in the whole file", result.wrong, wrong);
		bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
	sample_result_free(&result);
}

/* Make a block that has a whole trace in its texts, or blocks that are aligned such that a reader finds them. */
static void make_plain(struct tlgmake *make, const struct sample *sample, int is_shifted)
{
	unsigned n = (unsigned)(sample->make.n / TLG_TEXT_SIZE), first;

	first = make_carrier(make, is_shifted ? PLANTED_BLOCKS * (PLANTED + 1) + 1 : n);
	if (is_shifted)
		plant_shifted(make->block + 1, first, 43);
	for (unsigned i = 0; !is_shifted && i < n; i++)
		memcpy(text_of(make->block + 1, first + i), sample->make.bytes + i * TLG_TEXT_SIZE, TLG_TEXT_SIZE);
	tlgmake_seal(make);
}

enum kind { AS_IT_IS, FOUND, FOUND_FIRST, PACKED, KINDS };

/* Make a stream that has this block among its own.  Return  0: see make_packed() */
static int make_file(struct tlgmake *make, const struct sample *sample, enum kind kind, unsigned filler, size_t *from)
{
	int is_right = 1;

	tlgmake_init(make, 0x0123abcd, 42);
	if (kind != FOUND_FIRST)
		tlgmake_cycle(make);
	*from = make->n;
	if (kind == PACKED)
		is_right = make_packed(make, filler);
	else
		make_plain(make, sample, kind != AS_IT_IS);
	return is_right;
}

static void try_planted(enum kind kind)
{
	struct sample sample;
	struct tlgmake make;
	size_t from, to;
	unsigned filler = 0;

	sample_make(&sample, SAMPLE_BYTES / 4, 1, 0);
	while (!make_file(&make, &sample, kind, filler, &from) && filler++ < TLG_EVENT_SIZE)
		tlgmake_free(&make);
	if (filler > TLG_EVENT_SIZE)
		fail("nothing could be planted in a packed block", 0, 1);
	to = make.n;
	if (kind == FOUND_FIRST)
		tlgmake_cycle(&make);
	tlgmake_mark(&make, 100);
	tlgmake_end(&make);
	flip_all(&sample, make.bytes, make.n, from, to, 0);
	tlgmake_free(&make);
	sample_free(&sample);
}

/* Make a stream of another process, in a frame like the library's.  Return  the frame, for free() */
static unsigned char *make_framed(size_t *n)
{
	struct tlgmake make;
	unsigned char *frame;
	const void *made;

	tlgmake_init(&make, PLANTED_ID, 43);
	tlgmake_cycle(&make);
	tlgmake_begin(&make, 0);
	for (unsigned i = 0; i < PLANTED; i++)
		tlgmake_hit(&make, 1 + i, 1);
	tlgmake_seal(&make);
	made = tr2_frame_make(make.bytes, make.n, PLANTED_ID, 1, 0, n);
	frame = malloc(*n);
	if (!frame)
		abort();
	memcpy(frame, made, *n);
	tlgmake_free(&make);
	return frame;
}

/* Make a good block that has the frame in its texts; it is not packed. */
static void add_carrier(struct tlgmake *make, const unsigned char *frame, size_t n)
{
	tlgmake_begin(make, 0);
	make->count = (unsigned)(n / TLG_EVENT_SIZE) + 2;
	memset(make->block + 1, 0, make->count * TLG_EVENT_SIZE);
	memcpy((unsigned char *)(make->block + 1) + SHIFT, frame, n);
	tlgmake_seal(make);
}

/* LZ4 stores a short frame uncompressed, so a frame in its texts is visible in the file. */
static void try_framed(void)
{
	unsigned char *planted, *bytes = malloc(4 * TR2_FRAME_STORED);
	size_t n = 0, framed, planted_n, at[4] = { 0 };
	const void *made;
	struct sample sample;
	struct tlgmake make;

	if (!bytes || tr2_frame_init())
		abort();
	sample_make(&sample, SAMPLE_BYTES / 4, 1, 0);
	planted = make_framed(&planted_n);
	tlgmake_init(&make, 0x0123abcd, 42);
	for (unsigned i = 0; i < 3; i++) {
		make.n = 0;
		if (i == 1)
			add_carrier(&make, planted, planted_n);
		else if (!i)
			tlgmake_cycle(&make);
		else
			tlgmake_end(&make);
		made = tr2_frame_make(make.bytes, make.n, make.stream, i + 1, 0, &framed);
		memcpy(bytes + n, made, framed);
		at[i + 1] = n += framed;
	}
	flip_all(&sample, bytes, n, at[1], at[2], 1);
	free(planted);
	free(bytes);
	tlgmake_free(&make);
	sample_free(&sample);
}

/* ---- torn --------------------------------------------------------------------------------------- */

enum { SHORT = 40, SHORT_BLOCKS = 3 };

static void make_short(struct tlgmake *make, unsigned i)
{
	tlgmake_init(make, PLANTED_ID + i, 100 + i);
	tlgmake_cycle(make);
	tlgmake_begin(make, 0);
	for (unsigned k = 0; k <= i % 5; k++)
		tlgmake_hit(make, 1 + k, 1);
	tlgmake_seal(make);
	tlgmake_end(make);
}

/* Make the blocks of a process, the last one torn, and the short traces behind it. */
static void judge_torn(const struct sample *sample, struct sample_result *result, unsigned char *bytes, unsigned whole,
		       size_t kept)
{
	size_t n = sample->blocks[whole].at + kept;
	unsigned want = whole + SHORT * SHORT_BLOCKS;

	memcpy(bytes, sample->make.bytes, n);
	for (unsigned i = 0; i < SHORT; i++) {
		struct tlgmake make;

		make_short(&make, i);
		memcpy(bytes + n, make.bytes, make.n);
		n += make.n;
		tlgmake_free(&make);
	}
	sample_judge(sample, result, bytes, n);
	g.runs++;
	if (result->is.blocks != want)
		fail("blocks of whole traces behind a torn block", result->is.blocks, want);
}

static void try_torn(void)
{
	struct sample_result result = { .state = NULL };
	unsigned step = (g.scale < 100 ? 100 / g.scale : 1) * g.parts;
	unsigned char *bytes;
	struct sample sample;

	sample_make(&sample, SAMPLE_BYTES, SAMPLE_CYCLES, 0);
	bytes = malloc(sample.make.n + 65536);
	if (!bytes)
		abort();
	for (unsigned i = sample.nblocks / 2; i < sample.nblocks; i++)
		for (size_t kept = 1 + (i + g.part) % step; kept < sample.blocks[i].n; kept += step)
			judge_torn(&sample, &result, bytes, i, kept);
	printf("torn: %llu places, %llu failures\n", (unsigned long long)g.runs, (unsigned long long)g.failed);
	sample_result_free(&result);
	sample_free(&sample);
	free(bytes);
}

int main(int argc, char **argv)
{
	const char *scale = getenv("T2_SCALE"), *seed = getenv("T2_SEED");

	g.scale = scale && atoi(scale) > 0 ? (unsigned)atoi(scale) : 100;
	g.parts = 1;
	if (argc < 2 || (argc > 2 && sscanf(argv[2], "%u/%u", &g.part, &g.parts) != 2))
		return 2;
	g.random = (seed ? strtoull(seed, NULL, 10) : 1) * 1000003 + g.part + 1;
	if (!strcmp(argv[1], "noise")) {
		try_noise();
	} else if (!strcmp(argv[1], "torn")) {
		try_torn();
	} else {
		for (enum kind kind = 0; kind < KINDS; kind++)
			try_planted(kind);
		try_framed();
		printf("planted: %llu flips, %llu failures\n", (unsigned long long)g.runs,
		       (unsigned long long)g.failed);
	}
	return g.failed || !g.runs;
}
