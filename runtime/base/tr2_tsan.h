/* SPDX-License-Identifier: MIT */
/*
 * tr2_tsan.h - the library in a program that is compiled with -fsanitize=thread.
 *
 * ThreadSanitizer does not see the library's own loads and stores, but it sees those of libc on its behalf: memcpy(),
 * strlen(), write(), pthread_mutex_trylock().  As it does not know the memory ordering of tr2_ring.h, it would report
 * races.  So it ignores what happens while libc writes to shared memory for us.  What the library reads of the program
 * stays visible: a race there is the program's.
 *
 * A library that is itself compiled with -fsanitize=thread hides nothing.  But one order comes from the kernel alone: a
 * thread ends before another one finds its robust mutex without an owner.  The library reports that order.
 */
#ifndef TR2_TSAN_H
#define TR2_TSAN_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "trace2.h"

#ifdef TRACE2_HAS_TSAN_
static inline void tr2_tsan_hide(void)
{
}

static inline void tr2_tsan_show(void)
{
}

static inline int tr2_tsan_is(void)
{
	return 1;
}

/* When the calling thread ends, it releases `what`, with all that it has done; NULL: nothing.  In tr2_tsan.c */
void tr2_tsan_end_with(void *what);

/* The thread that had `what` has ended: all that it has done comes before what the calling thread does next. */
void tr2_tsan_follow(void *what);
#else
static inline void tr2_tsan_end_with(void *what)
{
	(void)what;
}

static inline void tr2_tsan_follow(void *what)
{
	(void)what;
}

/* Only programs with a sanitizer of gcc or clang have these. */
void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));

/*
 * The sanitizer ignores what the calling thread does from here to tr2_tsan_show().  Calls nest.  The thread must not
 * fork or end in between.  Signal safe    Cost  1 ns
 */
static inline void tr2_tsan_hide(void)
{
	if (AnnotateIgnoreReadsBegin && AnnotateIgnoreWritesBegin) {
		AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
		AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	}
}

static inline void tr2_tsan_show(void)
{
	if (AnnotateIgnoreReadsEnd && AnnotateIgnoreWritesEnd) {
		AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
		AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	}
}

/* 1: a sanitizer is there; most likely this one. */
static inline int tr2_tsan_is(void)
{
	return AnnotateIgnoreReadsBegin != NULL;
}
#endif

/*
 * Let handlers run whose signals came before the caller blocked all.  The sanitizer takes each signal itself, and calls
 * the program's handler at the end of the next function of libc that it stands in front of, whatever is blocked by
 * then.  In the middle of a slow path such a handler could not record, and nobody would know.
 */
static inline void tr2_tsan_deliver_signals(void)
{
	if (tr2_tsan_is())
		pthread_sigmask(SIG_BLOCK, NULL, NULL);
}

#endif
