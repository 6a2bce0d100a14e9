/* SPDX-License-Identifier: MIT */
/*
 * t2x_function.h - where the function at an address begins, by the unwind tables: a program that is stripped of its
 * symbols has these, too.  So what is known of a function is that it is one.
 */
#ifndef T2X_FUNCTION_H
#define T2X_FUNCTION_H

#include "t2x_image.h"

/* Return  0: it is in none */
int t2x_function_start(const struct t2x_image *image, Dwarf_Addr address, Dwarf_Addr *start);

#endif
