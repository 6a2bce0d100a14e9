/* SPDX-License-Identifier: MIT */
/*
 * t2x_input.h - an input that is open only while it is needed.
 *
 * A tree of processes leaves many files, of which few overlap in time.  So t2x_input_check() opens a regular file,
 * stores its first block, which has the start of the process, and closes the file.  The merge thus knows when the
 * process began.  It asks for the second block only when that time is reached.  Then the input opens the file again,
 * checks that it is the same file, and closes it at its end.  If many processes overlap in time, t2x_open_files.h parks
 * inputs between two of their blocks.  Anything else, such as a pipe, can be opened only once and stays open.
 *
 * A file of several processes is read in the order of time, as far as that is known: see t2x_order.h.
 *
 * Memory: 1,000 closed or parked inputs take 5 MB; an open input takes up to 1 MB.
 */
#ifndef T2X_INPUT_H
#define T2X_INPUT_H

#include <sys/types.h>

#include "t2x_blocks.h"
#include "t2x_open_files.h"

struct t2x_join;
struct t2x_order;

struct t2x_input {
	struct t2x_blocks blocks;         /* first: the address of an input's blocks is the input's */
	struct t2x_in in;
	const char *path;                 /* the caller's; it outlives the input.  "-": standard input */
	const struct t2x_layout *layout;  /* of a foreign platform, or NULL */
	struct t2x_report *report;
	int needs_file;                   /* set by the caller: refuse all but regular files, a FIFO would block */
	int is_listed;                    /* for the caller: found in a directory, not named by the user */
	struct t2x_input *next_alike;     /* for the caller, who looks for inputs by device and inode */
	unsigned open_streams;            /* for the caller: streams without END */
	int is_open, is_done;
	int is_parked;                    /* it is open, but has neither a descriptor nor buffers */
	struct t2x_open_files *open_files;   /* the caller's; NULL: it is never parked */
	struct t2x_open_file open_file;   /* its member of that list */
	int left_out;                     /* it could not be opened: too many files were open */
	int is_regular;                   /* a regular file, with this device and inode */
	dev_t device;
	ino_t inode;
	uint64_t bytes;                   /* size of the file when it was checked */
	uint64_t good;                    /* blocks in it, so far */
	char fault[64];                   /* why it cannot be used, or "" */
	struct t2x_block first;           /* of a closed file, without its raw form; count 0: not stored */
	struct tlg_event *first_events;
	int skip_first;                   /* first has been delivered: skip it in the file */
	uint64_t max_blocks;              /* read no more; 0: all */
	struct t2x_order *order;          /* of its frames; NULL: read the file from front to back */
	int has_order;                    /* several streams: read the frames in that order */
	uint64_t begin_at;                /* offset at which reading begins ... */
	struct t2x_map begun;             /* ... and streams of which a cycle has come since */
	struct t2x_join *joins;           /* ring files that continue its streams, see t2x_join.h */
	struct t2x_lz4_cut cut;           /* with joins: what the end of the file cuts off ... */
	int (*has_cut)(const struct t2x_input *input, uint32_t stream);   /* ... and whether a ring file has it */
	struct t2x_read_ahead *ahead;          /* only for t2x_read_ahead.c */
	struct t2x_read_ahead_queue *queue;    /* likewise */
};

/*
 * Check the input and store its first block.  The caller has set path, layout and report; the rest is zero.
 * keeps_first  0: do not store it, because the caller wants the raw form of all blocks
 * Return  0: the input cannot be used, and fault says why
 */
int t2x_input_check(struct t2x_input *input, int keeps_first);

/*
 * Begin reading so far behind in the file that no event is lost which is not older than ns since 1970; T2X_SEEK_END:
 * see t2x_seek.h.  Call it after t2x_input_check() and before the first block.
 * Return  1: the part in front is left out; 0: all is read
 */
int t2x_input_seek(struct t2x_input *input, uint64_t ns);

/* The next block of the input whose blocks these are, as t2x_blocks_next().  A t2x_next_fn */
int t2x_input_next(struct t2x_blocks *blocks, struct t2x_block *block);

/* Another thread reads the input from now on: it is not parked any more. */
void t2x_input_keep_open(struct t2x_input *input);

/* Return  1: the input delivers all its blocks in the order of time */
int t2x_input_is_in_order(const struct t2x_input *input);

/* The next block of the file is not older than this; UINT64_MAX at its end, and if nothing is known. */
uint64_t t2x_input_now_ns(const struct t2x_input *input);

/* Streams of the file that have not begun do not begin before this; 0: nothing is known. */
uint64_t t2x_input_rest_ns(const struct t2x_input *input);

/* Report damage to this report from now on. */
void t2x_input_report_to(struct t2x_input *input, struct t2x_report *report);

void t2x_input_close(struct t2x_input *input);

#endif
