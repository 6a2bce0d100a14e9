/* SPDX-License-Identifier: MIT */
/*
 * fuzz_envelope - messages from hosts.  Of inputs whose first byte is odd the checksums and sizes of the envelope are
 * corrected, so that every fuzzer gets to the frame.  What is accepted has to be what the envelope says.
 */
#include <string.h>

#include "fuzz.h"
#include "tlg.h"
#include "tlg_crc.h"
#include "fleet/t2x_parcel.h"

enum { FRAME_CRC_AT = 60, CRC_AT = T2X_ENVELOPE_BYTES - 4, MAX = 8192 };

static void store_le32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++, value >>= 8)
		to[i] = (uint8_t)value;
}

static void check(const struct t2x_envelope *head, const uint8_t *plain)
{
	struct t2x_parcel_block block;
	uint32_t blocks = 0, number = head->previous;

	if (!t2x_envelope_is_host(head->host) || head->first > head->last || head->plain_bytes > TLG_FRAME_BYTES)
		fuzz_fail("envelope", "accepted a bad one", head->host, strnlen(head->host, sizeof(head->host)));
	if (head->reason != T2X_GAP_NONE)
		return;
	for (size_t at = 0; at < head->plain_bytes; at += block.bytes, blocks++) {
		if (!t2x_parcel_block(&block, head->stream, plain + at, head->plain_bytes - at) ||
		    block.number <= number)
			fuzz_fail("parcel", "accepted a bad block", (const char *)plain, head->plain_bytes);
		number = block.number;
	}
	if (blocks != head->blocks || number != head->last)
		fuzz_fail("parcel", "has other blocks than it says", (const char *)plain, head->plain_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static uint8_t message[MAX], plain[TLG_FRAME_BYTES];
	struct t2x_envelope head;
	struct t2x_receipt receipt;

	fuzz_begin();
	if (!n)
		return 0;
	t2x_receipt_read(&receipt, bytes, n);
	n = n - 1 < MAX ? n - 1 : MAX;
	memcpy(message, bytes + 1, n);
	if (bytes[0] & 1 && n >= T2X_ENVELOPE_BYTES) {
		store_le32(message + FRAME_CRC_AT - 4, (uint32_t)(n - T2X_ENVELOPE_BYTES));
		store_le32(message + FRAME_CRC_AT,
			   tlg_crc32c(0, message + T2X_ENVELOPE_BYTES, n - T2X_ENVELOPE_BYTES));
		store_le32(message + CRC_AT, tlg_crc32c(0, message, CRC_AT));
	}
	if (!t2x_parcel_open(&head, message, n, plain))
		check(&head, plain);
	return 0;
}
