/* SPDX-License-Identifier: MIT */
/* t2x_allowed.h - may `t2 record --kernel' see the kernel's functions here?  It asks before the program runs. */
#ifndef T2X_ALLOWED_H
#define T2X_ALLOWED_H

#include <stddef.h>

/*
 * Ask the system for what the library will ask it for.
 * why     if it is refused: the reason, and what would help
 * Return  1: it is allowed
 */
int t2x_allowed_kernel(char *why, size_t size);

#endif
