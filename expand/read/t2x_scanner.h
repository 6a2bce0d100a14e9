/* SPDX-License-Identifier: MIT */
/*
 * t2x_scanner.h - decides which bytes of an input are blocks, and of which stream.
 *
 * A candidate is a sequence of bytes that begins like a block.  It is a good block if its checksum belongs to a known
 * stream.  A stream becomes known with the first candidate that is confirmed: the candidate has the stream's CYCLE, or
 * the mark in front of its LZ4 frame names the stream, or a block close behind has a checksum of the same stream.
 *
 * Behind damage this does not suffice.  The traced program may have recorded a text that looks like blocks of another
 * stream, and the header of the block around this text may be destroyed.  So the scanner is always in one of three
 * states:
 *
 *                             bad block
 *        .------------.  --------------------->  .----------.
 *    --->|  VERIFIED  |                          |  INSIDE  |<---.
 *        '------------'  <---------------------  '----------'    |
 *           |     ^            good block             |          |
 *           |     |                                   | its end  |  bad block
 *  no block |     |                                   v          |
 *           |     |          good block            .-------.     |
 *           |     '--------------------------------|  GAP  |-----'
 *           '------------------------------------->'-------'
 *
 *   VERIFIED  everything before is certain: a good block ended here, or a piece of the input begins
 *   INSIDE    these bytes may be a text of the bad block: its header says that they belong to it
 *   GAP       behind the end of the bad block, or where no block begins
 *
 * Cases of a candidate, in the order in which the scanner checks them:
 *
 *   1  its checksum is of the latest stream of its process                                        good
 *   2  its checksum is of another known stream                                                    good
 *   3  INSIDE, and confirmed: as case 6, and it has to be behind a torn block, see below
 *   4  nothing confirms its stream                                                                bad
 *   5  VERIFIED, and confirmed                                                                    good
 *   6  GAP, and confirmed: good if what follows verifies it (cases 7 to 10)
 *
 * The blocks that follow verify the candidate if they show that it cannot be a text.  A text in a plain block is not
 * aligned to the events of the block and cannot end where the block does, so good blocks do not follow it back to back.
 * A text in a packed block can end with its block.  But then the next block of the packed block's stream shows by its
 * number that a block is missing.  So, for the good blocks that follow, in their order:
 *
 *   7  one begins farther behind the candidate than any block is long, and either all up to it are back to back, or it
 *      is of the candidate's stream: no block could hold both                                     verified
 *   8  it is the first of a known stream, and its number shows that blocks before it are missing  unverified
 *   9  it is the first of a known stream, back to back, and its number is the next: none is missing.  One may be
 *      missing if the bad block's header says that it ends where the candidate begins: it is the missing one.
 *      Verified, unless case 8 comes before blocks cease to be back to back
 *  10  no more can be seen, and all were back to back up to there                                 verified
 *
 * INSIDE, the bad block may also be torn: the process was killed in write(2), and blocks of other processes follow
 * before its end.  Then good blocks that are back to back with the candidate lie across the end that the bad block
 * claims.  A text does not reach behind that end.  A text that ends exactly there is in a packed block, and the next
 * block begins there.  So case 3 requires that a good block lies across the claimed end; if the bad block is not
 * packed, one may also begin there.  If the bad block's size is wrong, only cases 7 to 10 decide, as in a GAP.
 *
 * A candidate that is not verified counts as damage.  So a good file loses at most as much of a new stream as the
 * longest block takes, and only where the stream begins right behind a damaged block of another one, or between two
 * damages.  Two texts cannot be recognized: one that ends with its packed block, if no further block of that stream
 * follows, and one just behind which the file was cut off.
 */
#ifndef T2X_SCANNER_H
#define T2X_SCANNER_H

#include "t2x_in.h"
#include "t2x_layout.h"
#include "t2x_stream_table.h"

struct t2x_candidate {
	const struct t2x_layout *layout;
	const unsigned char *raw;
	size_t bytes;             /* BLOCK included */
	struct tlg_event head;
	uint32_t id;              /* its stream, once that is identified ... */
	struct t2x_known_stream *stream;   /* ... and what is known of it; NULL: there was no memory */
};

struct t2x_scanner {
	struct t2x_in *in;
	const struct t2x_layout *layouts[2];   /* ours, in both byte orders, or the caller's */
	unsigned nlayouts;
	struct t2x_stream_table streams;
	uint64_t checked_bytes;   /* of blocks that turned out bad, see t2x_scanner_has_budget() */
	uint64_t verified_until;  /* the state is VERIFIED at this offset */
	uint64_t claimed_until;   /* claimed end of a bad block that begins at verified_until; 0: there is none */
	uint64_t inside_until;    /* the state is INSIDE up to this offset; 0: nowhere */
	int inside_is_packed;     /* the bad block is packed */
	uint64_t unverified_until;   /* blocks back to back up to here were judged together: they are unverified */
	uint32_t lookaheads;      /* number of look_ahead() calls */
};

/*
 * layout  of a foreign platform, or NULL: ours, in either byte order
 * Return  0 or -ENOMEM
 */
int t2x_scanner_init(struct t2x_scanner *scanner, struct t2x_in *in, const struct t2x_layout *layout);
void t2x_scanner_free(struct t2x_scanner *scanner);

/* Plain bytes that the input's window must have for this layout (NULL: ours): twice those of the longest block. */
size_t t2x_scanner_window(const struct t2x_layout *layout);

/* Return  1: a BLOCK event may lie at p, where avail bytes can be seen */
int t2x_scanner_find(const struct t2x_scanner *scanner, const unsigned char *p, size_t avail,
		     struct t2x_candidate *candidate);

/* A good block ended where the input is now, or a piece begins there: VERIFIED. */
void t2x_scanner_verified(struct t2x_scanner *scanner);

/*
 * Find the stream of the candidate at the beginning of the input's window, which has all its bytes.
 * Return  0: it is damaged, or of a stream that nothing confirms or verifies
 */
int t2x_scanner_identify(struct t2x_scanner *scanner, struct t2x_candidate *candidate);

/*
 * Somebody can make a file in which something like a long block begins every few bytes.  So the work for bad blocks has
 * a limit in proportion to what has been read.  Return  0: the limit is reached, only known streams count now
 */
int t2x_scanner_has_budget(const struct t2x_scanner *scanner);

#endif
