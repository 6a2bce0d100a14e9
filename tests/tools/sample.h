/* SPDX-License-Identifier: MIT */
/*
 * sample.h - for the harnesses: a stream whose every checkpoint can be recognized, and a judge of what the
 * expander makes of it, or of what damage has left of it.
 *
 * The checkpoints are a microsecond apart, so the time tells which one it is, and everything else that is known
 * about it - thread, scope, names, value or message - must be as it was made.  Wrong is a checkpoint that was
 * never made, that comes twice or out of its thread's order, or that shows anything else than it should.  One
 * whose definition is lost may be unresolved; region depth and elapsed time may be off until a cycle repeats
 * them: both are given, for each checkpoint.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "expanding.h"
#include "tlgmake.h"

enum { SAMPLE_THREADS = 4, SAMPLE_SCOPES = 11 };

/* What became of a checkpoint. */
enum sample_state { SAMPLE_MISSING, SAMPLE_UNRESOLVED, SAMPLE_OFF, SAMPLE_RIGHT };

struct sample_hit {
	uint32_t block;            /* that holds it */
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
	unsigned events;           /* that sequence numbers count */
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
 * A stream of about so many bytes in so many cycles, or, packed, of what fills so many bytes plain.  Out of memory
 * ends the program, here and below.
 */
void sample_make(struct sample *sample, size_t bytes, unsigned cycles, int is_packed);
void sample_free(struct sample *sample);

/* Expand the bytes and judge what comes.  result was all zero before the first run; its memory is kept */
void sample_judge(const struct sample *sample, struct sample_result *result, const void *bytes, size_t n);
void sample_result_free(struct sample_result *result);

/* The block that holds the byte of the plain file. */
unsigned sample_block_at(const struct sample *sample, size_t at);

#endif
