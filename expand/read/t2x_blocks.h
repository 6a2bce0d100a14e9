/* SPDX-License-Identifier: MIT */
/*
 * t2x_blocks.h - reads the bytes of an input and delivers blocks that are certainly as they were written.
 *
 * t2x_scanner.h says which bytes are good blocks.  The reader skips all others, byte by byte, and reports them.  A file
 * without blocks, StackTrack's own form, is delivered in runs of events.
 */
#ifndef T2X_BLOCKS_H
#define T2X_BLOCKS_H

#include "t2x_scanner.h"

/*
 * A block.  Its events may lie in an allocation of their own, behind space for BLOCK.  A caller who wants to keep them
 * acquires that allocation: he copies the pointer *own, sets *own to NULL, and calls free() later.
 */
struct t2x_block {
	const struct t2x_layout *layout; /* of raw; both NULL where only events are needed */
	const unsigned char *raw;        /* the events in the file's layout, BLOCK first if is_framed */
	unsigned entries;                /* of raw, BLOCK included */
	int is_framed;
	int is_sought;                   /* reading has begun in the middle of the file, see t2x_input_seek() */
	int is_packed;                   /* BLOCK says so; the events behind it at raw are unpacked already */
	int counts_events;               /* sequence numbers count native events, not entries of another size */
	uint32_t stream;                 /* id of the stream; not framed: the process id */
	uint32_t number;                 /* BLOCK.sequence; not framed: 0 */
	uint32_t tid;                    /* BLOCK.tid; not framed: TLG_NO_THREAD for the process, else 0 */
	uint16_t pid;
	uint64_t rest_ns;                /* streams of the input that have not begun are not older; 0: not known */
	const struct tlg_event *events;  /* native, without BLOCK */
	unsigned count;
	struct tlg_event **own;          /* their allocation, or NULL; see above */
	const unsigned char *stored;     /* the block as the file has it, of stored_bytes; NULL: it is of no file */
	size_t stored_bytes;
};

struct t2x_blocks {
	struct t2x_in *in;
	struct t2x_scanner scanner;
	struct tlg_event *own;           /* BLOCK, native events of the latest block; NULL: the caller acquired them */
	struct tlg_event *events;        /* the same for events that had to be made native, or if memory is short */
	struct tlg_event *unpacked;      /* BLOCK, and events that are not native yet */
	uint64_t good;                   /* blocks delivered */
	int is_plain_sequence;           /* a file without blocks */
	int has_begun;
	uint32_t unknown_layout;         /* PROLOGUE.entry_size of a file whose layout is not known, or 0 */
};

/* Plain bytes that the input's window must have for this layout (NULL: ours). */
size_t t2x_blocks_seen(const struct t2x_layout *layout);

/*
 * Read the blocks of an input, which the caller closes.
 * layout  of a foreign platform, or NULL: ours, in either byte order
 * Return  0 or -ENOMEM
 */
int t2x_blocks_init(struct t2x_blocks *blocks, struct t2x_in *in, const struct t2x_layout *layout);
void t2x_blocks_free(struct t2x_blocks *blocks);

/* Free the memory for events, none of which is in use, until it is restored.  Return of restoring  0 or -ENOMEM */
void t2x_blocks_park(struct t2x_blocks *blocks);
int t2x_blocks_restore(struct t2x_blocks *blocks);

/* Go to a frame of the file, see t2x_in_go(). */
void t2x_blocks_go(struct t2x_blocks *blocks, uint64_t offset, uint64_t plain, uint64_t bytes);

/* The next block, valid until the next call.  Return  1; 0 at the end */
int t2x_blocks_next(struct t2x_blocks *blocks, struct t2x_block *block);

/* Set the BLOCK of an unpacked block to what a writer of plain blocks would have written for this stream. */
void t2x_blocks_seal_plain(const struct t2x_layout *layout, struct tlg_event *block, unsigned count, uint32_t stream);

#endif
