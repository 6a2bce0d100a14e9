/* SPDX-License-Identifier: MIT */
/*
 * t2x_rust_v0.c - see t2x_rust_v0.h.
 *
 * A name is a tree in prefix notation: a letter says what comes, and its parts follow.  "B" and a number stand for a
 * part that was there already.  Whatever is not understood makes the whole name unknown.
 */
#include "t2x_rust_v0.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_rust_name.h"

static void read_path(struct t2x_rust_name *name, int is_value);
static void read_type(struct t2x_rust_name *name);
static void read_const(struct t2x_rust_name *name);

/* ---- parts that were there already ---------------------------------------------------------------- */

typedef void read_fn(struct t2x_rust_name *name);

/* Behind the B.  A part that is not printed need not be read again. */
static void follow(struct t2x_rust_name *name, read_fn *read)
{
	size_t start = name->at - 1, back;
	uint64_t to = t2x_rust_base62(name);

	if (name->has_failed || name->is_silent)
		return;
	if (to >= start) {
		t2x_rust_fail(name);
		return;
	}
	back = name->at;
	name->at = (size_t)to;
	if (t2x_rust_enter(name))
		read(name);
	name->depth--;
	name->at = back;
}

/* ---- paths ---------------------------------------------------------------------------------------- */

static void read_argument(struct t2x_rust_name *name)
{
	if (t2x_rust_eat(name, 'L'))
		t2x_rust_put_lifetime(name, t2x_rust_base62(name));
	else if (t2x_rust_eat(name, 'K'))
		read_const(name);
	else
		read_type(name);
}

/* Up to the E.  Return  how many */
static unsigned read_list(struct t2x_rust_name *name, read_fn *read, const char *between)
{
	unsigned n = 0;

	while (!name->has_failed && !t2x_rust_eat(name, 'E')) {
		if (n++)
			t2x_rust_put(name, between);
		read(name);
	}
	return n;
}

/* "a::b"; in a function a closure has no name, but a number. */
static void read_nested(struct t2x_rust_name *name, int is_value)
{
	char space = t2x_rust_next(name);
	struct t2x_rust_identifier identifier;
	uint64_t number;

	read_path(name, is_value);
	number = t2x_rust_optional_base62(name, 's');
	identifier = t2x_rust_identifier(name);
	if (space >= 'A' && space <= 'Z') {
		t2x_rust_put(name, "::{");
		t2x_rust_put_bytes(name, &space, space != 'C' && space != 'S');
		t2x_rust_put(name, space == 'C' ? "closure" : space == 'S' ? "shim" : "");
		t2x_rust_put(name, identifier.n ? ":" : "");
		t2x_rust_put_identifier(name, &identifier);
		t2x_rust_put(name, "#");
		t2x_rust_put_number(name, number);
		t2x_rust_put(name, "}");
	} else if (space < 'a' || space > 'z') {
		t2x_rust_fail(name);
	} else if (identifier.n) {
		t2x_rust_put(name, "::");
		t2x_rust_put_identifier(name, &identifier);
	}
}

/* Where an impl is, which says nothing to people. */
static void skip_impl(struct t2x_rust_name *name)
{
	name->is_silent++;
	t2x_rust_optional_base62(name, 's');
	read_path(name, 0);
	name->is_silent--;
}

/* "<T>", "<T as Trait>" */
static void read_impl(struct t2x_rust_name *name, char tag)
{
	if (tag != 'Y')
		skip_impl(name);
	t2x_rust_put(name, "<");
	read_type(name);
	if (tag != 'M') {
		t2x_rust_put(name, " as ");
		read_path(name, 0);
	}
	t2x_rust_put(name, ">");
}

static void read_crate(struct t2x_rust_name *name)
{
	struct t2x_rust_identifier identifier;

	t2x_rust_optional_base62(name, 's');
	identifier = t2x_rust_identifier(name);
	t2x_rust_put_identifier(name, &identifier);
}

static void read_type_path(struct t2x_rust_name *name)
{
	read_path(name, 0);
}

static void read_value_path(struct t2x_rust_name *name)
{
	read_path(name, 1);
}

/* is_value  of a function, whose arguments are written with "::" in front */
static void read_path(struct t2x_rust_name *name, int is_value)
{
	char tag = t2x_rust_enter(name) ? t2x_rust_next(name) : '\0';

	switch (tag) {
	case 'C':
		read_crate(name);
		break;
	case 'N':
		read_nested(name, is_value);
		break;
	case 'M':
	case 'X':
	case 'Y':
		read_impl(name, tag);
		break;
	case 'I':
		read_path(name, is_value);
		t2x_rust_put(name, is_value ? "::<" : "<");
		read_list(name, read_argument, ", ");
		t2x_rust_put(name, ">");
		break;
	case 'B':
		follow(name, is_value ? read_value_path : read_type_path);
		break;
	default:
		t2x_rust_fail(name);
	}
	name->depth--;
}

/* ---- types ---------------------------------------------------------------------------------------- */

static const char *find_basic(char tag)
{
	static const char *const names[26] = {
		"i8", "bool", "char", "f64", "str", "f32", NULL, "u8", "isize", "usize", NULL, "i32", "u32", "i128",
		"u128", "_", NULL, NULL, "i16", "u16", "()", "...", NULL, "i64", "u64", "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void read_reference(struct t2x_rust_name *name, char tag)
{
	t2x_rust_put(name, "&");
	if (t2x_rust_eat(name, 'L')) {
		uint64_t lifetime = t2x_rust_base62(name);

		if (lifetime) {
			t2x_rust_put_lifetime(name, lifetime);
			t2x_rust_put(name, " ");
		}
	}
	t2x_rust_put(name, tag == 'Q' ? "mut " : "");
	read_type(name);
}

/* "unsafe extern "C" fn(u8) -> u8" */
static void read_function(struct t2x_rust_name *name)
{
	unsigned lifetimes = t2x_rust_enter_binder(name);

	t2x_rust_put(name, t2x_rust_eat(name, 'U') ? "unsafe " : "");
	if (t2x_rust_eat(name, 'K')) {
		struct t2x_rust_identifier abi = { .text = "C", .n = 1 };

		if (!t2x_rust_eat(name, 'C'))
			abi = t2x_rust_identifier(name);
		t2x_rust_put(name, "extern \"");
		for (size_t i = 0; i < abi.n; i++)
			t2x_rust_put_bytes(name, abi.text[i] == '_' ? "-" : abi.text + i, 1);
		t2x_rust_put(name, "\" ");
	}
	t2x_rust_put(name, "fn(");
	read_list(name, read_type, ", ");
	t2x_rust_put(name, ")");
	if (!t2x_rust_eat(name, 'u')) {
		t2x_rust_put(name, " -> ");
		read_type(name);
	}
	name->lifetimes -= lifetimes;
}

/* A path whose last arguments stay open, "Iterator<A".  Return  whether there are some */
static int read_open_path(struct t2x_rust_name *name)
{
	if (!t2x_rust_eat(name, 'I')) {
		read_path(name, 0);
		return 0;
	}
	read_path(name, 0);
	t2x_rust_put(name, "<");
	read_list(name, read_argument, ", ");
	return 1;
}

/* "Iterator<Item = u8>" */
static void read_bound(struct t2x_rust_name *name)
{
	int is_open = read_open_path(name);

	while (t2x_rust_eat(name, 'p')) {
		struct t2x_rust_identifier identifier = t2x_rust_identifier(name);

		t2x_rust_put(name, is_open ? ", " : "<");
		is_open = 1;
		t2x_rust_put_identifier(name, &identifier);
		t2x_rust_put(name, " = ");
		read_type(name);
	}
	t2x_rust_put(name, is_open ? ">" : "");
}

static void read_dyn(struct t2x_rust_name *name)
{
	unsigned lifetimes;
	uint64_t lifetime;

	t2x_rust_put(name, "dyn ");
	lifetimes = t2x_rust_enter_binder(name);
	read_list(name, read_bound, " + ");
	name->lifetimes -= lifetimes;
	if (!t2x_rust_eat(name, 'L'))
		t2x_rust_fail(name);
	lifetime = t2x_rust_base62(name);
	if (lifetime) {
		t2x_rust_put(name, " + ");
		t2x_rust_put_lifetime(name, lifetime);
	}
}

/* "[T; N]", "[T]" */
static void read_array(struct t2x_rust_name *name, char tag)
{
	t2x_rust_put(name, "[");
	read_type(name);
	if (tag == 'A') {
		t2x_rust_put(name, "; ");
		read_const(name);
	}
	t2x_rust_put(name, "]");
}

static void read_tuple(struct t2x_rust_name *name)
{
	t2x_rust_put(name, "(");
	t2x_rust_put(name, read_list(name, read_type, ", ") == 1 ? ",)" : ")");
}

static void read_pointer(struct t2x_rust_name *name, char tag)
{
	t2x_rust_put(name, tag == 'P' ? "*const " : "*mut ");
	read_type(name);
}

static void read_compound(struct t2x_rust_name *name, char tag)
{
	if (tag == 'A' || tag == 'S')
		read_array(name, tag);
	else if (tag == 'T')
		read_tuple(name);
	else if (tag == 'R' || tag == 'Q')
		read_reference(name, tag);
	else if (tag == 'P' || tag == 'O')
		read_pointer(name, tag);
	else if (tag == 'F')
		read_function(name);
	else if (tag == 'D')
		read_dyn(name);
	else if (tag == 'B')
		follow(name, read_type);
	else {
		name->at -= !name->has_failed;
		read_path(name, 0);
	}
}

static void read_type(struct t2x_rust_name *name)
{
	char tag = t2x_rust_enter(name) ? t2x_rust_next(name) : '\0';
	const char *basic = find_basic(tag);

	if (basic)
		t2x_rust_put(name, basic);
	else
		read_compound(name, tag);
	name->depth--;
}

/* ---- constants ------------------------------------------------------------------------------------ */

/* Hexadecimal digits up to "_".  Return  how many; *number is right if they are not more than 16 */
static unsigned read_hex(struct t2x_rust_name *name, uint64_t *number)
{
	unsigned n = 0;
	char c;

	for (*number = 0; (c = t2x_rust_next(name)) && c != '_'; n++) {
		if (!strchr("0123456789abcdef", c))
			t2x_rust_fail(name);
		*number = *number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return n;
}

static void read_integer(struct t2x_rust_name *name)
{
	size_t from = name->at;
	uint64_t number;
	unsigned n = read_hex(name, &number);

	if (n <= 16) {
		t2x_rust_put_number(name, number);
		return;
	}
	t2x_rust_put(name, "0x");
	t2x_rust_put_bytes(name, name->text + from, n);
}

static void read_character(struct t2x_rust_name *name)
{
	uint64_t number;
	char text[32];

	read_hex(name, &number);
	if (number >= ' ' && number < 0x7f)
		snprintf(text, sizeof(text), "'%c'", (char)number);
	else
		snprintf(text, sizeof(text), "'\\u{%" PRIx64 "}'", number);
	t2x_rust_put(name, text);
}

static void read_const(struct t2x_rust_name *name)
{
	char tag = t2x_rust_enter(name) ? t2x_rust_next(name) : '\0';
	uint64_t number;

	if (tag == 'p') {
		t2x_rust_put(name, "_");
	} else if (tag == 'B') {
		follow(name, read_const);
	} else if (tag == 'b') {
		read_hex(name, &number);
		t2x_rust_put(name, number ? "true" : "false");
	} else if (tag == 'c') {
		read_character(name);
	} else if (tag && strchr("asilnxhtjmoy", tag)) {
		t2x_rust_put(name, strchr("asilnx", tag) && t2x_rust_eat(name, 'n') ? "-" : "");
		read_integer(name);
	} else {
		t2x_rust_fail(name);
	}
	name->depth--;
}

/* ---- the name ------------------------------------------------------------------------------------- */

char *t2x_rust_v0_demangle(const char *mangled)
{
	struct t2x_rust_name *name = calloc(1, sizeof(*name));
	char *result = NULL;

	if (!name)
		return NULL;
	name->text = mangled;
	name->n = strcspn(mangled, ".$");      /* what a compiler has added */
	read_path(name, 1);
	if (!name->has_failed && name->at < name->n) {
		name->is_silent = 1;           /* the crate that asked for it */
		read_path(name, 0);
	}
	if (!name->has_failed && name->at == name->n)
		result = strdup(name->out);
	free(name);
	return result;
}
