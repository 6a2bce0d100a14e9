/* SPDX-License-Identifier: MIT */
/*
 * tr2_atomic.h - the only file of the library that names memory ordering (trace2.h's inline path apart).
 *
 * The order is part of an operation's name.  Acquire and release sites carry the tag of their pair in the
 * table of tr2_ring.h; relaxed sites say why relaxed is enough.  The operations work on plain integers,
 * so that structs shared with the public header and with files need no _Atomic members.
 *
 * tr2_local_* are atomic against signal handlers of the same thread only: one instruction without a lock
 * prefix on x86-64 (0.3 ns instead of 5 ns).  No other thread may write the word.
 */
#ifndef TR2_ATOMIC_H
#define TR2_ATOMIC_H

#include <stdint.h>

#include "trace2.h"

#define tr2_load_acq(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define tr2_load_rlx(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define tr2_store_rel(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define tr2_store_rlx(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define tr2_add_rlx(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define tr2_add_rel(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELEASE)
#define tr2_exchange_rlx(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELAXED)
/* Read the latest value: a plain load may still see an older one. */
#define tr2_read_acq_rel(p) __atomic_fetch_add((p), 0, __ATOMIC_ACQ_REL)
#define tr2_exchange_acq_rel(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)

/*
 * A reader that sees a store behind the fence also sees the stores before it.  Only readers in other processes need it.
 */
#ifdef TRACE2_HAS_TSAN_
#define tr2_fence_rel() __asm__ volatile("" : : : "memory")
#else
#define tr2_fence_rel() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* A handler of this thread sees the accesses before the fence before those behind it. */
#define tr2_fence_compiler() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* 1 and *p = value if *p was expected; else 0.  Acquire on success and on failure, release on success. */
#define tr2_cas_acq_rel(p, expected, value) \
	__extension__({ \
		__typeof__(*(p)) tr2_old_ = (expected); \
		__atomic_compare_exchange_n((p), &tr2_old_, (value), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); \
	})

#define tr2_cas_rlx(p, expected, value) \
	__extension__({ \
		__typeof__(*(p)) tr2_old_ = (expected); \
		__atomic_compare_exchange_n((p), &tr2_old_, (value), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
	})

#if defined(__x86_64__) && !defined(TRACE2_HAS_TSAN_)
static inline uintptr_t tr2_local_add(uintptr_t *p, uintptr_t n)
{
	__asm__ volatile("xaddq %0, %1" : "+r"(n), "+m"(*p) : : "cc");
	return n;
}

static inline void tr2_local_increase(uint64_t *p, uint64_t n)
{
	__asm__ volatile("addq %1, %0" : "+m"(*p) : "er"(n) : "cc");
}

static inline int tr2_local_cas(uintptr_t *p, uintptr_t expected, uintptr_t value)
{
	unsigned char done;

	__asm__ volatile("cmpxchgq %3, %1\n\tsete %0"
			 : "=q"(done), "+m"(*p), "+a"(expected)
			 : "r"(value)
			 : "cc");
	return done;
}

static inline int tr2_local_replace(uint64_t *p, uint64_t expected, uint64_t value)
{
	return tr2_local_cas(p, expected, value);
}
#else
static inline uintptr_t tr2_local_add(uintptr_t *p, uintptr_t n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_RELAXED);
}

static inline void tr2_local_increase(uint64_t *p, uint64_t n)
{
	__atomic_fetch_add(p, n, __ATOMIC_RELAXED);
}

static inline int tr2_local_cas(uintptr_t *p, uintptr_t expected, uintptr_t value)
{
	return __atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline int tr2_local_replace(uint64_t *p, uint64_t expected, uint64_t value)
{
	return __atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
#endif

#endif
