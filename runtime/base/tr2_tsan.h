/* SPDX-License-Identifier: MIT */
/*
 * tr2_tsan.h - the library in a program that is compiled with -fsanitize=thread.
 *
 * ThreadSanitizer does not see the library's own loads and stores, but it sees those of libc on its behalf: memcpy(),
 * strlen(), write(), pthread_mutex_trylock().  As it does not know the memory ordering of tr2_ring.h, it would report
 * races.  So it ignores what happens while libc writes to shared memory for us.  What the library reads of the program
 * stays visible: a race there is the program's.
 *
 * A library that is itself compiled with -fsanitize=thread hides nothing.  But there is one order that only the kernel
 * makes, between a thread that ends and who finds its robust mutex without an owner: that has to be said.
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

/* The calling thread, when it ends, gives this up, with all that it has done; NULL: nothing any more.  In tr2_tsan.c */
void tr2_tsan_end_with(void *what);

/* The thread that had this has ended: what the calling one does comes behind. */
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
