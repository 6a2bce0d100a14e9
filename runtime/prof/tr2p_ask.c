/* SPDX-License-Identifier: MIT */
/* tr2p_ask.c - see tr2p_ask.h. */
#include "tr2p_ask.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tr2_atomic.h"
#include "tr2p_mutex.h"
#include "tr2p_outside.h"
#include "tr2p_signal.h"
#include "tr2p_stacks.h"
#include "tr2p_tasks.h"

static struct ask {
	int signal;                   /* 0: none is installed yet */
	uint32_t questions;
} g_ask;

/* Return  0: it is none of our questions */
static int answer(const siginfo_t *info, const void *context, const void *caller)
{
	uint32_t what = (uint32_t)(uintptr_t)info->si_value.sival_ptr;

	if (info->si_code != SI_QUEUE || info->si_pid != getpid())
		return 0;
	if (!(what & TR2P_ASK_OUTSIDE))
		return tr2p_stacks_answer(what, context, caller);
	what &= ~TR2P_ASK_OUTSIDE;
	if (!what || what > tr2_load_rlx(&g_ask.questions)) /* relaxed: counted before anybody is asked */
		return 0;
	tr2p_outside_answer(what, context, caller);
	return 1;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)signal;
	answer(info, context, NULL);
	errno = saved;
}

static int is_ours(int signal)
{
	struct sigaction now;

	return signal && !sigaction(signal, NULL, &now) && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal;
}

static int current(void)
{
	return tr2_load_rlx(&g_ask.signal); /* relaxed: a number by itself */
}

int tr2p_ask_is_ready(void)
{
	return is_ours(current());
}

int tr2p_ask_init(void)
{
	struct sigaction ours = { .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK }, now;

	if (tr2p_ask_is_ready())
		return 0;
	tr2p_tasks_init();
	tr2p_signal_fill(&ours.sa_mask);
	ours.sa_sigaction = on_signal;
	for (int signal = SIGRTMAX; signal >= SIGRTMIN; signal--) {
		if (sigaction(signal, NULL, &now) || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
			continue;
		if (sigaction(signal, &ours, NULL))
			return errno;
		tr2_store_rlx(&g_ask.signal, signal); /* relaxed: as above */
		tr2p_mutex_let_in(signal);
		return 0;
	}
	return EBUSY;
}

int tr2p_ask_is_deaf(pid_t tid)
{
	return tr2p_tasks_is_deaf(tid, current());
}

int tr2p_ask(pid_t pid, pid_t tid, uint32_t what)
{
	int signal = current();
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = signal;
	info.si_code = SI_QUEUE;
	info.si_pid = pid;
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)(uintptr_t)what;
	return syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, &info) ? errno : 0;
}

uint32_t tr2p_ask_begin(void)
{
	/* relaxed: a number by itself */
	return (tr2_add_rlx(&g_ask.questions, 1) + 1) & ~TR2P_ASK_OUTSIDE;
}

int tr2p_ask_take_waited(const siginfo_t *info, const void *caller)
{
	return info->si_signo == current() && answer(info, NULL, caller);
}
