/* SPDX-License-Identifier: MIT */
/*
 * tr2_capture.h - take the arguments of a printf-style format as they are, for the expander to format.
 *
 * All of it is inline: with a call for each argument a message took twice as long.
 */
#ifndef TR2_CAPTURE_H
#define TR2_CAPTURE_H

#include <stdarg.h>

#include "tr2_args.h"
#include "tr2_format.h"
#include "base/tr2_atomic.h"

/*
 * The arguments that are left.  (A va_list may be an array: only within a struct its address has one type everywhere.)
 */
struct tr2_va {
	va_list ap;
};

/* What %m shows. */
const char *tr2_capture_errno(char *to, size_t size);

static inline int64_t tr2_capture_bits(double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* A string's length.  With a precision the string need not have a NUL; a negative precision counts as none. */
static inline size_t tr2_capture_length(const char *text, int64_t precision)
{
	return precision < 0 ? strlen(text) : strnlen(text, (size_t)precision);
}

/*
 * Append the arguments that the format takes from va, and consume va.  The body points to the strings, cut at their
 * precision.  %m shows errno, which is kept.
 * take    of a tr2_format
 * text    room for what %m shows
 * Return  0: it cannot be deferred
 * Signal  safe    Cost  1 ns a conversion, and the strings' lengths
 */
static inline int tr2_capture(struct tr2_body *body, const uint8_t *take, struct tr2_va *va, struct tr2_room *room)
{
	const char *text;
	unsigned now;
	int64_t cut;
	size_t n;

	/* relaxed: another thread that passes the site for the first time, too, may be writing the same there */
	for (; (now = tr2_load_rlx(take)); take++) {
		cut = -1;
		switch (now) {
#define TAKE(name, c_type, as, type) \
		case TR2_TAKE_##name: \
			tr2_body_add(body, TLG_ARG_##type, (int64_t)(as)va_arg(va->ap, c_type)); \
			continue;
		TAKE(INT, int, int, INT)
		TAKE(SCHAR, int, signed char, INT)
		TAKE(SHORT, int, short, INT)
		TAKE(CHAR, int, unsigned char, INT)
		TAKE(LONG, long, long, INT)
		TAKE(LLONG, long long, long long, INT)
		TAKE(INTMAX, intmax_t, intmax_t, INT)
		TAKE(PTRDIFF, ptrdiff_t, ptrdiff_t, INT)
		TAKE(UINT, unsigned, unsigned, UINT)
		TAKE(UCHAR, unsigned, unsigned char, UINT)
		TAKE(USHORT, unsigned, unsigned short, UINT)
		TAKE(ULONG, unsigned long, unsigned long, UINT)
		TAKE(ULLONG, unsigned long long, unsigned long long, UINT)
		TAKE(UINTMAX, uintmax_t, uintmax_t, UINT)
		TAKE(SIZE, size_t, size_t, UINT)
		TAKE(POINTER, void *, uintptr_t, POINTER)
#undef TAKE
		case TR2_TAKE_DOUBLE:
			tr2_body_add(body, TLG_ARG_DOUBLE, tr2_capture_bits(va_arg(va->ap, double)));
			continue;
		case TR2_TAKE_STRING:
			text = va_arg(va->ap, const char *);
			break;
		case TR2_TAKE_STRING_STAR:
			cut = body->values_end[-1].value;
			text = va_arg(va->ap, const char *);
			break;
		case TR2_TAKE_STRING_CUT:
			cut = tr2_load_rlx(take + 1) | tr2_load_rlx(take + 2) << 8; /* relaxed: as above */
			take += 2;
			text = va_arg(va->ap, const char *);
			break;
		case TR2_TAKE_ERRNO:
			text = tr2_capture_errno(room->text, sizeof(room->text));
			break;
		default:
			return 0;
		}
		n = text ? tr2_capture_length(text, cut) : 0;
		tr2_body_add(body, text ? TLG_ARG_TEXT : TLG_ARG_NULL, (int64_t)n);
		if (text)
			tr2_body_append(body, text, n);
	}
	return 1;
}

#endif
