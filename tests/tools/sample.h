/* SPDX-License-Identifier: MIT */
/*
 * sample.h - for harnesses: makes a stream in which every checkpoint can be recognized, and judges what the expander
 * prints of it, or of a damaged copy.
 *
 * The checkpoints are a microsecond apart, so the time identifies a checkpoint.  Everything else about it - thread,
 * scope, names, value or message - must be as it was made.  A checkpoint is wrong if it was never made, if it comes
 * twice or out of its thread's order, or if anything of it differs.  If its definition is lost, it may be unresolved.
 * Region depth and elapsed time may be off until a cycle repeats them.  The judge returns the state of each checkpoint.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "expanding.h"
#include "tlgmake.h"

enum { SAMPLE_THREADS = 4, SAMPLE_SCOPES = 11 };

/* The state of a checkpoint in the output. */
enum sample_state { SAMPLE_MISSING, SAMPLE_UNRESOLVED, SAMPLE_OFF, SAMPLE_RIGHT };

struct sample_hit {
	uint32_t block;            /* in which it lies */
	uint32_t cycle;            /* from 1 */
	uint32_t rel_us;           /* elapsed in its region */
	uint16_t open;             /* regions around it, as in struct t2x_event */
	uint8_t tid, scope;
	char *text;                /* its value or message */
};

struct sample_block {
	size_t at, n;              /* bytes */
	uint32_t tid;              /* TLG_NO_THREAD: of the process */
	uint32_t cycle;
	unsigned hits;
	unsigned events;           /* counted by sequence numbers */
};

struct sample {
	struct tlgmake make;       /* its bytes are the plain file */
	struct sample_hit *hits;
	unsigned nhits;
	struct sample_block *blocks;
	unsigned nblocks;
	unsigned cycles;
};

struct sample_result {
	struct expanding is;
	unsigned wrong;
	unsigned count[SAMPLE_RIGHT + 1];
	unsigned char *state;      /* of each checkpoint: enum sample_state */
};

/*
 * Make a stream of about so many bytes in so many cycles; bytes counts plain events, also if the blocks are packed.
 * Out of memory ends the program, here and below.
 */
void sample_make(struct sample *sample, size_t bytes, unsigned cycles, int is_packed);
void sample_free(struct sample *sample);

/* Expand the bytes and judge the output.  result is all zero before the first run; later runs reuse its memory */
void sample_judge(const struct sample *sample, struct sample_result *result, const void *bytes, size_t n);
void sample_result_free(struct sample_result *result);

/* Return  the block in which the byte of the plain file lies */
unsigned sample_block_at(const struct sample *sample, size_t at);

#endif
