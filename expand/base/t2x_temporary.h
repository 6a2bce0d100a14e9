/* SPDX-License-Identifier: MIT */
/* t2x_temporary.h - a file without a name, for what is too large for memory: it goes when it is closed. */
#ifndef T2X_TEMPORARY_H
#define T2X_TEMPORARY_H

/* In $TMPDIR, or /var/tmp: /tmp may be memory.  Return  a descriptor, for reading and writing; -1 and errno */
int t2x_temporary_open(void);

#endif
