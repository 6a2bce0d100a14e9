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
#include <time.h>

#include "tr2_sys.h"

/* Wait while the word is what was seen, at most so long. */
static inline void tr2_futex_wait(const uint32_t *word, uint32_t seen, const struct timespec *timeout)
{
	tr2_sys_futex(word, FUTEX_WAIT_PRIVATE, seen, timeout);
}

/* Wake those who wait for the word, at most so many. */
static inline void tr2_futex_wake(const uint32_t *word, int max)
{
	tr2_sys_futex(word, FUTEX_WAKE_PRIVATE, (uint32_t)max, NULL);
}

#endif
