/* SPDX-License-Identifier: MIT */
/*
 * tr2_futex.h - sleep until a word changes, within the process.
 *
 * Signal safe.  Changes errno.
 */
#ifndef TR2_FUTEX_H
#define TR2_FUTEX_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The call that takes a struct timespec as it is compiled here: with 64-bit times on machines of 32 bits. */
#ifdef SYS_futex_time64
#define TR2_SYS_FUTEX_ SYS_futex_time64
#else
#define TR2_SYS_FUTEX_ SYS_futex
#endif

/* Wait while the word is what was seen, at most so long. */
static inline void tr2_futex_wait(const uint32_t *word, uint32_t seen, const struct timespec *timeout)
{
	syscall(TR2_SYS_FUTEX_, word, FUTEX_WAIT_PRIVATE, seen, timeout, NULL, 0);
}

/* Wake those who wait for the word, at most so many. */
static inline void tr2_futex_wake(const uint32_t *word, int max)
{
	syscall(TR2_SYS_FUTEX_, word, FUTEX_WAKE_PRIVATE, max, NULL, NULL, 0);
}

#endif
