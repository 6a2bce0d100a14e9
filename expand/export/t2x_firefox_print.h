/* SPDX-License-Identifier: MIT */
/* t2x_firefox_print.h - prints what was gathered for the firefox format. */
#ifndef T2X_FIREFOX_PRINT_H
#define T2X_FIREFOX_PRINT_H

#include "t2x_firefox_gathered.h"

/* Print the whole profile.  Its threads are put in order. */
void t2x_firefox_print(struct t2x_out *out, struct t2x_firefox *firefox);

#endif
