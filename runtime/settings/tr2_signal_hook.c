/* SPDX-License-Identifier: MIT */
/* tr2_signal_hook.c - signals that mean something to us, and perhaps to the program. */
#include "tr2_signal_hook.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "tlg_signal.h"
#include "base/tr2_memory.h"

void tr2_signal_hook_each_word(const char *list, void (*call)(const char *word))
{
	char word[64];

	while (list && *list) {
		size_t length = strcspn(list, ", "), n = length < sizeof(word) ? length : sizeof(word) - 1;
		memcpy(word, list, n);
		word[n] = '\0';
		if (n)
			call(word);
		list += length;
		list += strspn(list, ", ");
	}
}

void tr2_signal_hook_call(int signo, tr2_signal_hook_fn *call)
{
	char name[TLG_SIGNAL_NAME];

	tlg_signal_name(signo, name);
	call(name);
}

TR2_LARGE static struct sigaction g_before[_NSIG];
static tr2_signal_hook_fn *g_hook;

/* Ours first, then the program's own. */
static void pass_on(int signo, siginfo_t *info, void *context)
{
	const struct sigaction *before = &g_before[signo];
	int saved = errno;

	tr2_signal_hook_call(signo, g_hook);
	errno = saved;
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(signo, info, context);
	else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
		before->sa_handler(signo);
}

int tr2_signal_hook_signal(int signo, tr2_signal_hook_fn *hook)
{
	struct sigaction action = { .sa_sigaction = pass_on }, now, *before;
	int has_handler, flags;

	if (signo <= 0 || signo >= _NSIG || sigaction(signo, NULL, &now))
		return -1;
	before = &g_before[signo];
	if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == pass_on)
		return 0;
	*before = now;
	has_handler = before->sa_flags & SA_SIGINFO || (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN);
	action.sa_mask = before->sa_mask;
	flags = has_handler ? before->sa_flags : SA_RESTART;
	action.sa_flags = (int)((unsigned)flags & ~(unsigned)SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
	g_hook = hook;
	return sigaction(signo, &action, NULL);
}
