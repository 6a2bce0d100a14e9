/* SPDX-License-Identifier: MIT */
/*
 * bench_zstd - events in compressing small blocks with zstd, as a store of records does, on one thread and on two.
 *
 * The work is on lines of a log, in blocks of 128 bytes.  Each block is compressed with a dictionary, decompressed, and
 * compared with the original.  A region is around each block, a step behind each half.  usage and measurements:
 * program.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "bench.h"
#include "event.h"
#include "program.h"

enum {
	TEXT_BYTES = 1 << 18, LINE_BYTES = 200, DICTIONARY_BYTES = 4096, BLOCK_BYTES = 128, LEVEL = 1,
	UNIT_EVENTS = 4, WORK_EVENTS = 2000 * UNIT_EVENTS, LOOP_EVENTS = 2500 * UNIT_EVENTS,
};

static char text[TEXT_BYTES];
static size_t text_used;
static ZSTD_CDict *compressing;
static ZSTD_DDict *decompressing;

static struct worker {
	ZSTD_CCtx *compressor;
	ZSTD_DCtx *decompressor;
	size_t at;                       /* where the next block begins */
	char packed[ZSTD_COMPRESSBOUND(BLOCK_BYTES)], block[BLOCK_BYTES];
	char apart[128];                 /* the next one is another thread's */
} workers[BENCH_THREADS];

static void make_text(void)
{
	static const char *const paths[] = { "index", "refresh", "lookup", "objects/pack", "HEAD", "origin/main" };
	uint64_t random = 1;

	while (text_used < TEXT_BYTES - LINE_BYTES) {
		random = random * UINT64_C(6364136223846793005) + 1;
		text_used += (size_t)sprintf(text + text_used, "{\"time\":\"12:%02u:%02u.%06u\",\"level\":\"info\","
					     "\"path\":\"%s/%u\",\"bytes\":%u}\n", (unsigned)(random >> 40) % 60,
					     (unsigned)(random >> 30) % 60, (unsigned)(random >> 20) % 1000000,
					     paths[(random >> 50) % 6], (unsigned)(random >> 33) % 1000,
					     (unsigned)(random >> 44) % 100000);
	}
}

static void set_up(void)
{
	make_text();
	compressing = ZSTD_createCDict(text + text_used - DICTIONARY_BYTES, DICTIONARY_BYTES, LEVEL);
	decompressing = ZSTD_createDDict(text + text_used - DICTIONARY_BYTES, DICTIONARY_BYTES);
	for (unsigned i = 0; i < BENCH_THREADS; i++) {
		workers[i].compressor = ZSTD_createCCtx();
		workers[i].decompressor = ZSTD_createDCtx();
		program_check(workers[i].compressor && workers[i].decompressor, "zstd contexts");
	}
	program_check(compressing && decompressing, "zstd dictionaries");
}

EVENT_INLINE void work(enum program_kind kind, unsigned thread, unsigned events)
{
	struct worker *worker = &workers[thread];

	for (unsigned i = 0; i < events; i += UNIT_EVENTS) {
		const char *block = text + worker->at;
		size_t packed, unpacked;

		EVENT_ENTER(kind, "block");
		packed = ZSTD_compress_usingCDict(worker->compressor, worker->packed, sizeof(worker->packed), block,
						  BLOCK_BYTES, compressing);
		EVENT_STEP(kind, "compressed");
		unpacked = ZSTD_decompress_usingDDict(worker->decompressor, worker->block, BLOCK_BYTES, worker->packed,
						      packed, decompressing);
		EVENT_STEP(kind, "decompressed");
		program_check(packed < BLOCK_BYTES && unpacked == BLOCK_BYTES &&
			      !memcmp(worker->block, block, BLOCK_BYTES), "a block is not what it was");
		EVENT_LEAVE(kind, "block");
		worker->at += BLOCK_BYTES;
		if (worker->at + BLOCK_BYTES > text_used - DICTIONARY_BYTES)
			worker->at = 0;
	}
}
EVENT_COPIES(work)

EVENT_INLINE void loop(enum program_kind kind, unsigned thread, unsigned events)
{
	(void)thread;
	for (unsigned i = 0; i < events; i += UNIT_EVENTS) {
		EVENT_ENTER(kind, "loop");
		EVENT_STEP(kind, "loop");
		EVENT_STEP(kind, "loop");
		EVENT_LEAVE(kind, "loop");
		bench_barrier();
	}
}
EVENT_COPIES(loop)

int main(int argc, char **argv)
{
	static const struct program program = {
		.name = "zstd", .set_up = set_up, .work_events = WORK_EVENTS, .loop_events = LOOP_EVENTS,
		.work = { work_none, work_ours, work_lttng }, .loop = { loop_none, loop_ours, loop_lttng },
	};

	return program_main(&program, argc, argv);
}
