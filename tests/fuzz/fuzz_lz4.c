/* SPDX-License-Identifier: MIT */
/*
 * fuzz_lz4 - the LZ4 layer.  The input is read as it is; or, if its first byte is odd, as a file inside of frames, some
 * of which are damaged.  The bytes behind the first one say how.
 */
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tlg.h"
#include "tlg_crc.h"

enum { MARK_BYTES = 24, HEAD_BYTES = 8, MAX_PLAIN = 65536, MAX_FRAMED = 2 * MAX_PLAIN };

/* How the input is to be framed. */
struct plan {
	uint8_t odd, flags;          /* bit 0: odd */
	uint8_t frame_bytes[2];      /* of content in each frame; 0: all in one */
	uint8_t damage_at[2], damage, cut;
};

static void store_le32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++, value >>= 8)
		to[i] = (uint8_t)value;
}

static void put_mark(uint8_t *to, uint32_t number, size_t n)
{
	store_le32(to, TLG_SKIP_MAGIC);
	store_le32(to + 4, MARK_BYTES - 8);
	store_le32(to + 8, 1);
	store_le32(to + 12, number);
	store_le32(to + 16, (uint32_t)n);
	store_le32(to + 20, tlg_crc32c(0, to + 8, 12));
}

static size_t put_frame(uint8_t *to, size_t room, const uint8_t *bytes, size_t n, unsigned flags)
{
	LZ4F_preferences_t how = { .frameInfo = {
		.contentChecksumFlag = flags & 2 ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum,
		.blockChecksumFlag = flags & 4 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum,
		.blockMode = flags & 8 ? LZ4F_blockIndependent : LZ4F_blockLinked,
		.contentSize = flags & 16 ? n : 0,
	} };
	size_t made = LZ4F_compressFrame(to, room, bytes, n, &how);

	return LZ4F_isError(made) ? 0 : made;
}

static size_t frame(uint8_t *to, const struct plan *plan, const uint8_t *bytes, size_t n)
{
	size_t part = plan->frame_bytes[0] | (size_t)plan->frame_bytes[1] << 8, made = 0;
	uint32_t number = 0;

	if (part < 24)
		part = n ? n : 1;
	for (size_t at = 0; at < n && MAX_FRAMED - made > MARK_BYTES; at += part) {
		size_t size = n - at < part ? n - at : part;
		if (plan->flags & 1) {
			put_mark(to + made, ++number, size);
			made += MARK_BYTES;
		}
		made += put_frame(to + made, MAX_FRAMED - made, bytes + at, size, plan->flags);
	}
	if (made && plan->damage)
		to[(plan->damage_at[0] | (size_t)plan->damage_at[1] << 8) % made] ^= plan->damage;
	return made > plan->cut ? made - plan->cut : made;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static uint8_t content[MAX_PLAIN], framed[MAX_FRAMED];
	struct plan plan;

	fuzz_begin();
	_Static_assert(sizeof(plan) == HEAD_BYTES, "the plan is the input's head");
	if (n < sizeof(plan) || !(bytes[0] & 1)) {
		fuzz_expand(bytes, n, NULL);
		return 0;
	}
	memcpy(&plan, bytes, sizeof(plan));
	n -= sizeof(plan);
	if (n > MAX_PLAIN)
		n = MAX_PLAIN;
	memcpy(content, bytes + sizeof(plan), n);
	fuzz_reseal(content, n, NULL);
	n = frame(framed, &plan, content, n);
	fuzz_expand(framed, n, NULL);
	return 0;
}
