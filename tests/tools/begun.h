/* SPDX-License-Identifier: MIT */
/*
 * begun.h - for tests with AddressSanitizer: a fork() waits until every thread that was created has begun to run.
 *
 * A thread that begins allocates memory, by glibc's malloc() or by that of the sanitizer.  For a fork, glibc acquires
 * the locks of its malloc(); the sanitizer of gcc 12 does not.  A child that inherits such a lock locked waits for it
 * for ever, at the latest when the sanitizer searches for leaks.  Later the consumer thread allocates only under its
 * own lock, which the library acquires for a fork.
 */
#ifndef BEGUN_H
#define BEGUN_H

/* Make each fork() wait from now on; without AddressSanitizer the call does nothing. */
void begun_before_forks(void);

#endif
