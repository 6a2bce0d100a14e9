/* SPDX-License-Identifier: MIT */
/*
 * t2x_namer.h - the stacks of samples as names, for formats that show each sample, and for what adds them up.
 *
 * A name is that of a function, also of one that was inlined; else the file and the offset in it; else the address.
 * The stacks asked for last are remembered.
 */
#ifndef T2X_NAMER_H
#define T2X_NAMER_H

#include "t2x_symbols.h"
#include "model/t2x_writer.h"

enum { T2X_NAMER_STACKS = 4096 };

/* places  stays    Return  NULL: no memory */
struct t2x_namer *t2x_namer_new(const struct t2x_symbols_places *places);
void t2x_namer_free(struct t2x_namer *namer);

/* Other traces are read: their scopes have the numbers of those before, and their processes may have the ids. */
void t2x_namer_forget(struct t2x_namer *namer);

/* A t2x_name_stack_fn.  namer may be NULL: then there are no names. */
const struct t2x_stack_names *t2x_namer_names(struct t2x_namer *namer, const struct t2x_scope *scope);

/* As t2x_symbols_find(). */
const struct t2x_names *t2x_namer_find(struct t2x_namer *namer, const struct t2x_module *module, uint64_t address);

#endif
