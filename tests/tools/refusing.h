/* SPDX-License-Identifier: MIT */
/* refusing.h - for tests: a sandbox that refuses one system call, as some containers do. */
#ifndef REFUSING_H
#define REFUSING_H

/* From now on the kernel answers EPERM to this call of this process and of what it executes.  Return  0: no sandbox */
int refuse_call(unsigned number);

#endif
