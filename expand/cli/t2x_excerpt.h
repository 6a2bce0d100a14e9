/* SPDX-License-Identifier: MIT */
/*
 * t2x_excerpt.h - the names of those functions of the kernel that a trace has samples of.
 *
 * Only the kernel that has run the program knows them, until it is started anew; readers may be on another computer.
 * So `t2 record --kernel' looks into the trace for addresses of the kernel, and writes the names of these at its end.
 */
#ifndef T2X_EXCERPT_H
#define T2X_EXCERPT_H

#include <stddef.h>
#include <stdint.h>

#include "profile/t2x_bytes.h"
#include "read/t2x_blocks.h"

/* All zero: no address. */
struct t2x_excerpt {
	uint64_t *addresses;
	size_t n, max;
	struct t2x_bytes text;            /* reused: the texts of a checkpoint or a scope */
};

void t2x_excerpt_free(struct t2x_excerpt *excerpt);

/*
 * Add the addresses that stand in the texts of a block.  A word of a program's own that has the form of an address of
 * the kernel is taken for one, and costs a line at most.  Without memory some addresses are left out.
 */
void t2x_excerpt_look(struct t2x_excerpt *excerpt, const struct t2x_block *block);

/* Put the part "kernel" of t2x_jit_files_append(), if the running kernel has a name for any of them. */
void t2x_excerpt_put(struct t2x_excerpt *excerpt, struct t2x_bytes *to);

#endif
