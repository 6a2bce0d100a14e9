/* SPDX-License-Identifier: MIT */
/* sixblocks.c - see sixblocks.h. */
#include "sixblocks.h"

#include "t2test.h"

#include <stdio.h>
#include <string.h>

void sixblocks_make(struct tlgmake *make, uint32_t id)
{
	tlgmake_init(make, id, 1234);
	tlgmake_cycle(make);
	for (unsigned i = 0; i < 5; i++) {
		tlgmake_begin(make, i % 2);
		for (unsigned k = 0; k < SIXBLOCKS_HITS; k++)
			tlgmake_hit(make, 1 + 10 * i + k, 1);
		tlgmake_seal(make);
	}
}

size_t sixblocks_hits_at(const struct tlgmake *make, unsigned i)
{
	return make->n - (5 - i) * SIXBLOCKS_BYTES;
}

void sixblocks_read(struct sixblocks_read *result, const void *bytes, size_t n)
{
	const char *path = tlgmake_path(bytes, n);
	FILE *said = fmemopen(result->said, sizeof(result->said), "w");
	struct t2x_blocks blocks;
	struct t2x_block block;
	struct t2x_in in;

	memset(result, 0, sizeof(*result));
	result->report.to = said;
	assert_int_equal(t2x_in_open(&in, path, t2x_blocks_seen(NULL), &result->report), 0);
	assert_int_equal(t2x_blocks_init(&blocks, &in, NULL), 0);
	while (t2x_blocks_next(&blocks, &block)) {
		if (result->blocks < sizeof(result->numbers) / sizeof(result->numbers[0]))
			result->numbers[result->blocks] = block.number;
		result->blocks++;
		result->stream = block.stream;
	}
	result->is_plain_sequence = blocks.is_plain_sequence;
	t2x_blocks_free(&blocks);
	t2x_in_close(&in);
	t2x_report_finish(&result->report);
	tlgmake_close(path);
	fclose(said);
}
