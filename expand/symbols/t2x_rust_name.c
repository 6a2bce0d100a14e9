/* SPDX-License-Identifier: MIT */
/* t2x_rust_name.c - see t2x_rust_name.h. */
#include "t2x_rust_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "t2x_punycode.h"

enum { MAX_DEPTH = 200, MAX_STEPS = 20000, MAX_BASE62_DIGITS = 11, MAX_BOUND = 64 };

/* ---- bytes ---------------------------------------------------------------------------------------- */

void t2x_rust_fail(struct t2x_rust_name *name)
{
	name->has_failed = 1;
}

char t2x_rust_next(struct t2x_rust_name *name)
{
	if (name->has_failed || name->at == name->n || ++name->steps > MAX_STEPS) {
		t2x_rust_fail(name);
		return '\0';
	}
	return name->text[name->at++];
}

int t2x_rust_eat(struct t2x_rust_name *name, char c)
{
	if (name->has_failed || name->at == name->n || name->text[name->at] != c)
		return 0;
	name->at++;
	return 1;
}

void t2x_rust_put_bytes(struct t2x_rust_name *name, const char *text, size_t n)
{
	if (name->is_silent || name->has_failed)
		return;
	if (n > T2X_RUST_BYTES - name->length) {
		t2x_rust_fail(name);
		return;
	}
	memcpy(name->out + name->length, text, n);
	name->length += n;
}

void t2x_rust_put(struct t2x_rust_name *name, const char *text)
{
	t2x_rust_put_bytes(name, text, strlen(text));
}

void t2x_rust_put_number(struct t2x_rust_name *name, uint64_t number)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	t2x_rust_put(name, digits);
}

int t2x_rust_enter(struct t2x_rust_name *name)
{
	if (++name->depth > MAX_DEPTH || ++name->steps > MAX_STEPS)
		t2x_rust_fail(name);
	return !name->has_failed;
}

/* ---- numbers, identifiers ------------------------------------------------------------------------- */

uint64_t t2x_rust_base62(struct t2x_rust_name *name)
{
	uint64_t number = 0;
	unsigned digits = 0;
	char c;

	if (t2x_rust_eat(name, '_'))
		return 0;
	while ((c = t2x_rust_next(name)) && c != '_') {
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'z' ?
				 (unsigned)(c - 'a') + 10 : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36 : 62;
		if (digit == 62 || ++digits > MAX_BASE62_DIGITS)
			t2x_rust_fail(name);
		number = number * 62 + digit;
	}
	return number + 1;
}

uint64_t t2x_rust_optional_base62(struct t2x_rust_name *name, char tag)
{
	return t2x_rust_eat(name, tag) ? t2x_rust_base62(name) + 1 : 0;
}

struct t2x_rust_identifier t2x_rust_identifier(struct t2x_rust_name *name)
{
	struct t2x_rust_identifier identifier = { .is_punycode = t2x_rust_eat(name, 'u') };
	char c = t2x_rust_next(name);

	if (c < '0' || c > '9')
		t2x_rust_fail(name);
	else
		identifier.n = (size_t)(c - '0');
	while (identifier.n && name->at < name->n && name->text[name->at] >= '0' && name->text[name->at] <= '9' &&
	       identifier.n <= name->n)
		identifier.n = identifier.n * 10 + (size_t)(t2x_rust_next(name) - '0');
	t2x_rust_eat(name, '_');
	if (identifier.n > name->n - name->at)
		t2x_rust_fail(name);
	if (name->has_failed)
		return (struct t2x_rust_identifier){ .text = "" };
	identifier.text = name->text + name->at;
	name->at += identifier.n;
	return identifier;
}

void t2x_rust_put_identifier(struct t2x_rust_name *name, const struct t2x_rust_identifier *identifier)
{
	char decoded[1024];
	size_t n = identifier->n;

	if (!identifier->is_punycode) {
		t2x_rust_put_bytes(name, identifier->text, n);
		return;
	}
	n = t2x_punycode_decode(identifier->text, n, decoded, sizeof(decoded));
	if (!n)
		t2x_rust_fail(name);
	t2x_rust_put_bytes(name, decoded, n);
}

/* ---- lifetimes ------------------------------------------------------------------------------------ */

void t2x_rust_put_lifetime(struct t2x_rust_name *name, uint64_t index)
{
	char letter[] = "'a";

	if (!index) {
		t2x_rust_put(name, "'_");
		return;
	}
	if (index > name->lifetimes) {
		t2x_rust_fail(name);
		return;
	}
	index = name->lifetimes - index;
	letter[1] = (char)('a' + index % 26);
	t2x_rust_put(name, letter);
	if (index >= 26)
		t2x_rust_put_number(name, index);
}

unsigned t2x_rust_enter_binder(struct t2x_rust_name *name)
{
	uint64_t n = t2x_rust_optional_base62(name, 'G');

	if (n > MAX_BOUND)
		t2x_rust_fail(name);
	for (unsigned i = 0; i < n && !name->has_failed; i++) {
		t2x_rust_put(name, i ? ", " : "for<");
		name->lifetimes++;
		t2x_rust_put_lifetime(name, 1);
	}
	if (n)
		t2x_rust_put(name, "> ");
	return name->has_failed ? 0 : (unsigned)n;
}
