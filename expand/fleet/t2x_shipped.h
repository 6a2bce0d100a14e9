/* SPDX-License-Identifier: MIT */
/*
 * t2x_shipped.h - the files of a directory that is shipped, and how far each stream in them has come.
 */
#ifndef T2X_SHIPPED_H
#define T2X_SHIPPED_H

#include "t2x_outbox.h"
#include "t2x_parcel.h"
#include "base/t2x_map.h"
#include "live/t2x_tail.h"
#include "read/t2x_pace.h"

struct t2x_shipped_stream {
	struct t2x_shipped_stream *next;
	struct t2x_envelope head;         /* host, stream, process; previous is that of the next block */
	uint32_t last;                    /* block that was put into a message */
	uint32_t receipted;
	struct t2x_pace pace;
	int has_begun, has_end;           /* its first block was read, END */
};

struct t2x_shipped_file {
	struct t2x_shipped_file *next;
	struct t2x_tail tail;
	struct t2x_shipped_stream *streams;
	struct t2x_map by_id;             /* the same */
	struct timespec modified;
	uint64_t bytes;
	int is_listed;                    /* its name was there in the latest search */
	int is_rewound;                   /* all of it is to be read again */
};

struct t2x_shipped {
	const char *directory;
	const char *host;
	struct t2x_report report;
	struct t2x_outbox outbox;
	struct t2x_parcel parcel;
	unsigned char *message;           /* T2X_ENVELOPE_MESSAGE */
	struct t2x_shipped_file *files;
	int error;                        /* -ENOMEM, once */
	uint64_t dropped_blocks, dropped_events, dropped_bytes;
	unsigned gaps;                    /* in the file of gaps */
};

/* Return  0 or -ENOMEM */
int t2x_shipped_init(struct t2x_shipped *shipped, const char *directory, const char *host);
void t2x_shipped_free(struct t2x_shipped *shipped);

/* Look for files.  Return  NULL, or why the directory cannot be read */
const char *t2x_shipped_search(struct t2x_shipped *shipped);

/* Make messages of what is new, as long as the outbox takes them.  Return  1: some were made */
int t2x_shipped_read(struct t2x_shipped *shipped);

void t2x_shipped_receipt(struct t2x_shipped *shipped, const struct t2x_receipt *receipt, uint64_t now_ms);

/* Remove the files of which each block has its receipt, and that have ended. */
void t2x_shipped_delete(struct t2x_shipped *shipped);

/* Drop the oldest of what has ended until no more than quota bytes have no receipt. */
void t2x_shipped_drop(struct t2x_shipped *shipped, uint64_t quota);

/* 1: all that is there has its receipt. */
int t2x_shipped_is_done(const struct t2x_shipped *shipped);

/* Bytes that are in files and have not all receipts. */
uint64_t t2x_shipped_waiting(const struct t2x_shipped *shipped);

/* ---- what was dropped, until it has its receipt: .t2-ship-gaps, envelopes one behind the other ------- */

/* Put the gaps of an earlier run into the outbox.  Return  0 or -ENOMEM */
int t2x_shipped_gaps_load(struct t2x_shipped *shipped);

/* The blocks of these streams behind those with a receipt are about to go.  Return  0: it could not be written down */
int t2x_shipped_gaps_add(struct t2x_shipped *shipped, const struct t2x_shipped_stream *streams);

/* The outbox has handled a receipt: the file goes when no gap is left in there. */
void t2x_shipped_gaps_receipt(struct t2x_shipped *shipped, const struct t2x_receipt *receipt);

#endif
