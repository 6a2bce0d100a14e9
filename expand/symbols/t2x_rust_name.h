/* SPDX-License-Identifier: MIT */
/*
 * t2x_rust_name.h - a name of Rust while it is read: what all its parts are made of.
 *
 * A name from a file may be wrong on purpose.  So the depth, the steps and the bytes printed are bounded.  After the
 * first mistake has_failed is set, and nothing more is read or printed.
 */
#ifndef T2X_RUST_NAME_H
#define T2X_RUST_NAME_H

#include <stddef.h>
#include <stdint.h>

enum { T2X_RUST_BYTES = 8192 };

struct t2x_rust_name {
	const char *text;
	size_t n, at;
	unsigned depth, steps;
	unsigned lifetimes;               /* that the binders around have introduced */
	int is_silent;                    /* what is read now is not printed */
	int has_failed;
	size_t length;
	char out[T2X_RUST_BYTES + 1];
};

struct t2x_rust_identifier {
	const char *text;
	size_t n;
	int is_punycode;
};

void t2x_rust_fail(struct t2x_rust_name *name);

/* The next byte.  Return  '\0': there is no more, and the name has failed */
char t2x_rust_next(struct t2x_rust_name *name);

/* Take the next byte if it is this one. */
int t2x_rust_eat(struct t2x_rust_name *name, char c);

/* Print. */
void t2x_rust_put(struct t2x_rust_name *name, const char *text);
void t2x_rust_put_bytes(struct t2x_rust_name *name, const char *text, size_t n);
void t2x_rust_put_number(struct t2x_rust_name *name, uint64_t number);

/* Go one level down; the caller subtracts one of depth at the end.  Return  0: that is too deep */
int t2x_rust_enter(struct t2x_rust_name *name);

/* "_" is 0, "0_" 1, "a_" 11. */
uint64_t t2x_rust_base62(struct t2x_rust_name *name);

/* One more than the number behind a tag.  Return  0: the tag is not there */
uint64_t t2x_rust_optional_base62(struct t2x_rust_name *name, char tag);

struct t2x_rust_identifier t2x_rust_identifier(struct t2x_rust_name *name);
void t2x_rust_put_identifier(struct t2x_rust_name *name, const struct t2x_rust_identifier *identifier);

/* "'a": 1 is the innermost; 0 one without a name. */
void t2x_rust_put_lifetime(struct t2x_rust_name *name, uint64_t index);

/* "for<'a, 'b> ", whose lifetimes hold for what is read next.  Return  how many, to be taken away behind it */
unsigned t2x_rust_enter_binder(struct t2x_rust_name *name);

#endif
