/* SPDX-License-Identifier: MIT */
/* tr2p_create.c - creating a thread, with what it inherits; the profile "threadcreate". */
#include "tr2p_create.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <threads.h>

#include "trace2_prof.h"
#include "tr2p_init.h"
#include "tr2p_next.h"
#include "tr2p_rename.h"
#include "tr2p_sample.h"
#include "tr2p_sandbox.h"
#include "tr2p_signal.h"
#include "tr2p_thread.h"
#include "tr2p_timers.h"
#include "base/tr2_atomic.h"
#include "record/tr2_sample.h"

static int is_sampled;            /* "threadcreate" is on */
static pthread_key_t key;         /* not NULL: the thread has begun */
static int has_key;

/* ---- a thread's life ------------------------------------------------------------------------------- */

/*
 * Where a thread begins and ends it calls the allocator for us, which it might never do otherwise: a handler that
 * interrupts it there may allocate, if the program knows that the thread does not.
 */
static sigset_t hold_signals(void)
{
	sigset_t all, before;

	tr2p_signal_fill(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	return before;
}

static void release_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* However it ends: a return, pthread_exit(), a cancellation. */
static void end_thread(void *data)
{
	sigset_t before;

	(void)data;
	if (tr2p_sandbox_is_closed())
		return;   /* it has no timers any more */
	before = hold_signals();
	tr2p_rename_end();
	tr2p_timers_end_thread();
	release_signals(&before);
}

void tr2p_create_init(void)
{
	if (!has_key)
		has_key = !pthread_key_create(&key, end_thread);
}

void tr2p_create_begin(void)
{
	sigset_t before;

	if (tr2p_sandbox_is_closed() || !tr2p_is_ready() || !has_key || pthread_getspecific(key))
		return;
	tr2p_enter();
	before = hold_signals();
	tr2p_thread_begin();
	tr2p_timers_begin_thread();
	pthread_setspecific(key, &key);
	release_signals(&before);
	tr2p_timers_unblock_ticks();
	tr2p_leave();
}

/* ---- "threadcreate" -------------------------------------------------------------------------------- */

int tr2p_create_is_on(void)
{
	return tr2_load_rlx(&is_sampled); /* relaxed: a flag, which orders nothing */
}

int trace2_prof_set_threadcreate(int on)
{
	if (on && tr2p_init())
		on = 0;
	return tr2_exchange_rlx(&is_sampled, on != 0); /* relaxed: a flag, which orders nothing */
}

#ifndef TR2_IS_SANITIZED
/* The stack of who called the caller of this. */
static __attribute__((noinline)) void sample(void)
{
	const struct tr2p_amount one = { .count = 1, .period = 1, .scale = 1 };
	struct tr2p_stack stack;

	if (!tr2_load_rlx(&is_sampled) || tr2p_is_inside()) /* relaxed: as above */
		return;
	tr2p_enter();
	tr2p_unwind(&stack, 1);
	tr2p_leave();
	tr2p_sample(TR2P_THREADCREATE, &stack, &one);
}

/* ---- in front of libc ------------------------------------------------------------------------------ */

/* What a thread is born with. */
struct new_thread {
	void *(*start)(void *);
	int (*start_c11)(void *);
	void *data;
	const struct trace2_labels *labels;
};

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int create_c11_function(thrd_t *, thrd_start_t, void *);

static create_function *next_create;
static create_c11_function *next_c11;

/*
 * The next definitions behind ours.  When the library is loaded, for dlsym() takes a lock that a thread may hold which
 * waits for another one to be created; at the first call, if a constructor comes before ours that creates a thread.
 */
__attribute__((constructor)) static void find_next(void)
{
	int saved = errno;

	if (next_create)
		return;
	tr2p_enter();
	/* By way of a pointer to it: ISO C knows no other that makes a function of what is found. */
	*(void **)(void *)&next_c11 = tr2p_find_next("thrd_create");
	*(void **)(void *)&next_create = tr2p_find_next("pthread_create");
	tr2p_leave();
	errno = saved;
}

/* What the thread gets along; NULL: nothing, it is as without us.  libtrace2's own thread is not the program's. */
static struct new_thread *make_new_thread(void *data)
{
	struct new_thread *new_thread;
	int saved = errno;

	if (tr2p_sandbox_is_closed() || (!tr2p_is_ready() && !tr2p_g_thread.labels) || tr2_sample_is_inside_v1())
		return NULL;
	tr2p_enter();
	new_thread = calloc(1, sizeof(*new_thread));
	tr2p_leave();
	errno = saved;
	if (new_thread) {
		new_thread->data = data;
		new_thread->labels = tr2p_g_thread.labels;
	}
	return new_thread;
}

static void drop_new_thread(struct new_thread *new_thread)
{
	int saved = errno;

	tr2p_enter();
	free(new_thread);
	tr2p_leave();
	errno = saved;
}

/* In the new thread, first of all. */
static struct new_thread begin_new_thread(void *data)
{
	const struct new_thread new_thread = *(struct new_thread *)data;
	sigset_t before;

	tr2p_g_thread.labels = new_thread.labels;
	before = hold_signals();
	drop_new_thread(data);
	release_signals(&before);
	tr2p_create_begin();
	return new_thread;
}

static void *begin(void *data)
{
	const struct new_thread new_thread = begin_new_thread(data);

	return new_thread.start(new_thread.data);
}

static int begin_c11(void *data)
{
	const struct new_thread new_thread = begin_new_thread(data);

	return new_thread.start_c11(new_thread.data);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
							  void *(*start)(void *), void *data)
{
	struct new_thread *new_thread;
	int error;

	find_next();
	if (!next_create)
		return EAGAIN;
	new_thread = make_new_thread(data);
	if (!new_thread)
		return next_create(thread, attr, start, data);
	new_thread->start = start;
	error = next_create(thread, attr, begin, new_thread);
	if (error)
		drop_new_thread(new_thread);
	else
		sample();
	return error;
}

__attribute__((visibility("default"))) int thrd_create(thrd_t *thread, thrd_start_t start, void *data)
{
	struct new_thread *new_thread;
	int result;

	find_next();
	if (!next_c11)
		return thrd_error;
	new_thread = make_new_thread(data);
	if (!new_thread)
		return next_c11(thread, start, data);
	new_thread->start_c11 = start;
	result = next_c11(thread, begin_c11, new_thread);
	if (result != thrd_success)
		drop_new_thread(new_thread);
	else
		sample();
	return result;
}

int tr2p_create_own(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data)
{
	find_next();
	return next_create ? next_create(thread, attributes, start, data) : EAGAIN;
}
#else
int tr2p_create_own(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data)
{
	return pthread_create(thread, attributes, start, data);
}
#endif
