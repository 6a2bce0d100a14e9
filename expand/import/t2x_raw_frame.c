/* SPDX-License-Identifier: MIT */
/* t2x_raw_frame.c - see t2x_raw_frame.h. */
#include "t2x_raw_frame.h"

#include <errno.h>
#include <lz4frame.h>
#include <string.h>

#include "tlg.h"
#include "tlg_crc.h"
#include "base/t2x_memory.h"

enum { MARK_BYTES = 24, LEVEL = 9, FIRST_BYTES = 8192 };

void t2x_raw_frame_init(struct t2x_raw_frame *frame, struct t2x_raw_sink *sink, uint32_t stream)
{
	*frame = (struct t2x_raw_frame){ .sink = sink, .stream = stream };
}

void t2x_raw_frame_free(struct t2x_raw_frame *frame)
{
	t2x_free(frame->plain);
	frame->plain = NULL;
	frame->used = frame->max = 0;
}

static void write_all(struct t2x_raw_sink *sink, const void *bytes, size_t n)
{
	if (!sink->error)
		sink->error = sink->write(sink->owner, bytes, n);
	if (!sink->error)
		sink->bytes += n;
}

static unsigned char *store_le32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++, value >>= 8)
		*to++ = (unsigned char)value;
	return to;
}

void t2x_raw_frame_flush(struct t2x_raw_frame *frame)
{
	const LZ4F_preferences_t how = {
		.frameInfo = { .blockSizeID = LZ4F_max256KB, .blockMode = LZ4F_blockIndependent,
			       .contentChecksumFlag = LZ4F_contentChecksumEnabled, .contentSize = frame->used,
			       .blockChecksumFlag = LZ4F_blockChecksumEnabled },
		.compressionLevel = LEVEL,
	};
	const size_t max = LZ4F_compressFrameBound(frame->used, &how);
	unsigned char *to = frame->used ? t2x_malloc(MARK_BYTES + max) : NULL, *p = to;
	size_t n;

	if (!to) {
		if (frame->used && !frame->sink->error)
			frame->sink->error = -ENOMEM;
		frame->used = 0;
		return;
	}
	p = store_le32(store_le32(p, TLG_SKIP_MAGIC), MARK_BYTES - 8);
	p = store_le32(store_le32(store_le32(p, frame->stream), ++frame->number), (uint32_t)frame->used);
	store_le32(p, tlg_crc32c(0, to + 8, 12));
	n = LZ4F_compressFrame(to + MARK_BYTES, max, frame->plain, frame->used, &how);
	if (LZ4F_isError(n))
		frame->sink->error = -EIO;
	else
		write_all(frame->sink, to, MARK_BYTES + n);
	t2x_free(to);
	frame->used = 0;
}

/* Return  0: no memory */
static int reserve(struct t2x_raw_frame *frame, size_t bytes)
{
	size_t max = frame->max ? frame->max : FIRST_BYTES;
	unsigned char *larger;

	while (max < frame->used + bytes)
		max *= 2;
	if (max == frame->max)
		return 1;
	larger = t2x_realloc(frame->plain, max);
	if (!larger)
		return 0;
	frame->plain = larger;
	frame->max = max;
	return 1;
}

void t2x_raw_frame_add(struct t2x_raw_frame *frame, const void *blocks, size_t bytes)
{
	if (frame->used + bytes > TLG_FRAME_BYTES)
		t2x_raw_frame_flush(frame);
	if (!reserve(frame, bytes)) {
		frame->sink->error = -ENOMEM;
		return;
	}
	memcpy(frame->plain + frame->used, blocks, bytes);
	frame->used += bytes;
}
