/* SPDX-License-Identifier: MIT */
/*
 * t2x_scanner.h - which bytes of an input are blocks, and of which stream.
 *
 * A candidate is what begins like a block.  It is a good block if its checksum belongs to a known stream.  A stream
 * becomes known with a candidate that confirms it: it holds the stream's CYCLE, or the mark in front of its LZ4 frame
 * names the stream, or a block close behind it has a checksum of the same stream.
 *
 * Behind damage that is not enough.  Texts of the traced program may be made up to look like blocks of another stream,
 * and lie open where the header of their own block is destroyed.  So the scanner is always in one of three states:
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
 *   INSIDE    what is here may be a text of the bad block: its own header says that it goes on up to its end
 *   GAP       behind that, or where no block begins
 *
 * Cases of a candidate, in the order in which they are looked for:
 *
 *   1  its checksum is of the latest stream of its process                                        good
 *   2  its checksum is of another known stream                                                    good
 *   3  INSIDE, and confirmed: as case 6, and it has to be behind a torn block, see below
 *   4  nothing confirms its stream                                                                bad
 *   5  VERIFIED, and confirmed                                                                    good
 *   6  GAP, and confirmed: good if what follows verifies it (cases 7 to 10)
 *
 * What follows verifies it if it shows that no text can be so placed.  A text in a plain block is off the grid of the
 * events and cannot end where its block does: good blocks do not follow it back to back.  In a packed block it can; but
 * then the next block of the packed one's stream shows by its number that one is missing.  So, for the good blocks
 * that follow, in their order:
 *
 *   7  one begins farther behind the candidate than any block is long, and either all up to it are back to back, or it
 *      is of the candidate's stream: no block could hold both                                     verified
 *   8  it is the first of a known stream, and its number shows that blocks before it are missing  unverified
 *   9  it is the first of a known stream, back to back, and its number is the next: none is missing.  One may be
 *      missing if the bad block's header says that it ends where the candidate begins: it is the missing one.
 *      Verified, unless case 8 comes before blocks cease to be back to back
 *  10  no more can be seen, and all were back to back up to there                                 verified
 *
 * INSIDE, the bad block may also be torn: the process was killed in write(2), and blocks of others follow where its end
 * should be.  Then good blocks that are back to back with the candidate lie across the end that the bad block claims.
 * A text does not reach behind that end; one that ends there has a boundary there, and its block is packed.  So case 3
 * wants good blocks across it, and where the bad block is packed no boundary.  If the bad block's size is what is wrong
 * with it, cases 7 to 10 have to tell alone, as in a GAP.
 *
 * Otherwise it is unverified, which is damage: at most as much of a new stream as the longest block takes, where it
 * begins right behind a damaged block of another, or between two damages.  What cannot be told: a text that ends with
 * its packed block, if that is the last in the file, or if only other streams follow; and a text just behind which the
 * file was cut off.
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
};

struct t2x_scanner {
	struct t2x_in *in;
	const struct t2x_layout *layouts[2];   /* ours, in both byte orders, or the one that was given */
	unsigned nlayouts;
	struct t2x_stream_table streams;
	uint64_t checked_bytes;   /* of blocks that turned out bad, see t2x_scanner_has_budget() */
	uint64_t verified_until;  /* VERIFIED is here */
	uint64_t claimed_until;   /* where a bad block that began there ends, as its header claims; 0: there is none */
	uint64_t inside_until;    /* INSIDE is up to here; 0: is nowhere */
	int inside_is_packed;     /* of a packed block */
	uint64_t unverified_until;   /* blocks back to back up to here were looked at together and are unverified */
	uint32_t lookaheads;      /* so far */
};

/*
 * layout  of a foreign platform, or NULL: ours, in either byte order
 * Return  0 or -ENOMEM
 */
int t2x_scanner_init(struct t2x_scanner *scanner, struct t2x_in *in, const struct t2x_layout *layout);
void t2x_scanner_free(struct t2x_scanner *scanner);

/* Plain bytes that must be seen at once for this layout (NULL: ours): twice those of the longest block. */
size_t t2x_scanner_window(const struct t2x_layout *layout);

/* Whether a BLOCK event may lie at p, where avail bytes can be seen. */
int t2x_scanner_find(const struct t2x_scanner *scanner, const unsigned char *p, size_t avail,
		     struct t2x_candidate *candidate);

/* A good block ended where the input is now, or a piece begins there: VERIFIED. */
void t2x_scanner_verified(struct t2x_scanner *scanner);

/*
 * Whose block the candidate at the beginning of the input's window is; all its bytes can be seen.
 * Return  0: it is damaged, or of a stream that nothing confirms or verifies
 */
int t2x_scanner_identify(struct t2x_scanner *scanner, struct t2x_candidate *candidate, uint32_t *id);

/*
 * Noise can be made up so that every few bytes something like a long block begins.  Bad ones may cost so much
 * checking, in proportion to what has been read; beyond that only streams that are known are looked for.
 */
int t2x_scanner_has_budget(const struct t2x_scanner *scanner);

#endif
