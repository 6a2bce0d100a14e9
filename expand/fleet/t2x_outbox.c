/* SPDX-License-Identifier: MIT */
/* t2x_outbox.c - see t2x_outbox.h. */
#include "t2x_outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { AGAIN_MS = 300 };                  /* between two times because of missing blocks */

int t2x_outbox_add(struct t2x_outbox *outbox, const struct t2x_envelope *head, const void *bytes, size_t n)
{
	struct t2x_outgoing *message = calloc(1, sizeof(*message));

	if (message)
		message->bytes = malloc(n);
	if (!message || !message->bytes) {
		free(message);
		return -ENOMEM;
	}
	message->head = *head;
	message->n = n;
	memcpy(message->bytes, bytes, n);
	*(outbox->last ? &outbox->last->next : &outbox->first) = message;
	outbox->last = message;
	outbox->bytes += n;
	outbox->count++;
	return 0;
}

static int is_of(const struct t2x_outgoing *message, uint32_t stream, uint32_t pid)
{
	return message->head.stream == stream && message->head.pid == pid;
}

/* Remove the messages of a stream up to this block.  Return  how many */
static unsigned cover(struct t2x_outbox *outbox, uint32_t stream, uint32_t pid, uint32_t until)
{
	struct t2x_outgoing **p = &outbox->first, *message;
	unsigned n = 0;

	outbox->last = NULL;
	while ((message = *p)) {
		if (!is_of(message, stream, pid) || message->head.last > until) {
			outbox->last = message;
			p = &message->next;
			continue;
		}
		*p = message->next;
		outbox->bytes -= message->n;
		outbox->count--;
		free(message->bytes);
		free(message);
		n++;
	}
	return n;
}

void t2x_outbox_drop(struct t2x_outbox *outbox, uint32_t stream, uint32_t pid)
{
	cover(outbox, stream, pid, UINT32_MAX);
}

void t2x_outbox_free(struct t2x_outbox *outbox)
{
	while (outbox->first)
		t2x_outbox_drop(outbox, outbox->first->head.stream, outbox->first->head.pid);
}

struct t2x_outgoing *t2x_outbox_due(struct t2x_outbox *outbox, uint64_t now_ms)
{
	struct t2x_outgoing *message = outbox->first;

	while (message && message->due_ms > now_ms)
		message = message->next;
	return message;
}

void t2x_outbox_sent(struct t2x_outbox *outbox, struct t2x_outgoing *message, uint64_t now_ms)
{
	uint64_t wait = T2X_OUTBOX_FIRST_MS;

	for (unsigned i = 0; i < message->tries && wait < T2X_OUTBOX_MAX_MS; i++)
		wait *= 2;
	outbox->sent += !message->tries;
	outbox->again += message->tries > 0;
	message->tries++;
	message->due_ms = now_ms + (wait < T2X_OUTBOX_MAX_MS ? wait : T2X_OUTBOX_MAX_MS);
}

int t2x_outbox_receipt(struct t2x_outbox *outbox, const struct t2x_receipt *receipt, uint64_t now_ms)
{
	int has_next = 0, has_any = 0;

	outbox->receipted += cover(outbox, receipt->stream, receipt->pid, receipt->until);
	if (!receipt->is_missing)
		return 0;
	for (struct t2x_outgoing *message = outbox->first; message; message = message->next) {
		if (!is_of(message, receipt->stream, receipt->pid))
			continue;
		has_any = 1;
		has_next |= message->head.previous <= receipt->until;
		if (message->tries && message->due_ms > now_ms + AGAIN_MS)
			message->due_ms = now_ms + AGAIN_MS;
	}
	return has_any && !has_next;
}
