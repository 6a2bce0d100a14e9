/* SPDX-License-Identifier: MIT */
/*
 * damage - damages a file in every way at every place, and judges what the expander prints.
 *
 * usage: damage flips|holes|shifts|cuts plain|large|packed|lz4 [PART/PARTS]
 *
 *   flips   every bit, one at a time
 *   holes   4 KiB of zeros at every 8 bytes
 *   shifts  1 to 23 bytes deleted, or inserted, at every byte
 *   cuts    the file is truncated at every byte
 *
 * The plain file has 64 KB, or, large, 230 KB; a file in another encoding has 32 KB.  A file consists of parts that
 * confine damage: blocks, or LZ4 frames of several blocks.  The program checks that
 *   - the damage is reported;
 *   - checkpoints are missing only from the parts that the damage touches;
 *   - nothing that the expander prints is wrong;
 *   - the number of missing events between others of their thread is reported exactly, and so is the number of missing
 *     checkpoints in all;
 *   - from the first whole cycle behind the damage on, everything is right, with region depth and elapsed times.
 * It tries T2_SCALE per cent of the places, which T2_SEED chooses; of flips it always tries the first 512.  Exit status
 * 0 if all checks passed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

enum {
	PLAIN_BYTES = 63000, LARGE_BYTES = 227000, OTHER_BYTES = PLAIN_BYTES / 2, CYCLES = 6, FRAME_BYTES = 4096,
	HOLE_BYTES = 4096, MAX_SHIFT = 23, COMPLAINTS = 10,
	ALWAYS_BYTES = 64,                /* of a mark and headers, each bit of which is another case */
};

/* A part of the file, and its blocks. */
struct part {
	size_t at, n;
	unsigned first, end;
};

struct image {
	struct sample sample;
	unsigned char *bytes;
	size_t n;
	struct part *parts;
	unsigned nparts;
	int has_blocks;
	unsigned char *damaged;
};

/* The sum of a run. */
static struct {
	uint64_t files, detected, unusable, lost, max_lost, wrong, failed;
} sum;

/* ---- files -------------------------------------------------------------------------------------- */

static void split_blocks(struct image *image)
{
	const struct sample *sample = &image->sample;

	for (unsigned i = 0; i < sample->nblocks; i++)
		image->parts[image->nparts++] =
			(struct part){ sample->blocks[i].at, sample->blocks[i].n, i, i + 1 };
}

static uint32_t load_le32(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Find the frames: a mark in front of each has the size of its content. */
static void split_lz4(struct image *image)
{
	size_t plain = 0;

	for (size_t at = 0; at + 24 <= image->n; at++) {
		if (load_le32(image->bytes + at) != TLG_SKIP_MAGIC)
			continue;
		if (image->nparts)
			image->parts[image->nparts - 1].n = at - image->parts[image->nparts - 1].at;
		image->parts[image->nparts++] = (struct part){
			at, image->n - at, sample_block_at(&image->sample, plain),
			sample_block_at(&image->sample, plain + load_le32(image->bytes + at + 16) - 1) + 1
		};
		plain += load_le32(image->bytes + at + 16);
	}
}

static void make_image(struct image *image, const char *encoding)
{
	int is_packed = !strcmp(encoding, "packed"), has_blocks = strcmp(encoding, "lz4") != 0;
	size_t bytes = OTHER_BYTES;

	if (!strcmp(encoding, "plain"))
		bytes = PLAIN_BYTES;
	else if (!strcmp(encoding, "large"))
		bytes = LARGE_BYTES;
	memset(image, 0, sizeof(*image));
	image->has_blocks = has_blocks;
	sample_make(&image->sample, bytes, CYCLES, is_packed);
	image->parts = malloc(image->sample.nblocks * sizeof(*image->parts));
	image->bytes = has_blocks ? image->sample.make.bytes : tlgmake_lz4(&image->sample.make, FRAME_BYTES, &image->n);
	if (has_blocks)
		image->n = image->sample.make.n;
	image->damaged = malloc(image->n + MAX_SHIFT);
	if (!image->parts || !image->damaged)
		abort();
	if (has_blocks)
		split_blocks(image);
	else
		split_lz4(image);
}

/* ---- judging ------------------------------------------------------------------------------------ */

static unsigned part_at(const struct image *image, size_t at)
{
	unsigned i = 0;

	while (i + 1 < image->nparts && image->parts[i + 1].at <= at)
		i++;
	return i;
}

/*
 * Count the events whose absence the sequence numbers show: those of a thread in front of an event that came.  If the
 * stream's first block did not come, those in front of the thread's first event do not count.
 */
static uint64_t count_gaps(const struct image *image, const unsigned char *has_come)
{
	const struct sample *sample = &image->sample;
	uint64_t pending[SAMPLE_THREADS] = { 0 }, gaps = 0;
	int is_known[SAMPLE_THREADS];

	for (unsigned i = 0; i < SAMPLE_THREADS; i++)
		is_known[i] = has_come[0];
	for (unsigned i = 0; i < sample->nblocks; i++) {
		const struct sample_block *block = &sample->blocks[i];
		if (block->tid == TLG_NO_THREAD)
			continue;
		if (!has_come[i]) {
			pending[block->tid] += block->events;
			continue;
		}
		gaps += is_known[block->tid] ? pending[block->tid] : 0;
		pending[block->tid] = 0;
		is_known[block->tid] = 1;
	}
	return gaps;
}

/* Count the checkpoints that are missing by the count in the last mark that came. */
static uint64_t count_missing(const struct image *image, const unsigned char *has_come)
{
	uint64_t stored = 0, marked = 0, hits = 0;

	for (unsigned i = 0; i < image->sample.nblocks; i++) {
		const struct sample_block *block = &image->sample.blocks[i];
		int is_cycle = block->tid == TLG_NO_THREAD && (!i || block->cycle != block[-1].cycle);
		stored += block->hits;
		hits += has_come[i] ? block->hits : 0;
		if (block->tid == TLG_NO_THREAD && has_come[i] && !is_cycle)
			marked = stored;
	}
	return marked > hits ? marked - hits : 0;
}

static int complain(const char *what, size_t at, size_t n)
{
	if (sum.failed++ < COMPLAINTS)
		printf("FAIL %zu bytes at %zu: %s\n", n, at, what);
	return 0;
}

/* Find out which blocks came, by their checkpoints, or else by their parts.  Return  0: only a piece of a block came */
static int find_come(const struct image *image, const struct sample_result *result, unsigned from, unsigned to,
		     unsigned char *has_come)
{
	memset(has_come, 1, image->sample.nblocks);
	for (unsigned part = from; part < to; part++)
		memset(has_come + image->parts[part].first, 2, image->parts[part].end - image->parts[part].first);
	for (unsigned n = 0; n < image->sample.nhits; n++) {
		unsigned char *come = &has_come[image->sample.hits[n].block], is_there = result->state[n] > 0;
		if (*come == 2)
			*come = is_there;
		else if (*come != is_there)
			return 0;
	}
	return 1;
}

/* A block without checkpoints in a touched part came if its bytes are unchanged. */
static void find_silent(const struct image *image, unsigned char *has_come)
{
	for (unsigned i = 0; i < image->sample.nblocks; i++) {
		const struct sample_block *block = &image->sample.blocks[i];
		if (has_come[i] == 2)
			has_come[i] = !memcmp(image->damaged + block->at, image->bytes + block->at, block->n);
	}
}

/* Return  1: everything in the cycles behind the damage is right */
static int is_whole_again(const struct image *image, const struct sample_result *result, unsigned to)
{
	const struct sample *sample = &image->sample;
	unsigned block = to ? image->parts[to - 1].end - 1 : 0;
	unsigned cycle = to ? sample->blocks[block].cycle : 0;

	for (unsigned n = 0; n < sample->nhits; n++)
		if (sample->hits[n].cycle > cycle && result->state[n] != SAMPLE_RIGHT)
			return 0;
	return 1;
}

/* Judge the n damaged bytes.  The damage touches the parts from .. to - 1. */
static void judge(const struct image *image, size_t n, size_t at, size_t size, unsigned from, unsigned to)
{
	static struct sample_result result;
	static unsigned char *has_come;
	int is_reported;

	if (!has_come && !(has_come = malloc(image->sample.nblocks)))
		abort();
	sample_judge(&image->sample, &result, image->damaged, n);
	sum.files++;
	is_reported = result.is.damages || result.is.is_unusable ||
		      (to == image->nparts && n < image->n && result.is.open_streams);
	sum.detected += (uint64_t)is_reported;
	sum.unusable += result.is.is_unusable != 0;
	sum.lost += result.count[SAMPLE_MISSING];
	if (result.count[SAMPLE_MISSING] > sum.max_lost)
		sum.max_lost = result.count[SAMPLE_MISSING];
	sum.wrong += result.wrong;
	if (result.wrong)
		complain("something is shown that is wrong", at, size);
	if (!is_reported)
		complain("not reported", at, size);
	if (!find_come(image, &result, from, to, has_come))
		complain("something is missing that was not touched, or half a block", at, size);
	else if (image->has_blocks && n == image->n) {
		find_silent(image, has_come);
		if (result.is.summary.gap_events != count_gaps(image, has_come))
			complain("the number of missing events is not reported", at, size);
		if (result.is.missing != count_missing(image, has_come))
			complain("the number of missing checkpoints is not reported", at, size);
	}
	if (!is_whole_again(image, &result, to))
		complain("not whole again in the next cycle", at, size);
}

/* ---- ways to do damage -------------------------------------------------------------------------- */

/* Return  1: try this place */
static struct {
	size_t next, step;
	unsigned part, parts;
} places;

static int is_tried(size_t place)
{
	if (place < places.next)
		return 0;
	places.next += places.step;
	return 1;
}

static void flip_bits(struct image *image)
{
	memcpy(image->damaged, image->bytes, image->n);
	for (size_t bit = 0; bit < 8 * image->n; bit++) {
		unsigned part;

		if (bit >= 8 * ALWAYS_BYTES && !is_tried(bit))
			continue;
		part = part_at(image, bit / 8);
		image->damaged[bit / 8] ^= (unsigned char)(1U << bit % 8);
		judge(image, image->n, bit / 8, 1, part, part + 1);
		image->damaged[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
}

static void make_holes(struct image *image)
{
	memcpy(image->damaged, image->bytes, image->n);
	for (size_t at = 0; at + HOLE_BYTES <= image->n; at += 8) {
		if (!is_tried(at / 8))
			continue;
		memset(image->damaged + at, 0, HOLE_BYTES);
		judge(image, image->n, at, HOLE_BYTES, part_at(image, at), part_at(image, at + HOLE_BYTES - 1) + 1);
		memcpy(image->damaged + at, image->bytes + at, HOLE_BYTES);
	}
}

static void shift_bytes(struct image *image)
{
	for (size_t at = 0; at < image->n; at++) {
		size_t size = 1 + at * 7 % MAX_SHIFT, left = image->n - at;
		unsigned part = part_at(image, at);

		if (!is_tried(at))
			continue;
		memcpy(image->damaged, image->bytes, at);
		for (size_t i = 0; i < size; i++)
			image->damaged[at + i] = (unsigned char)(0xa5 + i * at);
		memcpy(image->damaged + at + size, image->bytes + at, left);
		judge(image, image->n + size, at, size, part, part + 1);
		if (left <= size)
			continue;
		memcpy(image->damaged + at, image->bytes + at + size, left - size);
		judge(image, image->n - size, at, size, part, part_at(image, at + size - 1) + 1);
	}
}

static void cut_off(struct image *image)
{
	memcpy(image->damaged, image->bytes, image->n);
	for (size_t n = 0; n < image->n; n++)
		if (is_tried(n))
			judge(image, n, n, image->n - n, part_at(image, n), image->nparts);
}

/* ---- the program -------------------------------------------------------------------------------- */

static const struct way {
	const char *name;
	void (*go)(struct image *image);
} ways[] = {
	{ "flips", flip_bits }, { "holes", make_holes }, { "shifts", shift_bytes }, { "cuts", cut_off },
};

static unsigned setting(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void choose_places(const char *part)
{
	unsigned scale = setting("T2_SCALE", 100);

	places.parts = 1;
	if (part && sscanf(part, "%u/%u", &places.part, &places.parts) != 2)
		exit(2);
	places.step = places.parts * (scale && scale < 100 ? 100 / scale : 1);
	places.next = (setting("T2_SEED", 1) + places.part) % places.step;
}

int main(int argc, char **argv)
{
	const struct way *way = NULL;
	struct image image;

	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (argc > 2 && !strcmp(argv[1], ways[i].name))
			way = &ways[i];
	if (!way)
		return 2;
	choose_places(argc > 3 ? argv[3] : NULL);
	make_image(&image, argv[2]);
	way->go(&image);
	printf("%s %s: %llu files, %llu reported, %llu unusable, %llu checkpoints lost, at most %llu of %u in one, "
	       "%llu wrong\n",
	       argv[1], argv[2], (unsigned long long)sum.files, (unsigned long long)sum.detected,
	       (unsigned long long)sum.unusable, (unsigned long long)sum.lost, (unsigned long long)sum.max_lost,
	       image.sample.nhits, (unsigned long long)sum.wrong);
	if (!image.has_blocks)
		free(image.bytes);
	free(image.parts);
	free(image.damaged);
	sample_free(&image.sample);
	return sum.failed || !sum.files;
}
