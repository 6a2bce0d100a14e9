/* SPDX-License-Identifier: MIT */
/* tr2_signal.c - handlers that record and step aside. */
#include "tr2_signal.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tr2_drain.h"
#include "tr2_emit.h"
#include "tr2_env.h"
#include "trace2.h"
#include "tr2_sink.h"

/* The default action comes back first: it ends the process as soon as this handler returns. */
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
		/* our own SIGPIPE comes out of a write; others may have interrupted the allocator, which texts need */
		if (signo != SIGPIPE || info->si_pid != getpid())
			tr2_sink_drop_texts();
		tr2_drain_finish(TLG_END_SIGNAL);
	}
	errno = saved;
	raise(signo);   /* blocked until we return; one that a fault raised comes again by itself */
}

int tr2_signal_take(int signo)
{
	struct sigaction action = { .sa_sigaction = record_signal, .sa_flags = SA_ONSTACK | SA_SIGINFO }, old;

	if (sigaction(signo, NULL, &old) || old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL)
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
