/* SPDX-License-Identifier: MIT */
/*
 * t2x_input.h - an input, open only as long as it is needed.
 *
 * A tree of processes leaves many files, of which few overlap in time.  So a regular file is looked at and
 * closed again; what its first block says about the process is kept.  The merge thus knows when the process
 * began, and does not ask for the second block, which opens the file for good, before the time is reached.
 * It has to be the same file still.  At its end it is closed.  Anything else, a pipe say, can be opened only once and
 * stays open.
 *
 * A file of several processes is read in the order of time, as far as that is known: see t2x_order.h.
 *
 * Memory: 1,000 inputs that are closed take 5 MB, one that is open up to 1 MB.
 */
#ifndef T2X_INPUT_H
#define T2X_INPUT_H

#include <sys/types.h>

#include "t2x_blocks.h"

struct t2x_join;
struct t2x_order;

struct t2x_input {
	struct t2x_blocks blocks;         /* first: the address of an input's blocks is the input's */
	struct t2x_in in;
	const char *path;                 /* the caller's, and outlives the input; "-": standard input */
	const struct t2x_layout *layout;  /* of a foreign platform, or NULL */
	struct t2x_report *report;
	int needs_file;                   /* by the caller: a FIFO would be waited for, and nobody has named one */
	int is_listed;                    /* for the caller: not named by the user, found in a directory */
	struct t2x_input *next_alike;     /* for the caller, who looks for inputs by device and inode */
	unsigned open_streams;            /* for the caller: those that ended without END */
	int is_open, is_done;
	int left_out;                     /* it could not be opened, for too many are open already */
	int is_regular;                   /* a file, which device and inode tell from others */
	dev_t device;
	ino_t inode;
	uint64_t bytes;                   /* of a file, when it was looked at */
	uint64_t good;                    /* blocks in it, so far */
	char fault[64];                   /* why it cannot be used, or "" */
	struct t2x_block first;           /* of a closed file, without its raw form; count 0: not kept */
	struct tlg_event *first_events;
	int skip_first;                   /* it has been given out */
	uint64_t max_blocks;              /* read no more; 0: all */
	struct t2x_order *order;          /* of its frames; NULL: it is read as it stands */
	int has_order;                    /* the order gives out the blocks: those of several streams */
	uint64_t begin_at;                /* offset at which reading begins ... */
	struct t2x_map begun;             /* ... and streams of which a cycle has come since */
	struct t2x_join *joins;           /* ring files that go on with its streams, see t2x_join.h */
	struct t2x_read_ahead *ahead;          /* for t2x_read_ahead alone */
	struct t2x_read_ahead_queue *queue;
};

/*
 * Look at the file.  path, layout, report are set, the rest is zero.
 * keeps_first  0: blocks are wanted with their raw form, so the first one too is read when it is asked for
 * Return  0: it cannot be used, and fault says why
 */
int t2x_input_check(struct t2x_input *input, int keeps_first);

/*
 * The input has been looked at, and nothing was read: begin at a place from which all is read that is not older than
 * ns since 1970, or T2X_SEEK_END (t2x_seek.h).  Return  1: what is in front of it is left out; 0: all is read
 */
int t2x_input_seek(struct t2x_input *input, uint64_t ns);

/* The next block of the input whose blocks these are, as t2x_blocks_next().  A t2x_next_fn */
int t2x_input_next(struct t2x_blocks *blocks, struct t2x_block *block);

/* The first blocks are those of the earliest events, and what is behind them is later. */
int t2x_input_is_in_order(const struct t2x_input *input);

/* What comes next of the file is not older; UINT64_MAX at its end, and if nothing is known. */
uint64_t t2x_input_now_ns(const struct t2x_input *input);

/* Streams of the file that have not begun do not begin before; 0: nothing is known. */
uint64_t t2x_input_rest_ns(const struct t2x_input *input);

/* From now on report damage there. */
void t2x_input_report_to(struct t2x_input *input, struct t2x_report *report);

void t2x_input_close(struct t2x_input *input);

#endif
