/* SPDX-License-Identifier: MIT */
/* tr2p_sandbox.c - in front of prctl() and syscall(): a sandbox begins. */
#include "tr2p_sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace2.h"
#include "trace2_prof.h"
#include "tr2p_alone.h"
#include "tr2p_exit.h"
#include "tr2p_filter.h"
#include "tr2p_init.h"
#include "tr2p_uses.h"
#include "tr2p_wait.h"
#include "tr2p_next.h"
#include "tr2p_rename.h"
#include "tr2p_settings.h"
#include "tr2p_thread.h"
#include "record/tr2_sample.h"

/* A program may bring along an older libtrace2, without these. */
#pragma weak tr2_sample_await_end_v1
#pragma weak tr2_sample_stay_out_v1

int tr2p_g_is_closed;
static int g_has_filter;

static const char *const variables[] = { "TRACE2_PROF", "TRACE2_RAW" };
enum { VARIABLES = sizeof(variables) / sizeof(variables[0]) };

int tr2p_sandbox_has_filter(void)
{
	return tr2_load_rlx(&g_has_filter); /* relaxed: a flag by itself */
}

/* In /proc, since a call by which the kernel would say it, prctl(2), may be what the filter forbids. */
void tr2p_sandbox_init(void)
{
	char text[4096];
	const char *line;
	int saved = errno, fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nSeccomp:\t");
	if (!line || line[sizeof("\nSeccomp:\t") - 1] != '0')
		tr2_store_rlx(&g_has_filter, 1); /* relaxed: as above.  Not known counts as one */
	errno = saved;
}

static int is_ours(const char *variable)
{
	for (unsigned i = 0; i < VARIABLES; i++) {
		size_t n = strlen(variables[i]);
		if (!strncmp(variable, variables[i], n) && variable[n] == '=')
			return 1;
	}
	return 0;
}

char *const *tr2p_sandbox_environment(char *const *environment, char **room)
{
	char **to = room;

	if (!room || !environment)
		return environment;
	for (; *environment; environment++)
		if (!is_ours(*environment))
			*to++ = *environment;
	*to = NULL;
	return room;
}

#ifndef TR2_IS_SANITIZED
static int g_is_closing;

/* Also what this process executes is under the filter. */
static void forget_variables(void)
{
	for (unsigned i = 0; i < VARIABLES; i++)
		unsetenv(variables[i]);
}

/* A filter may be one for all threads: libtrace2's must be gone by then. */
static void end_trace(void)
{
	trace2_finish();
	if (tr2_sample_await_end_v1)
		tr2_sample_await_end_v1();
}

/*
 * A program that knows of Trace2 records on its own account: its trace is only written.  A forked child that has
 * recorded nothing has no trace, and libtrace2 must not begin one when the child ends.
 */
static void end_or_forgo_trace(pid_t recorder)
{
	if (recorder && tr2p_uses_trace2())
		trace2_flush();
	else if (recorder)
		end_trace();
	else if (!tr2p_uses_trace2() && tr2_sample_stay_out_v1)
		tr2_sample_stay_out_v1();
}

/* End the profile and the trace.  The child of vfork() has its parent's memory, and is none of ours. */
static void close_process(void)
{
	pid_t recorder = tr2_load_rlx(&tr2p_g_recorder); /* relaxed: a number by itself */
	int saved = errno;

	if (!tr2p_is_ready() || tr2p_is_inside() || (recorder && recorder != getpid()) ||
	    tr2_exchange_rlx(&g_is_closing, 1)) /* relaxed: once */
		return;
	tr2p_warning("the profile ends here: the program enters a sandbox that forbids system calls");
	trace2_prof_stop_cpu();
	trace2_prof_stop_wall();
	trace2_prof_set_heap_rate(0);
	trace2_prof_set_block_rate(0);
	trace2_prof_set_mutex_fraction(0);
	trace2_prof_set_threadcreate(0);
	tr2_store_rlx(&tr2p_g_is_closed, 1); /* relaxed: a flag by itself */
	tr2p_enter();
	/* A tick may have recorded the first sample since.  relaxed: as above */
	end_or_forgo_trace(tr2_load_rlx(&tr2p_g_recorder));
	forget_variables();
	tr2p_leave();
	errno = saved;
}

/* Programs also try what the kernel knows, with nothing where the filter would be. */
static void begin_filter(const struct sock_fprog *filter)
{
	if (!filter || !filter->filter)
		return;
	tr2_store_rlx(&g_has_filter, 1); /* relaxed: as above */
	if (!tr2p_sandbox_is_closed() && !tr2p_filter_is_harmless(filter))
		close_process();
}

/* ---- in front of libc ------------------------------------------------------------------------------ */

/* Also for tr2p_rename.h, which wants to hear of PR_SET_NAME, and for tr2p_alone.h */
#define FUNCTIONS(X) \
	X(prctl)

TR2P_NEXT_TABLE(FUNCTIONS);

/* What decides, beside the user, whether a thread has capabilities. */
static int is_of_capabilities(long option)
{
	return option == PR_SET_KEEPCAPS || option == PR_SET_SECUREBITS;
}

TR2P_IN_FRONT int prctl(int option, ...)
{
	unsigned long with[4];
	va_list args;
	int is_alone, result;

	va_start(args, option);
	for (unsigned i = 0; i < 4; i++)
		with[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SET_SECCOMP && with[0] == SECCOMP_MODE_STRICT)
		close_process();
	else if (option == PR_SET_SECCOMP && with[0] == SECCOMP_MODE_FILTER)
		begin_filter((const struct sock_fprog *)with[1]);
	is_alone = is_of_capabilities(option) && tr2p_alone_begin();
	result = NEXT(prctl)(option, with[0], with[1], with[2], with[3]);
	if (is_alone)
		tr2p_alone_end();
	if (option == PR_SET_NAME && !result)
		tr2p_rename_note();
	return result;
}

/*
 * With all arguments that there may be, by its name: <unistd.h> says "...", and so a frame of ours would be needed.
 * Without one it goes to the next definition by a jump, and a call that returns twice does as without us.
 */
TR2P_IN_FRONT tr2p_call_function tr2p_sandbox_call __asm__("syscall");

static tr2p_call_function *g_next_call;

static tr2p_call_function *find_next_call(void)
{
	tr2p_call_function *next = tr2_load_rlx(&g_next_call); /* relaxed: right by itself */

	if (__builtin_expect(!next, 0)) {
		int saved = errno;
		*(void **)(void *)&next = tr2p_find_next("syscall");
		tr2_store_rlx(&g_next_call, next); /* relaxed: as above */
		errno = saved;
	}
	return next;
}

__attribute__((constructor, cold)) static void find_at_load(void)
{
	find_next_call();
}

/* seccomp(2) of its own number, and of prctl() */
static __attribute__((noinline, cold)) void look_at(long number, long a, long b, long c)
{
	if (number == SYS_prctl && a == PR_SET_SECCOMP && b == SECCOMP_MODE_STRICT)
		close_process();
	else if (number == SYS_prctl && a == PR_SET_SECCOMP && b == SECCOMP_MODE_FILTER)
		begin_filter((const struct sock_fprog *)c);
	else if (number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT && !b && !c)
		close_process();
	else if (number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER)
		begin_filter((const struct sock_fprog *)c);
}

static inline int is_futex(long number)
{
#ifdef SYS_futex_time64
	if (number == SYS_futex_time64)
		return 1;
#endif
	return number == SYS_futex;
}

/* noinline: only here there is a frame. */
static __attribute__((noinline)) long count_futex(const void *caller, long number, long a, long b, long c, long d,
						  long e, long f)
{
	return tr2p_futex_call(find_next_call(), caller, (const long[]){ number, a, b, c, d, e, f });
}

/* noinline: so that the frame is not in the way of other calls */
static __attribute__((noinline, cold)) long call_alone(long number, long a, long b, long c, long d, long e)
{
	const int is_alone = tr2p_alone_begin();
	const long result = find_next_call()(number, a, b, c, d, e, 0);

	if (is_alone)
		tr2p_alone_end();
	return result;
}

long tr2p_sandbox_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (is_futex(number) && tr2p_waits_are_on())
		return count_futex(TR2P_CALLER, number, a, b, c, d, e, f);
	if (__builtin_expect(number == SYS_seccomp || number == SYS_prctl, 0))
		look_at(number, a, b, c);
	if (__builtin_expect(number == SYS_capset || (number == SYS_prctl && is_of_capabilities(a)), 0))
		return call_alone(number, a, b, c, d, e);
	return find_next_call()(number, a, b, c, d, e, f);
}
#endif
