/* SPDX-License-Identifier: MIT */
/* t2x_lz4_pack.c - the other direction, for what t2 appends to a trace. */
#include "t2x_lz4.h"

#include <lz4frame.h>

size_t t2x_lz4_pack(void *to, size_t room, const void *plain, size_t n)
{
	const LZ4F_preferences_t how = { .frameInfo = {
		.blockSizeID = LZ4F_max256KB, .blockMode = LZ4F_blockIndependent, .contentSize = n,
		.contentChecksumFlag = LZ4F_contentChecksumEnabled, .blockChecksumFlag = LZ4F_blockChecksumEnabled,
	} };
	size_t packed = LZ4F_compressFrame(to, room, plain, n, &how);

	return LZ4F_isError(packed) ? 0 : packed;
}
