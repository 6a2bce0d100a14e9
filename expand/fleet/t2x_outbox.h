/* SPDX-License-Identifier: MIT */
/*
 * t2x_outbox.h - messages that a host has made and for which it has no receipt: pure functions of the time.
 *
 * A message is sent, and sent again until a receipt covers it: after 2 s, then 4 s and so on, up to 30 s.  A receipt
 * says up to which block all is stored, so one covers all messages before it.  When blocks are missing at the
 * collector, the messages of that stream are due at once.
 */
#ifndef T2X_OUTBOX_H
#define T2X_OUTBOX_H

#include "t2x_envelope.h"

enum { T2X_OUTBOX_BYTES = 8 * 1024 * 1024, T2X_OUTBOX_FIRST_MS = 2000, T2X_OUTBOX_MAX_MS = 30000 };

struct t2x_outgoing {
	struct t2x_outgoing *next;
	struct t2x_envelope head;
	unsigned char *bytes;
	size_t n;
	unsigned tries;                   /* how often it was sent */
	uint64_t due_ms;                  /* when it is to be sent */
};

/* All zero: empty. */
struct t2x_outbox {
	struct t2x_outgoing *first, *last;    /* in the order in which they were made */
	uint64_t bytes;
	unsigned count;
	uint64_t receipted, sent, again;  /* messages so far: with a receipt; sent; sent another time */
};

void t2x_outbox_free(struct t2x_outbox *outbox);

/* Copy a message.  Return  0 or -ENOMEM */
int t2x_outbox_add(struct t2x_outbox *outbox, const struct t2x_envelope *head, const void *bytes, size_t n);

/* 1: nothing more is to be made until receipts have come. */
static inline int t2x_outbox_is_full(const struct t2x_outbox *outbox)
{
	return outbox->bytes >= T2X_OUTBOX_BYTES;
}

/* The first message that is due.  Return  NULL: none is */
struct t2x_outgoing *t2x_outbox_due(struct t2x_outbox *outbox, uint64_t now_ms);

/* It was sent. */
void t2x_outbox_sent(struct t2x_outbox *outbox, struct t2x_outgoing *message, uint64_t now_ms);

/*
 * A receipt has come.
 * Return  0; 1: the collector lacks blocks in front of all messages of the stream that are here: they were receipted
 *         before, and have to be made again
 */
int t2x_outbox_receipt(struct t2x_outbox *outbox, const struct t2x_receipt *receipt, uint64_t now_ms);

/* Forget the messages of a stream of this process. */
void t2x_outbox_drop(struct t2x_outbox *outbox, uint32_t stream, uint32_t pid);

#endif
