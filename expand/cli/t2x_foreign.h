/* SPDX-License-Identifier: MIT */
/*
 * t2x_foreign.h - programs that run without the profiler, and why.
 *
 * `t2 record' puts the profiler in front by LD_PRELOAD, which only the dynamic linker of the GNU C library follows as
 * we need it.  So it looks into the file that the kernel would run, and says in one line what it finds there.  A file
 * that it cannot read, or that is damaged, is not foreign: it runs, or fails, as without us.
 */
#ifndef T2X_FOREIGN_H
#define T2X_FOREIGN_H

#include <stddef.h>

/*
 * Why the profiler will not be in front of a program.
 * file    as execvp() takes it; of a script its interpreter counts
 * Return  NULL: it will be, or the file does not say; else the reason, in part written to text
 */
const char *t2x_foreign_why(const char *file, char *text, size_t size);

#endif
