/* SPDX-License-Identifier: MIT */
/* t2x_digits.c - see t2x_digits.h. */
#include "t2x_digits.h"

#include <stddef.h>
#include <stdio.h>

const char t2x_digit_pairs[201] =
	"00010203040506070809" "10111213141516171819" "20212223242526272829" "30313233343536373839"
	"40414243444546474849" "50515253545556575859" "60616263646566676869" "70717273747576777879"
	"80818283848586878889" "90919293949596979899";

/* Below this count of microseconds, a double prints its exact six decimals. */
#define EXACT_US (UINT64_C(1) << 52)

/* Likewise nanoseconds, except for exact halves of a microsecond. */
#define EXACT_NS (UINT64_C(1) << 52)

char *t2x_put_uint(char *to, uint64_t value)
{
	char digits[T2X_MAX_DIGITS], *p = digits + sizeof(digits);

	/* Most numbers are small. */
	if (value < 10) {
		*to = (char)('0' + value);
		return to + 1;
	}
	for (; value >= 100; value /= 100) {
		p -= 2;
		t2x_put_2(p, (unsigned)(value % 100));
	}
	/* One or two leading digits are left. */
	if (value < 10)
		*to++ = (char)('0' + value);
	else
		to = t2x_put_2(to, (unsigned)value);
	for (; p < digits + sizeof(digits); p += 2, to += 2)
		memcpy(to, p, 2);
	return to;
}

char *t2x_put_int(char *to, int64_t value)
{
	uint64_t size = (uint64_t)value;

	if (value < 0) {
		*to++ = '-';
		size = 0 - size;
	}
	return t2x_put_uint(to, size);
}

/* The C library does the rounding, as in git.  Its decimal point depends on the locale; ours does not. */
static char *put_rounded(char *to, double seconds)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%.6f", seconds);
	size_t whole = strspn(text, "0123456789");

	memcpy(to, text, whole);
	to[whole] = '.';
	memcpy(to + whole + 1, text + n - 6, 6);
	return to + whole + 7;
}

char *t2x_put_seconds_us(char *to, uint64_t us, unsigned width)
{
	char *end;
	size_t n;

	if (us < T2X_SHORT_US && width == T2X_SHORT_SECONDS)
		return t2x_put_short_seconds(to, (unsigned)us);
	if (us < 1000000 && width <= 8) {
		memcpy(to, "0.", 2);
		return t2x_put_6(to + 2, (unsigned)us);
	}
	if (us >= EXACT_US)
		return put_rounded(to, (double)us / 1000000.0);
	end = t2x_put_uint(to, us / 1000000);
	*end++ = '.';
	end = t2x_put_6(end, (unsigned)(us % 1000000));
	n = (size_t)(end - to);
	if (n >= width)
		return end;
	memmove(to + width - n, to, n);
	memset(to, ' ', width - n);
	return to + width;
}

char *t2x_put_seconds_exact(char *to, uint64_t ns, unsigned width)
{
	char text[T2X_MAX_SECONDS], *end = text;
	size_t n, blanks;

	if ((int64_t)ns < 0) {
		*end++ = '-';
		ns = 0 - ns;
	}
	end = t2x_put_uint(end, ns / 1000000000);
	*end++ = '.';
	end = t2x_put_6(end, (unsigned)(ns % 1000000000 / 1000));
	end = t2x_put_3(end, (unsigned)(ns % 1000));
	n = (size_t)(end - text);
	blanks = n < width ? width - n : 0;
	memset(to, ' ', blanks);
	memcpy(to + blanks, text, n);
	return to + blanks + n;
}

char *t2x_put_seconds_ns(char *to, uint64_t ns)
{
	if (ns >= EXACT_NS || ns % 1000 == 500)
		return put_rounded(to, (double)ns / 1e9);
	return t2x_put_seconds_us(to, (ns + 500) / 1000, 0);
}
