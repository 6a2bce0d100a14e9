/* SPDX-License-Identifier: MIT */
/*
 * t2x_scanner.h - a place in the bytes of an input that may hold a block: whether it does, and of which stream.
 *
 * A block is good when its checksum belongs to a stream that is known, or that becomes known with it: because the
 * block holds the stream's CYCLE, because the mark in front of its LZ4 frame names the stream, or because a block
 * behind it has a checksum of the same, so far unknown stream.
 *
 * Texts of a traced program may be made up to look like blocks of another stream, and lie open where the header of
 * their own block is destroyed.  So where blocks are not back to back, no stream becomes known
 *   - in what a bad block takes by its own header;
 *   - behind that, unless what follows clears the block that was found of all doubt.
 * It is cleared if good blocks follow it back to back for longer than any block is, or to the end; or if another of
 * its stream lies so far behind it that no block could hold both.  A text cannot do that: in a plain block it is off
 * the grid of the events, and cannot end where its block does.  In a packed one it can, but then the next block of a
 * known stream shows by its number that one is missing.  That does not count where the bad block's own header says
 * that it ends just here, and is the one that is missing.
 *
 * What remains in doubt is damage: at most as much of a new stream as the longest block takes, where it begins right
 * behind a damaged block of another, or between two damages.  What cannot be told: a text that ends with its packed
 * block, if that is the last in the file, or if what follows is only of other streams; and a text just behind which the
 * file was cut off.
 */
#ifndef T2X_SCANNER_H
#define T2X_SCANNER_H

#include "t2x_in.h"
#include "t2x_layout.h"
#include "t2x_stream_table.h"

struct t2x_place {
	const struct t2x_layout *layout;
	const unsigned char *raw;
	size_t bytes;             /* BLOCK included */
	struct tlg_event head;
};

struct t2x_places {
	struct t2x_in *in;
	const struct t2x_layout *layouts[2];   /* ours, in both byte orders, or the one that was given */
	unsigned nlayouts;        /* that may be met: both native ones, or the one that was given */
	struct t2x_mets met;      /* streams */
	uint64_t checked_bytes;   /* of blocks that turned out bad, see t2x_place_is_worth_checking() */
	uint64_t from;            /* up to here all is certain: end of a good block, or the beginning of a piece */
	uint64_t stated_until;    /* end of a bad block there, as it says; 0: nothing says so */
	uint64_t doubted_until;   /* inside of a bad block; 0: of none */
	uint32_t looks;           /* ahead, to clear one of doubt */
};

/*
 * layout  of a foreign platform, or NULL: ours, in either byte order
 * Return  0 or -ENOMEM
 */
int t2x_place_init(struct t2x_places *places, struct t2x_in *in, const struct t2x_layout *layout);
void t2x_place_free(struct t2x_places *places);

/* Plain bytes that must be seen at once for this layout (NULL: ours): twice those of the longest block. */
size_t t2x_place_seen(const struct t2x_layout *layout);

/* Whether a BLOCK event may lie at p, where avail bytes can be seen. */
int t2x_place_find(const struct t2x_places *places, const unsigned char *p, size_t avail, struct t2x_place *place);

/* Where the input is now all is certain: a good block ended, or a piece begins. */
void t2x_place_is_certain(struct t2x_places *places);

/*
 * Whose block the one is that was found at the input's window's beginning, where all its bytes can be seen.
 * Return  0: it is damaged, or of a stream that nothing confirms
 */
int t2x_place_stream(struct t2x_places *places, struct t2x_place *place, uint32_t *id);

/*
 * Noise can be made up so that every few bytes something like a long block begins.  Bad ones may cost so much
 * checking, in proportion to what has been read; beyond that only streams that are known are looked for.
 */
int t2x_place_is_worth_checking(const struct t2x_places *places);

#endif
