/* SPDX-License-Identifier: MIT */
/*
 * t2x_render.h - printf over recorded arguments.
 *
 * The traced program records a message as its format and the raw arguments; here they become the bytes that
 * the program's printf would have made of them.
 */
#ifndef T2X_RENDER_H
#define T2X_RENDER_H

#include <stddef.h>

#include "t2x_hit.h"

/*
 * Print format with the arguments of its conversions, in their order: TLG_ARG_INT for each `*` and for signed
 * integers and characters, TLG_ARG_UINT for unsigned ones, TLG_ARG_DOUBLE, TLG_ARG_TEXT for strings and %m,
 * TLG_ARG_NULL, TLG_ARG_POINTER.  A conversion that is not known, or whose argument is missing or of another
 * type, appears as it is written.
 * to      at least size bytes, INT_MAX at most; not NUL-terminated
 * Return  bytes written: what does not fit is cut off
 */
size_t t2x_render(char *to, size_t size, const char *format, const struct t2x_arg *args, unsigned nargs);

#endif
