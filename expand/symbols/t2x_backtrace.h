/* SPDX-License-Identifier: MIT */
/*
 * t2x_backtrace.h - where a sample was taken: addresses, the innermost first, and the modules that they are in.
 *
 * A sample's scope has both as texts (FORMAT.md section 8); what is no hexadecimal number there ends them.
 */
#ifndef T2X_BACKTRACE_H
#define T2X_BACKTRACE_H

#include "model/t2x_hit.h"

enum { T2X_BACKTRACES = 4096, T2X_BACKTRACE_DEPTH = 1024, T2X_BACKTRACE_MODULES = 1024 };

struct t2x_module {
	uint64_t start, limit, offset;    /* limit: behind it; offset in the file */
	const char *file, *build_id;      /* "": not known */
};

struct t2x_address {
	uint64_t address;
	const struct t2x_module *module;  /* NULL: no file has its code */
};

struct t2x_backtrace {
	unsigned depth, nmodules;
	struct t2x_module *modules;
	struct t2x_address at[];
};

/* Of a scope.  Return  to be freed by free(); NULL: no memory */
struct t2x_backtrace *t2x_backtrace_new(const struct t2x_scope *scope);

/* Those that were asked for last.  All zero: none. */
struct t2x_backtraces {
	struct { uint64_t scope; struct t2x_backtrace *backtrace; } cache[T2X_BACKTRACES];
};

/* Return  valid until the next call; NULL: no memory */
const struct t2x_backtrace *t2x_backtraces_get(struct t2x_backtraces *backtraces, const struct t2x_scope *scope);

void t2x_backtraces_free(struct t2x_backtraces *backtraces);

#endif
