/* SPDX-License-Identifier: MIT */
/* t2x_names.h - the functions at an address, and the places of the files that know them. */
#ifndef T2X_NAMES_H
#define T2X_NAMES_H

#include "t2x_backtrace.h"

struct t2x_symbol {
	const char *function;             /* of C++ as people write it */
	const char *system_name;          /* as linkers know it */
	const char *file;                 /* "": not known */
	int64_t line, start_line;         /* of the address, of the function; 0: not known */
};

enum { T2X_NAMES_MAX = 64 };

/* All but the last are inlined in the one behind. */
struct t2x_names {
	unsigned n;
	struct t2x_symbol at[];
};

/* Where to look for files, as --binaries, --debug-dir, --debuginfod say.  All zero: on this host, and nowhere else. */
struct t2x_symbols_places {
	const char *binaries, *debug_dir; /* directories; NULL: none */
	int uses_debuginfod;              /* also of servers, those of DEBUGINFOD_URLS */
	/* The traces, which may have names of code made at run time: one's path, from 0 up; NULL behind the last */
	const char *(*trace)(const void *traces, unsigned i);
	const void *traces;
};

#endif
