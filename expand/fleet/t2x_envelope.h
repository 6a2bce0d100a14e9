/* SPDX-License-Identifier: MIT */
/*
 * t2x_envelope.h - what stands in front of each message from a host: whose blocks these are, and which.
 *
 * A message has blocks of one stream, in the order of their numbers, as an LZ4 frame of at most TLG_FRAME_BYTES; or it
 * says that blocks will never come, and why: a gap.  A message names the block in front of its first one.  So whoever
 * stores messages knows if he has all that comes before.  Numbers need not be consecutive: a block that was damaged on
 * its host is missing there, too.
 *
 * An envelope comes from another machine and may be hostile.  t2x_envelope_read() accepts only what
 * t2x_envelope_write() can have written.
 */
#ifndef T2X_ENVELOPE_H
#define T2X_ENVELOPE_H

#include <stddef.h>
#include <stdint.h>

enum {
	T2X_ENVELOPE_BYTES = 144,
	T2X_ENVELOPE_MESSAGE = 256 * 1024,        /* of a message at most */
	T2X_ENVELOPE_HOST = 64,                   /* with the NUL */
	T2X_RECEIPT_BYTES = 32,
};

/* Why blocks will never come. */
enum t2x_gap_reason {
	T2X_GAP_NONE,                             /* no gap: the message has blocks */
	T2X_GAP_QUOTA,                            /* the host had no more space for them */
	T2X_GAP_REASONS,
};

struct t2x_envelope {
	char host[T2X_ENVELOPE_HOST];
	uint32_t stream;                          /* CYCLE.stream */
	uint32_t ring;                            /* 0: blocks of the process's file; others are for later versions */
	uint32_t pid;
	uint32_t previous;                        /* number of the block in front of first; 0: there is none */
	uint32_t first, last;                     /* numbers of blocks */
	uint32_t blocks;                          /* how many: of a gap at most that many */
	enum t2x_gap_reason reason;
	uint64_t start_ns;                        /* when the process began, since 1970 */
	uint64_t events;                          /* raw events in the blocks */
	uint32_t plain_bytes, packed_bytes;       /* of the frame behind the envelope; of a gap 0 */
	uint32_t packed_crc;                      /* CRC-32C of the frame */
};

/* What the collector has on its disk, and synced: the host may forget it. */
struct t2x_receipt {
	uint32_t stream, ring;
	uint32_t pid;                             /* two processes may have streams with one number */
	uint32_t until;                           /* all blocks up to this number; 0: none */
	int is_missing;                           /* blocks behind it are missing: a message came that is not next */
};

/* 1: it can be a host's name: letters, digits, - and _, at most 63.  It is safe as a subject and as a file name. */
int t2x_envelope_is_host(const char *name);

/* Make a name of a host of any text: other characters become -.  to has T2X_ENVELOPE_HOST bytes. */
void t2x_envelope_set_host(char *to, const char *text);

/* to has T2X_ENVELOPE_BYTES. */
void t2x_envelope_write(const struct t2x_envelope *envelope, unsigned char *to);

/*
 * Read the envelope of a message of n bytes, all of which are at bytes.
 * Return  NULL, or what is wrong, in words
 */
const char *t2x_envelope_read(struct t2x_envelope *envelope, const unsigned char *bytes, size_t n);

/* The same for receipts.  to has T2X_RECEIPT_BYTES.  Return of reading  0: this is no receipt */
void t2x_receipt_write(const struct t2x_receipt *receipt, unsigned char *to);
int t2x_receipt_read(struct t2x_receipt *receipt, const unsigned char *bytes, size_t n);

const char *t2x_gap_reason_name(enum t2x_gap_reason reason);

#endif
