/* SPDX-License-Identifier: MIT */
/* test_tr2_frame.c - what is framed here, liblz4 reads. */
#include "t2test.h"

#include <lz4frame.h>
#include <string.h>

#include "tlg.h"
#include "output/tr2_frame.h"

enum { MARK = 24 };

static unsigned char plain[TLG_FRAME_BYTES], decoded[TLG_FRAME_BYTES];

static int set_up(void **state)
{
	(void)state;
	return tr2_frame_init();
}

/* Bytes as a trace has them, or such that nothing can be saved. */
static void fill(size_t bytes, int is_random)
{
	uint64_t x = 88172645463325252u;

	for (size_t i = 0; i < bytes; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		plain[i] = is_random ? (unsigned char)x : (unsigned char)(i % 24 * (i / 240));
	}
}

/* Decode a frame and all its checksums; bytes that come out, SIZE_MAX for an error or an unfinished frame. */
static size_t decode(const unsigned char *frame, size_t n, LZ4F_frameInfo_t *info)
{
	LZ4F_dctx *context;
	size_t used = n, made = sizeof(decoded), hint;

	assert_false(LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)));
	assert_false(LZ4F_isError(LZ4F_getFrameInfo(context, info, frame, &used)));
	LZ4F_resetDecompressionContext(context);
	used = n;
	hint = LZ4F_decompress(context, decoded, &made, frame, &used, NULL);
	LZ4F_freeDecompressionContext(context);
	return hint || used != n ? SIZE_MAX : made;
}

static size_t assert_readable(size_t bytes, int is_random, int is_fast)
{
	const unsigned char *frame;
	LZ4F_frameInfo_t info;
	size_t framed;

	fill(bytes, is_random);
	frame = tr2_frame_make(plain, bytes, 7, 3, is_fast, &framed);
	assert_int_equal(decode(frame + MARK, framed - MARK, &info), bytes);
	assert_memory_equal(decoded, plain, bytes);
	assert_int_equal(info.contentSize, bytes);
	assert_int_equal(info.contentChecksumFlag, LZ4F_contentChecksumEnabled);
	assert_int_equal(info.blockChecksumFlag, LZ4F_blockChecksumEnabled);
	assert_int_equal(info.blockMode, LZ4F_blockIndependent);
	return framed;
}

static void test_frame_of_any_length_is_read_by_lz4(void **state)
{
	(void)state;
	for (size_t bytes = 1; bytes <= 2200; bytes++) {
		assert_readable(bytes, 0, 0);
		assert_readable(bytes, 1, 1);
	}
	for (size_t bytes = 24; bytes <= TLG_FRAME_BYTES; bytes += 24 * 311)
		assert_readable(bytes, bytes / 24 % 2, bytes / 24 % 3 == 0);
}

static void test_frame_of_what_repeats_is_shorter(void **state)
{
	(void)state;
	assert_true(assert_readable(TLG_FRAME_BYTES, 0, 0) < TLG_FRAME_BYTES / 2);
	assert_true(assert_readable(TR2_FRAME_STORED, 0, 0) < TR2_FRAME_STORED);
}

static void test_frame_of_what_does_not_grows_by_its_own_bytes_only(void **state)
{
	const size_t own = MARK + 15 + 4 + 4 + 4 + 4;

	(void)state;
	assert_int_equal(assert_readable(TLG_FRAME_BYTES, 1, 0), TLG_FRAME_BYTES + own);
	assert_int_equal(assert_readable(TR2_FRAME_STORED - 1, 0, 0), TR2_FRAME_STORED - 1 + own);
}

static void test_frame_with_any_bit_changed_is_refused(void **state)
{
	unsigned char bad[4096];
	const unsigned char *frame;
	LZ4F_frameInfo_t info;
	size_t framed;

	(void)state;
	for (size_t bytes = 100; bytes <= 2000; bytes += 1900) {
		fill(bytes, 0);
		frame = tr2_frame_make(plain, bytes, 7, 3, 0, &framed);
		for (size_t bit = 8 * 4; bit < (framed - MARK) * 8; bit++) {   /* the magic is not a frame's then */
			LZ4F_dctx *context;
			size_t used = framed - MARK, made = sizeof(decoded), hint;
			memcpy(bad, frame + MARK, framed - MARK);
			bad[bit / 8] ^= (unsigned char)(1 << bit % 8);
			assert_false(LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)));
			hint = LZ4F_decompress(context, decoded, &made, bad, &used, NULL);
			assert_true(hint != 0 || used != framed - MARK);
			LZ4F_freeDecompressionContext(context);
		}
		assert_int_equal(decode(frame + MARK, framed - MARK, &info), bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_of_any_length_is_read_by_lz4),
		cmocka_unit_test(test_frame_of_what_repeats_is_shorter),
		cmocka_unit_test(test_frame_of_what_does_not_grows_by_its_own_bytes_only),
		cmocka_unit_test(test_frame_with_any_bit_changed_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
