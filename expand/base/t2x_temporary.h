/* SPDX-License-Identifier: MIT */
/* t2x_temporary.h - a file without a name, for data that is too large for memory; closing it deletes it. */
#ifndef T2X_TEMPORARY_H
#define T2X_TEMPORARY_H

/* It lies in $TMPDIR or /var/tmp, because /tmp may be memory.  Return  a descriptor to read and write; -1 and errno */
int t2x_temporary_open(void);

#endif
