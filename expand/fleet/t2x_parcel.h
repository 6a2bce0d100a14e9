/* SPDX-License-Identifier: MIT */
/*
 * t2x_parcel.h - makes messages of blocks, and blocks of messages.
 *
 * The blocks travel as they are in the file, byte by byte, so their own checksums still hold at the other end.  A
 * message ends where a block does.  Whoever opens one verifies everything that a collector relies on: the envelope, the
 * frame, and of each block its size, its number and its checksum, which only blocks of the named stream have.  What the
 * events in the blocks say is up to the reader, who is hardened against it.
 */
#ifndef T2X_PARCEL_H
#define T2X_PARCEL_H

#include "tlg.h"
#include "t2x_envelope.h"

/* Blocks that have been gathered.  All zero but plain, which has TLG_FRAME_BYTES: nothing. */
struct t2x_parcel {
	struct t2x_envelope head;         /* stream 0: the parcel is empty */
	unsigned char *plain;
	size_t n;                         /* bytes in plain */
};

/* A block in plain bytes. */
struct t2x_parcel_block {
	uint32_t number;
	uint32_t events;
	size_t bytes;
};

/*
 * Gather a block of bytes bytes.  head  names host, stream, ring, process, and the block in front of this one
 * Return  0: it does not fit: another stream, or no room; the caller seals first
 */
int t2x_parcel_add(struct t2x_parcel *parcel, const struct t2x_envelope *head, const struct t2x_parcel_block *block,
		   const void *bytes);

/* Make the message, and empty the parcel.  to has T2X_ENVELOPE_MESSAGE.  Return  its bytes; 0: no memory */
size_t t2x_parcel_seal(struct t2x_parcel *parcel, unsigned char *to);

/*
 * Open a message.  plain has TLG_FRAME_BYTES, and gets head->plain_bytes
 * Return  NULL; what is wrong, in words
 */
const char *t2x_parcel_open(struct t2x_envelope *head, const unsigned char *message, size_t n, unsigned char *plain);

/*
 * The mark in front of a frame in a file, FORMAT.md section 7: T2X_LZ4_MARK_BYTES.
 * number  of the frame in the stream
 */
void t2x_parcel_mark(unsigned char *to, uint32_t stream, uint32_t number, size_t plain_bytes);

/* Make a frame of whole blocks.  to has T2X_ENVELOPE_MESSAGE - T2X_ENVELOPE_BYTES.  Return  its bytes; 0: no memory */
size_t t2x_parcel_pack(unsigned char *to, const unsigned char *plain, size_t n);

/*
 * Unpack a mark and one frame behind it, n bytes, and nothing else.  plain has TLG_FRAME_BYTES
 * Return  plain bytes; 0: that is not so, or no memory
 */
size_t t2x_parcel_unpack(unsigned char *plain, const unsigned char *marked, size_t n);

/* The block of this stream at the beginning of n plain bytes.  Return  0: there is none, or it is damaged */
int t2x_parcel_block(struct t2x_parcel_block *block, uint32_t stream, const unsigned char *plain, size_t n);

#endif
