/* SPDX-License-Identifier: MIT */
/*
 * t2x_symbols.h - what an address is called: the functions that were inlined there, and the one that they are in.
 *
 * What is found is remembered, for the addresses asked for last; files stay open until the end.  Nothing here fails:
 * what has no name has none.
 */
#ifndef T2X_SYMBOLS_H
#define T2X_SYMBOLS_H

#include "t2x_names.h"

struct t2x_symbols;

/* places  stays; NULL: no address has a name    Return  NULL: no memory, or that */
struct t2x_symbols *t2x_symbols_new(const struct t2x_symbols_places *places);
void t2x_symbols_free(struct t2x_symbols *symbols);

/* Other traces are read: what processes and kernels have made is theirs.  Images of files stay. */
void t2x_symbols_forget(struct t2x_symbols *symbols);

/* symbols may be NULL.  Return  valid until the next call; NULL: it has no name */
const struct t2x_names *t2x_symbols_find(struct t2x_symbols *symbols, const struct t2x_module *module,
					 uint64_t address);

#endif
