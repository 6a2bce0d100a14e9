/* SPDX-License-Identifier: MIT */
/* tr2p_mutex.c - see tr2p_mutex.h. */
#include "tr2p_mutex.h"

#include "tr2p_signal.h"
#include "tr2p_thread.h"
#include "base/tr2_atomic.h"

static int g_let_in;     /* 0: none */

static void keep_off(struct tr2p_mutex_before *before)
{
	int signal = tr2_load_rlx(&g_let_in); /* relaxed: a number by itself */
	sigset_t all;

	tr2p_enter();
	tr2p_signal_fill(&all);
	if (signal && tr2p_signal_is_unwanted(signal))
		sigdelset(&all, signal);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancel);
	pthread_sigmask(SIG_SETMASK, &all, &before->mask);
}

static void let_in(const struct tr2p_mutex_before *before)
{
	pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
	pthread_setcancelstate(before->cancel, NULL);
	tr2p_leave();
}

void tr2p_mutex_lock(struct tr2p_mutex *mutex)
{
	struct tr2p_mutex_before before;

	keep_off(&before);
	pthread_mutex_lock(&mutex->lock);
	mutex->before = before;
}

int tr2p_mutex_try_lock(struct tr2p_mutex *mutex)
{
	struct tr2p_mutex_before before;

	keep_off(&before);
	if (pthread_mutex_trylock(&mutex->lock)) {
		let_in(&before);
		return 0;
	}
	mutex->before = before;
	return 1;
}

void tr2p_mutex_unlock(struct tr2p_mutex *mutex)
{
	const struct tr2p_mutex_before before = mutex->before;

	pthread_mutex_unlock(&mutex->lock);
	let_in(&before);
}

void tr2p_mutex_let_in(int signal)
{
	tr2_store_rlx(&g_let_in, signal); /* relaxed: a number by itself */
}
