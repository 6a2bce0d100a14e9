/* SPDX-License-Identifier: MIT */
/*
 * t2x_rust.h - names of Rust's functions as people write them.
 *
 * Rust has two manglings.  "v0" names begin with _R; RFC 2603 describes them.  The "legacy" ones look like those of
 * C++, _ZN...E, and end with a hash, h and 16 hexadecimal digits.  A demangler for C++ leaves the hash there, and
 * "$LT$" where "<" was.  Here neither hashes nor the numbers of crates are shown.
 */
#ifndef T2X_RUST_H
#define T2X_RUST_H

/* Return  to be freed by free(); NULL: it is no name of Rust, or one that nobody could read, or there is no memory */
char *t2x_rust_demangle(const char *mangled);

#endif
