/* SPDX-License-Identifier: MIT */
/*
 * expanding.h - for tests: expands bytes in memory through a writer, as t2expand does, but in this process.
 */
#ifndef EXPANDING_H
#define EXPANDING_H

#include "merge/t2x_merge.h"
#include "model/t2x_model.h"

struct expanding {
	uint64_t damages;            /* reported */
	uint64_t blocks;             /* accepted */
	uint64_t missing;            /* checkpoints that marks count, but that are not there */
	struct t2x_summary summary;
	unsigned open_streams;       /* without an end */
	int is_unusable;             /* no .tlg file */
};

/* Store the bytes in a file, which replaces that of the call before.  Return  its path; out of memory ends the test */
const char *expanding_store(const void *bytes, size_t n);

/* Expand blocks from any source through the writer to out, and flush out. */
struct expanding expanding_blocks(struct t2x_blocks *blocks, t2x_next_fn *next, const struct t2x_writer *writer,
				  struct t2x_out *out);

/*
 * Expand the bytes through the writer to out, and flush out.  layout  NULL, or a foreign one
 * Out of memory ends the test.
 */
struct expanding expanding_run(const void *bytes, size_t n, const struct t2x_layout *layout,
			       const struct t2x_writer *writer, struct t2x_out *out);

#endif
