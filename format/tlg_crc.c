/* SPDX-License-Identifier: MIT */
/* tlg_crc.c - CRC-32C by the processor's instruction where there is one, by eight tables elsewhere. */
#include "tlg_crc.h"

#include <string.h>

#define POLYNOMIAL UINT32_C(0x82f63b78)

/* table[0] steps one byte; table[k] steps one byte followed by k zero bytes. */
static uint32_t table[8][256];
static uint8_t reverse[256];   /* index into table[0] by the top byte of its entry, which is unique */

__attribute__((constructor)) static void make_tables(void)
{
	for (unsigned i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][i] = crc;
		reverse[crc >> 24] = (uint8_t)i;
	}
	for (unsigned i = 0; i < 256; i++)
		for (int k = 1; k < 8; k++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

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

static int has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}
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
