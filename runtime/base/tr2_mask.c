/* SPDX-License-Identifier: MIT */
/* tr2_mask.c - may the calling code be a signal handler? */
#include "tr2_mask.h"

#include <errno.h>
#include <time.h>

#include "tr2_atomic.h"
#include "tr2_sys.h"

enum { LAST_CLASSIC = 31, LAST = 64 };   /* signals; those behind the first are of real time */

__thread struct tr2_masked tr2_masked __attribute__((tls_model("initial-exec")));

void tr2_mask_take_back(int error, const sigset_t *pending)
{
	sigset_t set;
	int signal = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;

	if (!signal || sigismember(pending, signal))
		return;
	sigemptyset(&set);
	sigaddset(&set, signal);
	while (tr2_sys_sigtake(&set) < 0 && errno == EINTR)
		;
}

/* A handler of these signals ends the program, or jumps.  None installs itself again, as handlers under System V do. */
static int is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT ||
	       signal == SIGTRAP || signal == SIGSYS;
}

static int is_blocked(uint64_t mask, int signal)
{
	return (int)(mask >> (signal - 1) & 1);
}

/* 1 if the mask lacks a signal that the running handler would block besides its own. */
static int lets_through(uint64_t mask, uint64_t blocked)
{
	const uint64_t never = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);

	return (blocked & ~never & ~mask) != 0;
}

/* Signals, a bit each, that had a vanishing handler when we last looked. */
static uint64_t g_vanishing;

/* The kernel removes the handler when it begins, and the handler does not block its signal: nothing of it is left. */
static int vanishes(const struct tr2_sys_action *action)
{
	return action->flags & SA_NODEFER && action->flags & SA_RESETHAND;
}

/* The signal has no handler now.  1 if it had a vanishing one, which may be running. */
static int may_have_vanished(int signal, const struct tr2_sys_action *action)
{
	return action->handler == SIG_DFL && is_blocked(tr2_load_rlx(&g_vanishing), signal); /* relaxed: a hint */
}

/*
 * May the handler be running, judged by its action and the mask?  A handler that does not block its own signal would
 * have changed something else: the stack, its own action, other signals.
 */
static int may_run(int signal, const struct tr2_sys_action *action, uint64_t mask, int has_own_stack)
{
	if (action->handler == SIG_DFL || action->handler == SIG_IGN)
		return may_have_vanished(signal, action);
	if (is_blocked(mask, signal))
		return 1;
	if (!(action->flags & SA_NODEFER))
		return 0;
	if (action->flags & SA_ONSTACK && has_own_stack)
		return 0;   /* it would run there, and we do not */
	if (vanishes(action) && is_fault(signal))
		return 0;   /* it would not be installed any more */
	return !lets_through(mask, action->mask);
}

/* Look at the handlers of signals 1 to last, and remember the vanishing ones.  Return  1: one may be running */
static int look_at_handlers(uint64_t mask, int has_own_stack, int last)
{
	struct tr2_sys_action action;
	uint64_t vanishing = 0;
	int may = 0;

	for (int signal = 1; signal <= last; signal++) {
		if (signal == SIGKILL || signal == SIGSTOP || tr2_sys_sigaction(signal, &action))
			continue;
		may |= may_run(signal, &action, mask, has_own_stack);
		if (action.handler != SIG_DFL && action.handler != SIG_IGN && vanishes(&action))
			vanishing |= UINT64_C(1) << (signal - 1);
	}
	if (vanishing & ~tr2_load_rlx(&g_vanishing)) /* relaxed: as above */
		tr2_store_rlx(&g_vanishing, vanishing | tr2_load_rlx(&g_vanishing)); /* relaxed: as above */
	return may;
}

int tr2_mask_may_be_handler(uint64_t mask)
{
	stack_t stack;
	int has_own_stack = !tr2_sys_sigaltstack(&stack) && !(stack.ss_flags & SS_DISABLE);

	if (has_own_stack && stack.ss_flags & SS_ONSTACK)
		return 1;   /* as tr2_mask_is_on_own_stack() */
	return look_at_handlers(mask, has_own_stack, LAST);
}

int tr2_mask_is_on_own_stack(void)
{
	stack_t stack;

	return !tr2_sys_sigaltstack(&stack) && stack.ss_flags & SS_ONSTACK;
}

void tr2_mask_note_handlers(void)
{
	int saved = errno;

	look_at_handlers(0, 0, LAST_CLASSIC);
	errno = saved;
}
