/* SPDX-License-Identifier: MIT */
/*
 * t2x_inlined.h - the functions at an address of an image, by its debugging information, else by what a program in Go
 * knows of itself, else by its symbol table, else by its unwind tables: "libz.so.1+0x49c0" is the function that begins
 * there.
 */
#ifndef T2X_INLINED_H
#define T2X_INLINED_H

#include "t2x_image.h"

/* offset  of the address in the file    Return  to be freed by free(); NULL: it has no name, or there is no memory */
struct t2x_names *t2x_inlined_names(struct t2x_image *image, Dwarf_Addr address, uint64_t offset);

#endif
