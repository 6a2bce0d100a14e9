/* SPDX-License-Identifier: MIT */
/*
 * begun.h - for tests with AddressSanitizer: a fork() waits until every thread that was created has begun to run.
 *
 * A thread that begins allocates memory, by glibc's malloc() or by that of the sanitizer.  glibc takes the locks of its
 * own for a fork; gcc 12's sanitizer does not, and a child that inherits one locked waits for it for ever, at the
 * latest when leaks are looked for.  The consumer thread allocates later only under its lock, which the library takes
 * for a fork.
 */
#ifndef BEGUN_H
#define BEGUN_H

/* From now on; without AddressSanitizer nothing. */
void begun_before_forks(void);

#endif
