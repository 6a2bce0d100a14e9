/* SPDX-License-Identifier: MIT */
/*
 * tlg_math.h - exact products of two 64-bit numbers, on machines with and without 128-bit integers.
 */
#ifndef TLG_MATH_H
#define TLG_MATH_H

#include <stdint.h>

/* As tlg_mul_div(), digit by digit. */
static inline uint64_t tlg_mul_div_long(uint64_t a, uint64_t b, uint64_t c, uint64_t *rest)
{
	uint64_t quotient = 0, left = 0, digit = a % c;

	for (int i = 63; i >= 0; i--) {
		uint64_t carry = left >> 63, before;

		quotient <<= 1;
		left <<= 1;
		if (carry || left >= c) {
			left -= c;
			quotient++;
		}
		if (!(b >> i & 1))
			continue;
		before = left;
		left += digit;
		if (left < before || left >= c) {
			left -= c;
			quotient++;
		}
	}
	*rest = left;
	return quotient + a / c * b;
}

/* The low 64 bits of a * b / c, rounded down, and in *rest the remainder.  c is not 0. */
static inline uint64_t tlg_mul_div(uint64_t a, uint64_t b, uint64_t c, uint64_t *rest)
{
#ifdef __SIZEOF_INT128__
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	*rest = (uint64_t)(product % c);
	return (uint64_t)(product / c);
#else
	return tlg_mul_div_long(a, b, c, rest);
#endif
}

/* As tlg_mul_high(), in four parts. */
static inline uint64_t tlg_mul_high_long(uint64_t a, uint64_t b)
{
	uint64_t a_low = a & UINT32_MAX, a_high = a >> 32, b_low = b & UINT32_MAX, b_high = b >> 32;
	uint64_t one = a_high * b_low + (a_low * b_low >> 32), other = a_low * b_high + (one & UINT32_MAX);

	return a_high * b_high + (one >> 32) + (other >> 32);
}

/* The upper 64 bits of a * b. */
static inline uint64_t tlg_mul_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)(product >> 64);
#else
	return tlg_mul_high_long(a, b);
#endif
}

#endif
