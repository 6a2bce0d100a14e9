/* SPDX-License-Identifier: MIT */
/*
 * t2x_nats.h - what the fleet needs of NATS JetStream.  Only t2x_nats.c knows libnats, which is loaded on connecting.
 *
 *     t2.blocks.HOST    messages of a host, in the JetStream "T2", until a collector has acknowledged them
 *     t2.receipt.HOST   receipts for it; they are not stored, and a lost one is answered again
 *
 * A connection that breaks is made again, for ever.  Nothing here waits for longer than the caller says.
 */
#ifndef T2X_NATS_H
#define T2X_NATS_H

#include <stddef.h>
#include <stdint.h>

#include "t2x_envelope.h"

enum { T2X_NATS_SUBJECT = 128, T2X_NATS_BATCH = 64 };

struct t2x_nats;

struct t2x_nats_settings {
	const char *servers;              /* URLs, with commas between them */
	const char *name;                 /* of this connection: for inboxes, and for who looks at the server */
	const char *creds;                /* file with a user's credentials; NULL: none */
	const char *nkey, *nkey_seed;     /* public key of a user, and the file with its seed; NULL: none */
	const char *ca, *cert, *key;      /* TLS: files in PEM; NULL: none */
};

/* A message of a host. */
struct t2x_nats_message {
	void *own;
	const char *subject;
	const unsigned char *bytes;
	size_t n;
	uint64_t deliveries;              /* how often it was delivered, this time included */
};

/* Return  NULL: *why says why.  That no server answers is no reason: it is tried again */
struct t2x_nats *t2x_nats_connect(const struct t2x_nats_settings *settings, const char **why);
void t2x_nats_close(struct t2x_nats *nats);
int t2x_nats_is_connected(struct t2x_nats *nats);

/* Return  what to report, once, if no server has answered for a second; NULL: nothing */
const char *t2x_nats_away(struct t2x_nats *nats, uint64_t now_ms);

/* What the servers said last of a message that they do not store; "" if there was nothing.  It is forgotten then. */
void t2x_nats_trouble(struct t2x_nats *nats, char *to, size_t size);

/* ---- a host --------------------------------------------------------------------------------------- */

/* Receive this host's receipts from now on.  Return  0: not connected, or not allowed */
int t2x_nats_listen(struct t2x_nats *nats, const char *host);

/* Wait for a receipt.  Return  its bytes at to; 0: none came */
size_t t2x_nats_next(struct t2x_nats *nats, int wait_ms, unsigned char *to, size_t size);

/* Publish a message.  id  by which the servers drop a copy.  Return  0: not now */
int t2x_nats_publish(struct t2x_nats *nats, const char *host, const char *id, const void *bytes, size_t n);

/* ---- a collector ---------------------------------------------------------------------------------- */

/*
 * Make the JetStream, if it is not there, and the consumer that all collectors share.
 * Return  NULL, or why not, in words; try again later
 */
const char *t2x_nats_prepare(struct t2x_nats *nats, int replicas, int64_t max_bytes);

/* Messages, up to T2X_NATS_BATCH.  Return  how many; -1: the JetStream may be gone, prepare it again */
int t2x_nats_fetch(struct t2x_nats *nats, struct t2x_nats_message *messages, int wait_ms);

/* What becomes of a message; the message is freed.  TERM: it is never delivered again */
enum t2x_nats_fate { T2X_NATS_ACK, T2X_NATS_LATER, T2X_NATS_TERM };
void t2x_nats_finish(struct t2x_nats_message *message, enum t2x_nats_fate fate, int later_ms);

void t2x_nats_receipt(struct t2x_nats *nats, const char *host, const unsigned char *bytes, size_t n);
void t2x_nats_flush(struct t2x_nats *nats);

/* The name of the host in a subject.  Return  NULL: it has none */
const char *t2x_nats_host(const char *subject);

#endif
