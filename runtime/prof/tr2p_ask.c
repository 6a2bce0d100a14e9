/* SPDX-License-Identifier: MIT */
/* tr2p_ask.c - see tr2p_ask.h. */
#include "tr2p_ask.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tr2_atomic.h"
#include "tr2p_mutex.h"
#include "tr2p_remote.h"
#include "tr2p_signal.h"
#include "tr2p_stacks.h"
#include "tr2p_tasks.h"
#include "tr2p_thread.h"

static struct ask {
	int signal;                   /* 0: none is installed yet */
	uint32_t questions;
	uint32_t cookie;              /* of our questions; 0: nobody has asked yet */
} g_ask;

static uint32_t cookie(void)
{
	return tr2_load_rlx(&g_ask.cookie); /* relaxed: a number by itself, written before the first signal is sent */
}

/* Ids of users are lower, but that of nobody. */
static void make_cookie(void)
{
	const uint32_t high = UINT32_C(1) << 31;

	/* relaxed: as above; the first one stays */
	tr2_cas_rlx(&g_ask.cookie, 0, (tr2p_random() | high) & ~UINT32_C(1));
}

/* A program that forwards what it gets to another thread may bring one question twice. */
static void answer_remote(uint32_t question, const void *context, const void *caller)
{
	/* relaxed: counted before anybody is asked */
	if (!question || question > tr2_load_rlx(&g_ask.questions) || question == tr2p_g_thread.answered)
		return;
	tr2p_g_thread.answered = question;
	tr2p_remote_answer(question, context, caller);
}

/* 0: it is the program's signal. */
static int is_question(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && info->si_pid == getpid() && cookie() && info->si_uid == cookie();
}

/* Of a question that is over by now nothing comes. */
static void answer(const siginfo_t *info, const void *context, const void *caller)
{
	uint32_t what = (uint32_t)(uintptr_t)info->si_value.sival_ptr;

	if (what & TR2P_ASK_REMOTE)
		answer_remote(what & ~TR2P_ASK_REMOTE, context, caller);
	else
		tr2p_stacks_answer(what, context, caller);
}

/* Where the program has a handler by now, ours runs with its mask: what was under way is lost, for it takes a while. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	if (!is_question(info)) {
		tr2p_signal_pass_on(signal, info, context);
	} else if (tr2p_signal_is_unwanted(signal)) {
		answer(info, context, NULL);
		errno = saved;
	}
}

static int current(void)
{
	return tr2_load_rlx(&g_ask.signal); /* relaxed: a number by itself */
}

int tr2p_ask_is_ready(void)
{
	return tr2p_signal_is_spare(current());
}

/*
 * The last signal that can be sent.  qemu-user takes a handler for each, but its host has two signals fewer for it, and
 * refuses to send these.  A mask tells: they cannot be blocked either.
 */
static int last_signal(void)
{
	int last = SIGRTMAX;
	sigset_t all, before, blocked;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_sigmask(SIG_SETMASK, &before, &blocked);
	while (last >= SIGRTMIN && !sigismember(&blocked, last))
		last--;
	return last;
}

int tr2p_ask_init(void)
{
	int error = EBUSY;

	if (tr2p_ask_is_ready())
		return 0;
	tr2p_tasks_init();
	make_cookie();
	for (int signal = last_signal(); error == EBUSY && signal >= SIGRTMIN; signal--) {
		error = tr2p_signal_install(signal, on_signal);
		if (error)
			continue;
		tr2_store_rlx(&g_ask.signal, signal); /* relaxed: as above */
		tr2p_mutex_let_in(signal);
	}
	return error;
}

int tr2p_ask_cannot_answer(pid_t tid)
{
	return tr2p_tasks_cannot_answer(tid, current());
}

int tr2p_ask(pid_t pid, pid_t tid, uint32_t what)
{
	int signal = current();
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = signal;
	info.si_code = SI_QUEUE;
	info.si_pid = pid;
	info.si_uid = cookie();
	info.si_value.sival_ptr = (void *)(uintptr_t)what;
	return syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, &info) ? errno : 0;
}

uint32_t tr2p_ask_begin(void)
{
	/* relaxed: a number by itself */
	return (tr2_add_rlx(&g_ask.questions, 1) + 1) & ~TR2P_ASK_REMOTE;
}

int tr2p_ask_take_waited(const siginfo_t *info, const void *caller)
{
	int is_ours = info->si_signo >= SIGRTMIN && is_question(info);

	if (is_ours)
		answer(info, NULL, caller);
	return is_ours;
}
