/* SPDX-License-Identifier: MIT */
/* t2x_envelope.c - see t2x_envelope.h.  All numbers are little-endian. */
#include "t2x_envelope.h"

#include <string.h>

#include "tlg.h"
#include "tlg_crc.h"

enum { MAGIC = 0x46325401, RECEIPT_MAGIC = 0x52325401, IS_MISSING = 1 };

static const char *const reasons[T2X_GAP_REASONS] = { "none", "quota" };

const char *t2x_gap_reason_name(enum t2x_gap_reason reason)
{
	return reasons[reason];
}

/* ---- hosts -------------------------------------------------------------------------------------- */

static int is_host_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

int t2x_envelope_is_host(const char *name)
{
	size_t n = 0;

	while (n < T2X_ENVELOPE_HOST && is_host_letter(name[n]))
		n++;
	return n > 0 && n < T2X_ENVELOPE_HOST && !name[n];
}

void t2x_envelope_set_host(char *to, const char *text)
{
	size_t n = 0;

	for (; text[n] && n < T2X_ENVELOPE_HOST - 1; n++)
		to[n] = is_host_letter(text[n]) ? text[n] : '-';
	if (!n)
		to[n++] = '-';
	to[n] = '\0';
}

/* ---- numbers ------------------------------------------------------------------------------------ */

static void put32(unsigned char **to, uint32_t value)
{
	for (int i = 0; i < 4; i++, value >>= 8)
		*(*to)++ = (unsigned char)value;
}

static void put64(unsigned char **to, uint64_t value)
{
	put32(to, (uint32_t)value);
	put32(to, (uint32_t)(value >> 32));
}

static uint32_t get32(const unsigned char **from)
{
	const unsigned char *p = *from;

	*from += 4;
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const unsigned char **from)
{
	uint64_t low = get32(from);

	return low | (uint64_t)get32(from) << 32;
}

/* ---- envelopes ---------------------------------------------------------------------------------- */

void t2x_envelope_write(const struct t2x_envelope *envelope, unsigned char *to)
{
	unsigned char *p = to;

	memset(to, 0, T2X_ENVELOPE_BYTES);
	put32(&p, MAGIC);
	put32(&p, envelope->reason);
	put32(&p, envelope->stream);
	put32(&p, envelope->ring);
	put32(&p, envelope->pid);
	put32(&p, envelope->previous);
	put32(&p, envelope->first);
	put32(&p, envelope->last);
	put32(&p, envelope->blocks);
	put64(&p, envelope->start_ns);
	put64(&p, envelope->events);
	put32(&p, envelope->plain_bytes);
	put32(&p, envelope->packed_bytes);
	put32(&p, envelope->packed_crc);
	memcpy(p, envelope->host, strnlen(envelope->host, T2X_ENVELOPE_HOST - 1));
	p = to + T2X_ENVELOPE_BYTES - 4;
	put32(&p, tlg_crc32c(0, to, T2X_ENVELOPE_BYTES - 4));
}

/* Return  NULL, or what is wrong with the numbers */
static const char *judge_numbers(const struct t2x_envelope *envelope)
{
	uint64_t range = envelope->last - UINT64_C(1) * envelope->first + 1;

	if (!envelope->stream || !envelope->first || envelope->first > envelope->last ||
	    envelope->previous >= envelope->first || !envelope->blocks || envelope->blocks > range)
		return "block numbers that contradict each other";
	if (envelope->ring)
		return "a kind of blocks that this version does not know";
	if (envelope->reason >= T2X_GAP_REASONS)
		return "a reason that this version does not know";
	return NULL;
}

static const char *judge_sizes(const struct t2x_envelope *envelope, const unsigned char *frame, size_t n)
{
	if (envelope->packed_bytes != n)
		return "another size than the envelope says";
	if (envelope->reason != T2X_GAP_NONE)
		return n || envelope->plain_bytes ? "a gap with blocks" : NULL;
	if (!n || !envelope->plain_bytes || envelope->plain_bytes > TLG_FRAME_BYTES ||
	    envelope->plain_bytes / TLG_EVENT_SIZE < envelope->blocks)
		return "sizes that contradict each other";
	return tlg_crc32c(0, frame, n) == envelope->packed_crc ? NULL : "a wrong checksum";
}

const char *t2x_envelope_read(struct t2x_envelope *envelope, const unsigned char *bytes, size_t n)
{
	const unsigned char *p = bytes, *crc = bytes + T2X_ENVELOPE_BYTES - 4;
	const char *why;

	if (n < T2X_ENVELOPE_BYTES || n > T2X_ENVELOPE_MESSAGE)
		return "too short or too long";
	if (get32(&p) != MAGIC || get32(&crc) != tlg_crc32c(0, bytes, T2X_ENVELOPE_BYTES - 4))
		return "no envelope";
	memset(envelope, 0, sizeof(*envelope));
	envelope->reason = get32(&p);
	envelope->stream = get32(&p);
	envelope->ring = get32(&p);
	envelope->pid = get32(&p);
	envelope->previous = get32(&p);
	envelope->first = get32(&p);
	envelope->last = get32(&p);
	envelope->blocks = get32(&p);
	envelope->start_ns = get64(&p);
	envelope->events = get64(&p);
	envelope->plain_bytes = get32(&p);
	envelope->packed_bytes = get32(&p);
	envelope->packed_crc = get32(&p);
	memcpy(envelope->host, p, T2X_ENVELOPE_HOST);
	if (envelope->host[T2X_ENVELOPE_HOST - 1] || !t2x_envelope_is_host(envelope->host))
		return "no name of a host";
	why = judge_numbers(envelope);
	return why ? why : judge_sizes(envelope, bytes + T2X_ENVELOPE_BYTES, n - T2X_ENVELOPE_BYTES);
}

/* ---- receipts ----------------------------------------------------------------------------------- */

void t2x_receipt_write(const struct t2x_receipt *receipt, unsigned char *to)
{
	unsigned char *p = to;

	memset(to, 0, T2X_RECEIPT_BYTES);
	put32(&p, RECEIPT_MAGIC);
	put32(&p, receipt->stream);
	put32(&p, receipt->ring);
	put32(&p, receipt->pid);
	put32(&p, receipt->until);
	put32(&p, receipt->is_missing ? IS_MISSING : 0);
	p = to + T2X_RECEIPT_BYTES - 4;
	put32(&p, tlg_crc32c(0, to, T2X_RECEIPT_BYTES - 4));
}

int t2x_receipt_read(struct t2x_receipt *receipt, const unsigned char *bytes, size_t n)
{
	const unsigned char *p = bytes, *crc = bytes + T2X_RECEIPT_BYTES - 4;

	if (n != T2X_RECEIPT_BYTES || get32(&p) != RECEIPT_MAGIC ||
	    get32(&crc) != tlg_crc32c(0, bytes, T2X_RECEIPT_BYTES - 4))
		return 0;
	receipt->stream = get32(&p);
	receipt->ring = get32(&p);
	receipt->pid = get32(&p);
	receipt->until = get32(&p);
	receipt->is_missing = (get32(&p) & IS_MISSING) != 0;
	return 1;
}
