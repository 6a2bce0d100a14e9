/* SPDX-License-Identifier: MIT */
/* t2x_rust_v0.h - names of Rust in the v0 mangling; see t2x_rust.h. */
#ifndef T2X_RUST_V0_H
#define T2X_RUST_V0_H

/* mangled  behind the _R    Return  as t2x_rust_demangle() */
char *t2x_rust_v0_demangle(const char *mangled);

#endif
