/* SPDX-License-Identifier: MIT */
/* tr2p_remote.c - see tr2p_remote.h. */
#include "tr2p_remote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tlg_signal.h"
#include "trace2.h"
#include "base/tr2_atomic.h"
#include "record/tr2_sample.h"
#include "tr2p_ask.h"
#include "tr2p_bucket.h"
#include "tr2p_init.h"
#include "tr2p_room.h"
#include "tr2p_sample.h"
#include "tr2p_sandbox.h"
#include "tr2p_scratch.h"
#include "tr2p_signal.h"
#include "tr2p_tasks.h"
#include "tr2p_thread.h"

static int g_signal;                      /* that asks; 0: none */
static void *g_mark;                      /* says so in /proc/PID/maps; or NULL */

/* ---- which signal ---------------------------------------------------------------------------------- */

int tr2p_remote_parse(const char *name)
{
	int signal = tlg_signal_parse(name);

	for (const char *at = name; *at; at++)
		if (*at >= 'a' && *at <= 'z')
			return 0;
	return tlg_signal_may_ask(signal) ? signal : 0;
}

/* ---- answering ------------------------------------------------------------------------------------- */

static void sample(struct tr2p_stack *stack, uint32_t question, const void *context, const void *caller)
{
	const struct tr2p_amount one = { .count = 1, .value = question, .period = 1, .scale = 1 };

	tr2p_unwind_either(stack, context, caller);
	tr2p_sample_traced(TR2P_THREADS, stack, &one);
}

/* noinline: only here the stack has a buffer of its own. */
static __attribute__((noinline)) void sample_here(uint32_t question, const void *context, const void *caller)
{
	struct tr2p_stack stack;

	sample(&stack, question, context, caller);
}

void tr2p_remote_answer(uint32_t question, const void *context, const void *caller)
{
	struct tr2p_stack *stack;

	tr2p_enter();
	if (!context || tr2p_room(context) != TR2P_ROOM_NONE) {
		stack = tr2p_scratch_acquire();
		if (stack)
			sample(stack, question, context, caller);
		else
			sample_here(question, context, caller);
		tr2p_scratch_release(stack);
	}
	tr2_sample_answered_v1();
	tr2p_leave();
}

struct asking {
	pid_t pid, self;
	uint32_t question, asked;
};

static int ask_next(pid_t tid, void *data)
{
	struct asking *asking = data;

	if (tid != asking->self && !tr2p_ask_cannot_answer(tid))
		asking->asked += !tr2p_ask(asking->pid, tid, asking->question | TR2P_ASK_REMOTE);
	return 0;
}

static void on_signal(int signal, siginfo_t *info, void *context);

int tr2p_remote_is_ours(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

static int is_still_ours(int signal)
{
	struct sigaction now;

	return !sigaction(signal, NULL, &now) && tr2p_remote_is_ours(&now);
}

/*
 * A handler of the program's may call the one that was there before, if it has found out by a way that does not lead
 * past us: then it is the program's question.  The child of a vfork() has nothing to say, and no ring to say it in.
 */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct asking asking = { .asked = 1 };
	int saved = errno;

	(void)info;
	tr2p_enter();
	if (!tr2p_sandbox_is_closed() && is_still_ours(signal) && !tr2p_signal_is_in_vfork()) {
		asking.pid = getpid();
		asking.self = (pid_t)syscall(SYS_gettid);
		asking.question = tr2p_ask_begin();
		/* first, for a forked child has no ring file before */
		tr2p_remote_answer(asking.question, context, NULL);
		if (tr2p_ask_is_ready())
			tr2p_tasks_each(ask_next, &asking);
		tr2_sample_asked_v1(asking.question, asking.asked);
	}
	tr2p_leave();
	errno = saved;
}

/* ---- starting -------------------------------------------------------------------------------------- */

static int install(int signal)
{
	struct sigaction ours = { .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK, .sa_sigaction = on_signal }, now;
	int error;

	if (sigaction(signal, NULL, &now))
		return errno;
	if ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
		return EBUSY;
	error = tr2p_ask_init();
	tr2p_signal_fill(&ours.sa_mask);
	return error ? error : sigaction(signal, &ours, NULL) ? errno : 0;
}

static void unmap_mark(void)
{
	if (g_mark)
		munmap(g_mark, 1);
	g_mark = NULL;
}

/* A file may be so long: else the kernel would send SIGXFSZ. */
static int may_be_long(rlim_t bytes)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= bytes;
}

/*
 * Only this process and its children have a page that was written to.  So a reader in another process knows that no
 * other process has made this mapping (expand/cli/t2x_target.h).  The file's page is allocated first: without memory
 * for it the write would raise SIGBUS.  This runs when the library is loaded, before any code that may count on
 * descriptors.
 */
static void mark(int signal)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "trace2-threads-%d", signal);
	fd = may_be_long(1) ? memfd_create(name, MFD_CLOEXEC) : -1;
	g_mark = fd < 0 || fallocate(fd, 0, 0, 1) ? MAP_FAILED :
					      mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (g_mark == MAP_FAILED)
		g_mark = NULL;
	if (fd >= 0)
		close(fd);
	if (!g_mark)
		return;
	*(volatile char *)g_mark = 1;
	if (mprotect(g_mark, 1, PROT_NONE))
		unmap_mark();
}

int tr2p_remote_start(int signal)
{
	int error = tr2p_init();

	if (error)
		return error;
	tr2p_enter();
	error = install(signal);
	if (!error) {
		tr2_store_rlx(&g_signal, signal); /* relaxed: a number by itself */
		tr2_sample_signal_v1(signal);
		if (trace2_is_enabled())
			mark(signal);
	}
	tr2p_leave();
	return error;
}

void tr2p_remote_lost(int signal)
{
	if (signal != tr2_load_rlx(&g_signal) || tr2p_signal_is_in_vfork()) /* relaxed: as above */
		return;
	if (!tr2_cas_rlx(&g_signal, signal, 0)) /* relaxed: as above; of two threads that change it one goes on */
		return;
	tr2_sample_signal_v1(0);
	unmap_mark();
}
