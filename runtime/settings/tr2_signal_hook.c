/* SPDX-License-Identifier: MIT */
/* tr2_signal_hook.c - signals that mean something to us, and perhaps to the program. */
#include "tr2_signal_hook.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/tr2_memory.h"
#include "base/tr2_text.h"

int tr2_signal_hook_parse(const char *name)
{
	char *end;

	if (isdigit((unsigned char)*name)) {
		unsigned long signo = strtoul(name, &end, 10);
		return signo < 32 && !*end ? (int)signo : 0;
	}
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (int signo = 1; signo < 32; signo++) {
		const char *known = sigabbrev_np(signo);
		if (known && tr2_text_is(known, name))
			return signo;
	}
	return 0;
}

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
	const char *name = sigabbrev_np(signo);
	char text[24] = "SIG";

	strncpy(text + 3, name ? name : "?", sizeof(text) - 4);
	call(text);
}

TR2_LARGE static struct sigaction g_before[32];
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
	struct sigaction action = { .sa_sigaction = pass_on }, now, *before = &g_before[signo];
	int has_handler, flags;

	if (sigaction(signo, NULL, &now))
		return -1;
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
