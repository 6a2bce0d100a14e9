/* SPDX-License-Identifier: MIT */
/* tlg_crc.c - CRC-32C by the processor's instruction, or by eight tables on processors without one. */
#include "tlg_crc.h"

#include <string.h>

/*
 * The tables are constants: filling them when the library is loaded would cost every process that is linked with it
 * 10 us.  A CRC is linear, so the entries of the eight bits (of the polynomial 0x82f63b78, reflected) give all others.
 */
#define SUM(i, b0, b1, b2, b3, b4, b5, b6, b7) \
	(((i) & 1 ? (b0) : 0) ^ ((i) & 2 ? (b1) : 0) ^ ((i) & 4 ? (b2) : 0) ^ ((i) & 8 ? (b3) : 0) ^ \
	 ((i) & 16 ? (b4) : 0) ^ ((i) & 32 ? (b5) : 0) ^ ((i) & 64 ? (b6) : 0) ^ ((i) & 128 ? (b7) : 0))
#define STEP_0(i) \
	SUM(i, 0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78)
#define STEP_1(i) \
	SUM(i, 0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9)
#define STEP_2(i) \
	SUM(i, 0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743)
#define STEP_3(i) \
	SUM(i, 0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f)
#define STEP_4(i) \
	SUM(i, 0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557, 0x37516aae, 0x6ea2d55c)
#define STEP_5(i) \
	SUM(i, 0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d, 0x0e045beb, 0x1c08b7d6)
#define STEP_6(i) \
	SUM(i, 0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a, 0xf56e0ef4)
#define STEP_7(i) \
	SUM(i, 0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599, 0x1a00cb32, 0x34019664)
#define BACK(i) SUM(i, 0xf1, 0xe2, 0xc4, 0x88, 0x10, 0x20, 0xb1, 0x62)
#define FOUR(f, i) f(i), f((i) + 1), f((i) + 2), f((i) + 3)
#define SIXTEEN(f, i) FOUR(f, i), FOUR(f, (i) + 4), FOUR(f, (i) + 8), FOUR(f, (i) + 12)
#define SIXTY_FOUR(f, i) SIXTEEN(f, i), SIXTEEN(f, (i) + 16), SIXTEEN(f, (i) + 32), SIXTEEN(f, (i) + 48)
#define ALL(f) { SIXTY_FOUR(f, 0), SIXTY_FOUR(f, 64), SIXTY_FOUR(f, 128), SIXTY_FOUR(f, 192) }

/* table[0] steps one byte; table[k] steps one byte followed by k zero bytes. */
static const uint32_t table[8][256] = {
	ALL(STEP_0), ALL(STEP_1), ALL(STEP_2), ALL(STEP_3), ALL(STEP_4), ALL(STEP_5), ALL(STEP_6), ALL(STEP_7),
};
/* Index into table[0] by the top byte of its entry, which is unique. */
static const uint8_t reverse[256] = ALL(BACK);

static uint64_t load_le64(const unsigned char *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static uint32_t by_tables(uint32_t crc, const unsigned char *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8) {
		uint64_t v = load_le64(p) ^ crc;
		crc = table[7][v & 0xff] ^ table[6][v >> 8 & 0xff] ^ table[5][v >> 16 & 0xff] ^
		      table[4][v >> 24 & 0xff] ^ table[3][v >> 32 & 0xff] ^ table[2][v >> 40 & 0xff] ^
		      table[1][v >> 48 & 0xff] ^ table[0][v >> 56];
	}
	for (; n; p++, n--)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const unsigned char *p, size_t n)
{
	uint64_t v;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&v, p, 8);
		crc = (uint32_t)_mm_crc32_u64(crc, v);
	}
	for (; n; p++, n--)
		crc = _mm_crc32_u8(crc, *p);
	return crc;
}

/*
 * Ask the C library, which has detected the processor anyway.  The compiler's __builtin_cpu_supports() would detect it
 * again in each process that is linked with this: by two dozen CPUID instructions, 4 us each in a virtual machine.
 */
#if defined(__has_include) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>

static int has_instruction(void)
{
	return CPU_FEATURE_ACTIVE(SSE4_2);
}
#else
static int has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#endif
#else
static uint32_t by_instruction(uint32_t crc, const unsigned char *p, size_t n)
{
	return by_tables(crc, p, n);
}

static int has_instruction(void)
{
	return 0;
}
#endif

uint32_t tlg_crc32c(uint32_t crc, const void *data, size_t n)
{
	return ~(has_instruction() ? by_instruction(~crc, data, n) : by_tables(~crc, data, n));
}

uint32_t tlg_crc32c_seed(uint32_t crc, const void *data, size_t n)
{
	const unsigned char *p = data;

	for (crc = ~crc; n; n--) {
		unsigned i = reverse[crc >> 24];
		crc = (crc ^ table[0][i]) << 8 | (i ^ p[n - 1]);
	}
	return ~crc;
}
