/* SPDX-License-Identifier: MIT */
/* tr2_signal.c - handlers that record and step aside. */
#include "tr2_signal.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tr2_drain.h"
#include "tr2_emit.h"
#include "tr2_env.h"
#include "trace2.h"
#include "tr2_sink.h"
#include "tr2_wake.h"

/*
 * Texts allocate, and what the signal has interrupted may be the allocator: the drain's thread writes them, if there
 * is one and it is not stuck for that reason.  Our own SIGPIPE comes out of a write, which leaves no doubt.
 */
static void finish(int is_from_write)
{
	if (!tr2_sink_allocates() || is_from_write) {
		tr2_drain_finish(TLG_END_SIGNAL);
	} else if (!tr2_wake_is_running()) {
		tr2_sink_drop_texts();
		tr2_drain_finish(TLG_END_SIGNAL);
	} else {
		tr2_wake_finish(TLG_END_SIGNAL);
	}
}

/* The signal once more, as it came: who looks into the core of a fault finds its address. */
static void send_again(int signo, siginfo_t *info)
{
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signo, info))
		raise(signo);
}

/*
 * The default action comes back first: it ends the process as soon as this handler returns, for the signal that is
 * sent again is blocked until then.
 */
static void record_signal(int signo, siginfo_t *info, void *context)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	struct tr2_scope_key key = { .style = TLG_STYLE_signal };
	struct tr2_args args;
	int saved = errno;

	(void)context;
	sigaction(signo, &action, NULL);
	if (tr2_enabled_v1) {
		tr2_args_init(&args);
		tr2_args_int(&args, signo);
		tr2_emit(&key, &args, 0, 0);
		finish(signo == SIGPIPE && info->si_pid == getpid());
	}
	send_again(signo, info);
	errno = saved;
}

/* Whether the signal's default action ends the process, and can be anything else. */
static int is_fatal(int signo)
{
	static const int others[] = {
		SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH,
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (signo == others[i])
			return 0;
	return signo > 0;
}

int tr2_signal_take(int signo)
{
	struct sigaction action = { .sa_sigaction = record_signal, .sa_flags = SA_ONSTACK | SA_SIGINFO }, old;

	if (!is_fatal(signo) || sigaction(signo, NULL, &old) || old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL)
		return -1;
	return sigaction(signo, &action, NULL);
}

/* "TERM", "SIGTERM", "15"; 0 for what is no signal. */
static int parse_signal(const char *name)
{
	if (isdigit((unsigned char)*name))
		return atoi(name);
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (int signo = 1; signo < 32; signo++) {
		const char *known = sigabbrev_np(signo);
		if (known && !strcasecmp(known, name))
			return signo;
	}
	return 0;
}

void tr2_signal_init(void)
{
	const char *list = tr2_env_get("SIGNALS");
	char name[16];
	int signo;

	tr2_signal_take(SIGPIPE);
	while (list && *list) {
		size_t length = strcspn(list, ", ");
		if (length && length < sizeof(name)) {
			memcpy(name, list, length);
			name[length] = '\0';
			signo = parse_signal(name);
			if (signo > 0 && signo < 32)
				tr2_signal_take(signo);
		}
		list += length;
		list += strspn(list, ", ");
	}
}
