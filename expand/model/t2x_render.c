/* SPDX-License-Identifier: MIT */
/* t2x_render.c - see t2x_render.h. */
#include "t2x_render.h"

#include <stdio.h>
#include <string.h>

#include "tlg_printf.h"
#include "base/t2x_digits.h"

enum {
	OCTAL_DIGITS = 22,         /* of 64 bits */
	MAX_SPEC = 16,
};

/* What is printed, and where. */
struct render {
	char *to;
	size_t size, length;
	const struct t2x_arg *args;
	unsigned nargs, next;
};

/* One conversion, its stars replaced by their arguments. */
struct spec {
	unsigned flags;            /* enum tlg_printf_flag */
	size_t width;
	int64_t precision;         /* -1: none */
	unsigned bits;             /* of an integer, by its length modifier */
	enum tlg_printf_kind kind;
	char letter;
};

/* A number on its way: sign or prefix, zeros, digits. */
struct number {
	char prefix[3];
	size_t prefix_length, zeros;
	char digits[OCTAL_DIGITS];
	size_t length;
};

static void put(struct render *r, const char *text, size_t n)
{
	if (n > r->size - r->length)
		n = r->size - r->length;
	memcpy(r->to + r->length, text, n);
	r->length += n;
}

static void put_repeated(struct render *r, char c, size_t n)
{
	if (n > r->size - r->length)
		n = r->size - r->length;
	memset(r->to + r->length, c, n);
	r->length += n;
}

static void put_padded(struct render *r, const struct spec *spec, const char *text, size_t n)
{
	size_t blanks = spec->width > n ? spec->width - n : 0;

	if (!(spec->flags & TLG_PRINTF_LEFT))
		put_repeated(r, ' ', blanks);
	put(r, text, n);
	if (spec->flags & TLG_PRINTF_LEFT)
		put_repeated(r, ' ', blanks);
}

/* The next argument if it has one of the two types; it counts as used in any case. */
static const struct t2x_arg *take(struct render *r, unsigned type, unsigned other)
{
	const struct t2x_arg *arg;

	if (r->next >= r->nargs)
		return NULL;
	arg = &r->args[r->next++];
	return arg->type == type || arg->type == other ? arg : NULL;
}

/* ---- parsing ------------------------------------------------------------------------------------ */

/* A width or a precision; absent: what there is without.  Return  0: a star's argument is not there */
static int take_count(struct render *r, const struct tlg_printf_count *count, int64_t absent, int64_t *value)
{
	const struct t2x_arg *arg;

	*value = count->kind == TLG_COUNT_NONE ? absent : count->value;
	if (count->kind != TLG_COUNT_STAR)
		return 1;
	arg = take(r, TLG_ARG_INT, TLG_ARG_UINT);
	*value = arg ? (int32_t)arg->value : 0;
	return arg != NULL;
}

static unsigned find_bits(enum tlg_printf_length length)
{
	switch (length) {
	case TLG_LENGTH_NONE:
		return 32;
	case TLG_LENGTH_CHAR:
		return 8;
	case TLG_LENGTH_SHORT:
		return 16;
	default:
		return 64;
	}
}

/* Read a conversion from behind its % on.  Return  the byte behind it, NULL: it makes no sense */
static const char *parse(struct render *r, const char *p, struct spec *spec)
{
	struct tlg_printf written;
	int64_t width;

	p = tlg_printf_parse(p, &written);
	if (!p || !take_count(r, &written.width, 0, &width) ||
	    !take_count(r, &written.precision, -1, &spec->precision))
		return NULL;
	spec->flags = written.flags | (width < 0 ? TLG_PRINTF_LEFT : 0);
	spec->width = (size_t)(width < 0 ? -width : width);
	if (spec->precision < 0)
		spec->precision = -1;
	spec->bits = find_bits(written.length);
	spec->kind = written.kind;
	spec->letter = written.letter;
	return p;
}

/* ---- integers ----------------------------------------------------------------------------------- */

static void put_number(struct render *r, const struct spec *spec, struct number *n)
{
	size_t total = n->prefix_length + n->zeros + n->length;
	size_t fill = spec->width > total ? spec->width - total : 0;

	if (spec->flags & TLG_PRINTF_ZERO && !(spec->flags & TLG_PRINTF_LEFT) && spec->precision < 0) {
		n->zeros += fill;
		fill = 0;
	}
	if (!(spec->flags & TLG_PRINTF_LEFT))
		put_repeated(r, ' ', fill);
	put(r, n->prefix, n->prefix_length);
	put_repeated(r, '0', n->zeros);
	put(r, n->digits, n->length);
	if (spec->flags & TLG_PRINTF_LEFT)
		put_repeated(r, ' ', fill);
}

/* The digits of value in base 8, 10 or 16, and the zeros that the precision asks for. */
static void fill_digits(struct number *n, const struct spec *spec, uint64_t value, unsigned base)
{
	const char *digits = spec->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	char *p = n->digits + sizeof(n->digits);

	if (base == 10 && value) {
		n->length = (size_t)(t2x_put_uint(n->digits, value) - n->digits);
	} else {
		for (; value; value /= base)
			*--p = digits[value % base];
		n->length = (size_t)(n->digits + sizeof(n->digits) - p);
		memmove(n->digits, p, n->length);
	}
	if (!n->length && spec->precision != 0)
		n->digits[n->length++] = '0';
	if (spec->precision > (int64_t)n->length)
		n->zeros = (size_t)spec->precision - n->length;
}

static void add_sign(struct number *n, const struct spec *spec, int is_negative)
{
	if (is_negative)
		n->prefix[n->prefix_length++] = '-';
	else if (spec->flags & TLG_PRINTF_PLUS)
		n->prefix[n->prefix_length++] = '+';
	else if (spec->flags & TLG_PRINTF_BLANK)
		n->prefix[n->prefix_length++] = ' ';
}

static int render_signed(struct render *r, const struct spec *spec)
{
	const struct t2x_arg *arg = take(r, TLG_ARG_INT, TLG_ARG_UINT);
	unsigned unused = 64 - spec->bits;
	struct number n = { .length = 0 };
	int64_t value;

	if (!arg)
		return 0;
	/* The value as the type that the length modifier names. */
	value = (int64_t)((uint64_t)arg->value << unused) >> unused;
	add_sign(&n, spec, value < 0);
	fill_digits(&n, spec, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10);
	put_number(r, spec, &n);
	return 1;
}

static int render_unsigned(struct render *r, const struct spec *spec)
{
	const struct t2x_arg *arg = take(r, TLG_ARG_UINT, TLG_ARG_INT);
	unsigned base = spec->letter == 'u' ? 10 : spec->letter == 'o' ? 8 : 16;
	struct number n = { .length = 0 };
	uint64_t value;

	if (!arg)
		return 0;
	value = (uint64_t)arg->value & (UINT64_MAX >> (64 - spec->bits));
	fill_digits(&n, spec, value, base);
	if (spec->flags & TLG_PRINTF_ALTERNATE && base == 8 && !n.zeros && (!n.length || n.digits[0] != '0'))
		n.zeros = 1;
	if (spec->flags & TLG_PRINTF_ALTERNATE && base == 16 && value) {
		n.prefix[n.prefix_length++] = '0';
		n.prefix[n.prefix_length++] = spec->letter;
	}
	put_number(r, spec, &n);
	return 1;
}

static int render_pointer(struct render *r, const struct spec *spec)
{
	const struct t2x_arg *arg = take(r, TLG_ARG_POINTER, TLG_ARG_NULL);
	struct number n = { .length = 0 };

	if (!arg)
		return 0;
	if (!arg->value || arg->type == TLG_ARG_NULL) {
		put_padded(r, spec, "(nil)", 5);
		return 1;
	}
	add_sign(&n, spec, 0);
	n.prefix[n.prefix_length++] = '0';
	n.prefix[n.prefix_length++] = 'x';
	fill_digits(&n, spec, (uint64_t)arg->value, 16);
	put_number(r, spec, &n);
	return 1;
}

/* ---- texts and floating point ------------------------------------------------------------------- */

static int render_char(struct render *r, const struct spec *spec)
{
	const struct t2x_arg *arg = take(r, TLG_ARG_INT, TLG_ARG_UINT);
	char c;

	if (!arg)
		return 0;
	c = (char)arg->value;
	put_padded(r, spec, &c, 1);
	return 1;
}

static int render_text(struct render *r, const struct spec *spec)
{
	const struct t2x_arg *arg = take(r, TLG_ARG_TEXT, TLG_ARG_NULL);
	size_t n;

	if (!arg)
		return 0;
	if (arg->type == TLG_ARG_NULL) {
		/* All or nothing, as the GNU library does it. */
		put_padded(r, spec, "(null)", spec->precision >= 0 && spec->precision < 6 ? 0 : 6);
		return 1;
	}
	n = arg->length;
	if (spec->precision >= 0 && (uint64_t)spec->precision < n)
		n = (size_t)spec->precision;
	put_padded(r, spec, arg->text ? arg->text : "", n);
	return 1;
}

/* What only the C library rounds as the C library does. */
static int render_double(struct render *r, const struct spec *spec)
{
	static const char flags[] = "-+ #0";
	const struct t2x_arg *arg = take(r, TLG_ARG_DOUBLE, TLG_ARG_DOUBLE);
	size_t left = r->size - r->length;
	char format[MAX_SPEC], *p = format;
	double value;
	int n;

	if (!arg)
		return 0;
	memcpy(&value, &arg->value, sizeof(value));
	*p++ = '%';
	for (unsigned i = 0; flags[i]; i++) {
		if (spec->flags & 1U << i)   /* as enum tlg_printf_flag has them */
			*p++ = flags[i];
	}
	memcpy(p, "*.*", 3);
	p[3] = spec->letter;
	p[4] = '\0';
	/* Wider than there is room for is wide enough, and keeps the library's buffers small. */
	n = snprintf(r->to + r->length, left, format, spec->width < left ? (int)spec->width : (int)left,
		     spec->precision < (int64_t)left ? (int)spec->precision : (int)left, value);
	if (n > 0)
		r->length += (size_t)n < left ? (size_t)n : left - (left > 0);
	return 1;
}

/* Print one conversion.  Return  0: it cannot be */
static int render_one(struct render *r, const struct spec *spec)
{
	switch (spec->kind) {
	case TLG_PRINTF_SIGNED:
		return render_signed(r, spec);
	case TLG_PRINTF_UNSIGNED:
		return render_unsigned(r, spec);
	case TLG_PRINTF_CHAR:
		return render_char(r, spec);
	case TLG_PRINTF_STRING:
	case TLG_PRINTF_ERRNO:
		return render_text(r, spec);
	case TLG_PRINTF_DOUBLE:
		return render_double(r, spec);
	case TLG_PRINTF_POINTER:
		return render_pointer(r, spec);
	case TLG_PRINTF_PERCENT:
		put(r, "%", 1);
		return 1;
	default:
		return 0;
	}
}

/* The conversions without anything between % and letter that most messages have.  Return  0: the long way */
static int render_plain(struct render *r, char conversion)
{
	const struct t2x_arg *arg = r->next < r->nargs ? &r->args[r->next] : NULL;
	int is_number = arg && (arg->type == TLG_ARG_INT || arg->type == TLG_ARG_UINT);
	char *to = r->to + r->length;

	if (r->size - r->length < T2X_MAX_DIGITS)
		return 0;
	if (conversion == 'd' && is_number)
		r->length += (size_t)(t2x_put_int(to, (int32_t)arg->value) - to);
	else if (conversion == 'u' && is_number)
		r->length += (size_t)(t2x_put_uint(to, (uint32_t)arg->value) - to);
	else if (conversion == 's' && arg && arg->type == TLG_ARG_TEXT && arg->text)
		put(r, arg->text, arg->length);
	else
		return 0;
	r->next++;
	return 1;
}

size_t t2x_render(char *to, size_t size, const char *format, const struct t2x_arg *args, unsigned nargs)
{
	struct render r = { .to = to, .size = size, .args = args, .nargs = nargs };

	while (*format) {
		size_t plain = strcspn(format, "%");
		const char *end;
		struct spec spec;

		put(&r, format, plain);
		format += plain;
		if (!*format)
			break;
		if (render_plain(&r, format[1])) {
			format += 2;
			continue;
		}
		end = parse(&r, format + 1, &spec);
		if (end && render_one(&r, &spec)) {
			format = end;
			continue;
		}
		/* As it is written: the % here, the rest is plain text up to the next one. */
		put(&r, "%", 1);
		format++;
	}
	return r.length;
}
