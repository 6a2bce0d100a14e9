/* SPDX-License-Identifier: MIT */
/*
 * t2x_digits.h - writes numbers as text into memory.  Each function returns the byte behind what it wrote.
 */
#ifndef T2X_DIGITS_H
#define T2X_DIGITS_H

#include <stdint.h>
#include <string.h>

enum {
	T2X_MAX_DIGITS = 20,          /* of a 64-bit number, its sign included */
	T2X_MAX_SECONDS = 32,         /* bytes of a time in seconds at most, unless width is larger */
};

extern const char t2x_digit_pairs[201];

/* value < 100, two digits. */
static inline char *t2x_put_2(char *to, unsigned value)
{
	memcpy(to, t2x_digit_pairs + 2 * value, 2);
	return to + 2;
}

/* value < 1000000, six digits. */
static inline char *t2x_put_6(char *to, unsigned value)
{
	unsigned high = value / 10000, low = value % 10000;

	to = t2x_put_2(to, high);
	to = t2x_put_2(to, low / 100);
	return t2x_put_2(to, low % 100);
}

/* value < 1000, three digits. */
static inline char *t2x_put_3(char *to, unsigned value)
{
	*to = (char)('0' + value / 100);
	return t2x_put_2(to + 1, value % 100);
}

enum { T2X_SHORT_US = 100 * 1000000, T2X_SHORT_SECONDS = 9 };

/* us < T2X_SHORT_US as printf("%9.6f") prints the seconds: nine bytes. */
static inline char *t2x_put_short_seconds(char *to, unsigned us)
{
	unsigned seconds = us / 1000000;

	t2x_put_2(to, seconds);
	if (seconds < 10)
		to[0] = ' ';
	to[2] = '.';
	return t2x_put_6(to + 3, us % 1000000);
}

/* No leading zeros; at most T2X_MAX_DIGITS bytes. */
char *t2x_put_uint(char *to, uint64_t value);
char *t2x_put_int(char *to, int64_t value);

/*
 * us / 1000000.0 as printf("%*.6f") prints it, with the rounding of doubles: a time that wrapped below zero reads
 * 18446744073709.550781.
 */
char *t2x_put_seconds_us(char *to, uint64_t us, unsigned width);

/* The same for a width of 9 and us < T2X_USUAL_US, the usual case: the first five bytes are constant. */
enum { T2X_USUAL_US = 10000 };
static inline char *t2x_put_usual_seconds(char *to, unsigned us)
{
	memcpy(to, " 0.00000", 8);
	t2x_put_2(to + 5, us / 100);
	return t2x_put_2(to + 7, us % 100);
}

/* ns / 1e9 as printf("%.6f") prints it: rounded, not truncated. */
char *t2x_put_seconds_ns(char *to, uint64_t ns);

/* ns / 1e9 with all nine decimals; a time that wrapped below zero prints as negative. */
char *t2x_put_seconds_exact(char *to, uint64_t ns, unsigned width);

#endif
