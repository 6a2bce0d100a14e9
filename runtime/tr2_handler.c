/* SPDX-License-Identifier: MIT */
/* tr2_handler.c - see tr2_handler.h. */
#include "tr2_handler.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tr2_thread.h"

int tr2_handler_may_run(uint64_t mask)
{
	struct sigaction action;
	stack_t stack;

	if (!sigaltstack(NULL, &stack) && stack.ss_flags & SS_ONSTACK)
		return 1;
	for (int signal = 1; signal <= 64; signal++) {
		if (sigaction(signal, NULL, &action) || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
			continue;
		if (mask >> (signal - 1) & 1 || action.sa_flags & SA_NODEFER)
			return 1;
	}
	return 0;
}

void tr2_handler_is_ordinary(void)
{
	uint64_t mask;

	if (tr2_self && !syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, sizeof(mask)))
		tr2_self->ordinary_mask = mask;
}
