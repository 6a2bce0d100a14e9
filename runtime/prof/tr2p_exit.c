/* SPDX-License-Identifier: MIT */
/* tr2p_exit.c - in front of _exit(), exec and what is like them. */
#include "tr2p_exit.h"

#include <alloca.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "trace2.h"
#include "tr2p_cpu.h"
#include "tr2p_next.h"
#include "tr2p_sandbox.h"
#include "tr2p_thread.h"

pid_t tr2p_g_recorder;
static __thread int g_is_daemon __attribute__((tls_model("initial-exec")));   /* the calling thread is in daemon() */

/* ---- ending the trace ------------------------------------------------------------------------------ */

/* While a handler runs its signal is blocked. */
static int may_be_handler(void)
{
	struct sigaction action;
	sigset_t blocked;

	if (pthread_sigmask(SIG_BLOCK, NULL, &blocked))
		return 1;
	for (int signo = 1; signo <= SIGRTMAX; signo++) {
		if (sigismember(&blocked, signo) != 1 || sigaction(signo, NULL, &action))
			continue;
		if ((action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN))
			return 1;
	}
	return 0;
}

/*
 * 1: there is a trace, of this process, to be ended.  In a child that has the memory of its parent, but nothing where
 * variables of threads should be, as some sandboxes have, neither these nor errno may be looked at.
 */
static int is_recorder(void)
{
	pid_t recorder = tr2_load_rlx(&tr2p_g_recorder); /* relaxed: a number by itself */

	return recorder && !tr2p_sandbox_is_closed() && recorder == getpid() && !tr2p_is_inside();
}

static void leave(int is_certain)
{
	int saved;

	if (!is_recorder())
		return;
	saved = errno;
	tr2p_enter();
	if (!is_certain || may_be_handler()) {
		trace2_flush();
	} else {
		tr2p_cpu_end();
		trace2_finish();
	}
	tr2p_leave();
	errno = saved;
}

static void leave_for_good(void)
{
	leave(1);
}

void tr2p_exit_init(void)
{
	tr2_store_rlx(&tr2p_g_recorder, getpid()); /* relaxed: a number by itself */
	at_quick_exit(leave_for_good);
}

void tr2p_exit_begin_child(void)
{
	tr2_store_rlx(&tr2p_g_recorder, 0); /* relaxed: as above */
}

/* daemon()'s own _exit() is libc's business. */
void tr2p_exit_after_fork(void)
{
	if (g_is_daemon)
		leave(1);
}

#ifndef TR2_IS_SANITIZED
/* ---- will exec succeed? ---------------------------------------------------------------------------- */

/* To look into the file would take a descriptor, on which another thread may count. */
static int is_executable(const char *path)
{
	struct stat st;

	return path && !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Not looked at in the child of vfork(), or wherever else there is nothing to end. */
static void leave_for(const char *path)
{
	if (is_recorder())
		leave(is_executable(path));
}

/* As execvp() looks for it. */
static int is_in_path(const char *file)
{
	const char *path = getenv("PATH");
	char full[PATH_MAX];

	if (!file || !*file)
		return 0;
	if (strchr(file, '/'))
		return is_executable(file);
	for (path = path ? path : "/bin:/usr/bin";; path++) {
		size_t n = strcspn(path, ":");
		int length = snprintf(full, sizeof(full), "%.*s%s%s", (int)n, path, n ? "/" : "./", file);
		if (length > 0 && (size_t)length < sizeof(full) && is_executable(full))
			return 1;
		path += n;
		if (!*path)
			return 0;
	}
}

static void leave_to_find(const char *file)
{
	if (is_recorder())
		leave(is_in_path(file));
}

static size_t count_all(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* The environment that a program gets, on our stack where it is not the caller's: as it would have to be in vfork(). */
#define ENVIRONMENT(from) \
	tr2p_sandbox_environment( \
		(from), tr2p_sandbox_is_closed() ? alloca((count_all(from) + 1) * sizeof(char *)) : NULL)

/* ---- in front of libc ------------------------------------------------------------------------------ */

#define FUNCTIONS(X) \
	X(daemon) X(execve) X(execv) X(execvp) X(execvpe) X(fexecve)

TR2P_NEXT_TABLE(FUNCTIONS);

TR2P_IN_FRONT void _exit(int status)
{
	leave(1);
	for (;;)
		syscall(SYS_exit_group, status);
}

TR2P_IN_FRONT void _Exit(int status)
{
	_exit(status);
}

TR2P_IN_FRONT int daemon(int nochdir, int noclose)
{
	int result;

	g_is_daemon = 1;
	result = NEXT(daemon)(nochdir, noclose);
	g_is_daemon = 0;
	return result;
}

TR2P_IN_FRONT int execve(const char *path, char *const argv[], char *const environment[])
{
	leave_for(path);
	return NEXT(execve)(path, argv, ENVIRONMENT(environment));
}

TR2P_IN_FRONT int execv(const char *path, char *const argv[])
{
	leave_for(path);
	return NEXT(execv)(path, argv);
}

TR2P_IN_FRONT int execvp(const char *file, char *const argv[])
{
	leave_to_find(file);
	return NEXT(execvp)(file, argv);
}

TR2P_IN_FRONT int execvpe(const char *file, char *const argv[], char *const environment[])
{
	leave_to_find(file);
	return NEXT(execvpe)(file, argv, ENVIRONMENT(environment));
}

TR2P_IN_FRONT int fexecve(int fd, char *const argv[], char *const environment[])
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	leave_for(path);
	return NEXT(fexecve)(fd, argv, ENVIRONMENT(environment));
}

/* ---- with a list of arguments ---------------------------------------------------------------------- */

static size_t count(const char *first, va_list *args)
{
	size_t n = 0;

	for (const char *arg = first; arg; arg = va_arg(*args, const char *))
		n++;
	return n;
}

static void fill(const char **argv, const char *first, va_list *args)
{
	for (const char *arg = first; arg; arg = va_arg(*args, const char *))
		*argv++ = arg;
	*argv = NULL;
}

/* The list as an array, argv; args goes on behind its end. */
#define LIST(first) \
	const char **argv; \
	va_list args; \
	va_start(args, first); \
	argv = alloca((count(first, &args) + 1) * sizeof(*argv)); \
	va_end(args); \
	va_start(args, first); \
	fill(argv, first, &args)
#define ARGV ((char *const *)(uintptr_t)argv)

TR2P_IN_FRONT int execl(const char *path, const char *arg, ...)
{
	LIST(arg);
	va_end(args);
	return execv(path, ARGV);
}

TR2P_IN_FRONT int execlp(const char *file, const char *arg, ...)
{
	LIST(arg);
	va_end(args);
	return execvp(file, ARGV);
}

TR2P_IN_FRONT int execle(const char *path, const char *arg, ...)
{
	char *const *environment;

	LIST(arg);
	environment = va_arg(args, char *const *);
	va_end(args);
	return execve(path, ARGV, environment);
}
#endif
