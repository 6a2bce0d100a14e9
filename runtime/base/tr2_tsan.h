/* SPDX-License-Identifier: MIT */
/*
 * tr2_tsan.h - the library in a program that is compiled with -fsanitize=thread.
 *
 * ThreadSanitizer sees nothing of the library's own loads and stores, but it sees what libc does for it: memcpy(),
 * strlen(), write(), pthread_mutex_trylock().  Not knowing of the orders in tr2_ring.h, which are what makes that
 * right, it would take it for races.  So it is told to look away while shared memory is written by calls of libc.
 * What the library reads of the program's is seen, and is to be: a race there is the program's.
 *
 * In a library that is compiled so itself it sees everything, and nothing is hidden.
 */
#ifndef TR2_TSAN_H
#define TR2_TSAN_H

#include "trace2.h"

#ifdef TRACE2_HAS_TSAN_
static inline void tr2_tsan_hide(void)
{
}

static inline void tr2_tsan_show(void)
{
}
#else
/* The sanitizer's own, of gcc and of clang: not there in any other program. */
void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));

/*
 * What the calling thread does from here to tr2_tsan_show() is not seen.  Nests; not to be left by a fork or the end of
 * the thread.  Signal safe    Cost  1 ns
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
#endif

#endif
