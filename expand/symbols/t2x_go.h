/* SPDX-License-Identifier: MIT */
/*
 * t2x_go.h - functions, files and lines of programs in Go, also stripped ones.
 *
 * A Go program needs the names of its functions itself, for panics.  They are in .gopclntab, which no strip removes.
 * The tables of Go 1.16 and later are read, in this machine's byte order.  Functions that were inlined are not told
 * apart: an address there has the name of the function around, and its own line.
 */
#ifndef T2X_GO_H
#define T2X_GO_H

#include "t2x_image.h"

/* A function; texts are the image's. */
struct t2x_go_function {
	const char *name, *file;          /* file NULL: not known */
	int64_t line;                     /* of the address; 0: not known */
};

/* Return  0: it is no program in Go, or the address is in none of its functions */
int t2x_go_find(struct t2x_image *image, Dwarf_Addr address, struct t2x_go_function *found);

#endif
