/* SPDX-License-Identifier: MIT */
/* tr2p_signal.c - two dispositions of SIGPROF: that of the kernel, and that of the program. */
#include "tr2p_signal.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tr2p_outside.h"
#include "tr2p_thread.h"
#include "base/tr2_atomic.h"

static int is_installed;

enum { WORDS = sizeof(struct sigaction) / sizeof(uintptr_t) };

static_assert(sizeof(struct sigaction) % sizeof(uintptr_t) == 0, "it is copied in words");

/*
 * What the program wants of SIGPROF, once ours is installed.  Any thread may change it, and handlers read it: of two
 * copies the one that nobody reads is filled in, and becomes the current one.  Readers wait for nobody.
 */
static struct {
	uintptr_t words[2][WORDS];        /* [P10] */
	uint32_t version;                 /* [P10] of the copies it is words[version & 1] that counts */
	pid_t writer;                     /* process of the thread that changes it; 0: none does */
} g_programs;

typedef int action_function(int, const struct sigaction *, struct sigaction *);
typedef void (*old_handler)(int);
typedef old_handler signal_function(int, old_handler);

#ifdef TR2_IS_SANITIZED
static action_function *const next_action = sigaction;

static void find_next(void)
{
}
#else
static action_function *next_action;
static signal_function *next_signal;

/* When the library is loaded, as a rule: see tr2p_create.c. */
__attribute__((constructor)) static void find_next(void)
{
	int saved = errno;

	if (next_action)
		return;
	tr2p_enter();
	*(void **)(void *)&next_signal = dlsym(RTLD_NEXT, "signal");
	*(void **)(void *)&next_action = dlsym(RTLD_NEXT, "sigaction");
	tr2p_leave();
	errno = saved;
}
#endif

static int is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

static int is_ignored(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN;
}

/* ---- the program's --------------------------------------------------------------------------------- */

static struct sigaction get_programs(void)
{
	uintptr_t words[WORDS];
	struct sigaction action;
	uint32_t version;

	do {
		version = tr2_load_acq(&g_programs.version); /* [P10] acquire: its copy.  Pairs with set_programs() */
		for (unsigned i = 0; i < WORDS; i++) /* [P10] acquire: a later copy's word shows its version below */
			words[i] = tr2_load_acq(&g_programs.words[version & 1][i]);
	} while (tr2_load_rlx(&g_programs.version) != version); /* relaxed: ordered by the loads above */
	memcpy(&action, words, sizeof(action));
	return action;
}

/* The thread of another process is none of ours: we were forked while it was here. */
static void lock_programs(void)
{
	const pid_t self = getpid();
	pid_t writer = 0;

	while (!tr2_cas_acq_rel(&g_programs.writer, writer, self)) { /* [P10] acquire: the last change */
		writer = tr2_load_rlx(&g_programs.writer); /* relaxed: ordered by the exchange */
		if (writer == self) {
			sched_yield();
			writer = 0;
		}
	}
}

/* Return  what it was.  Signals are blocked meanwhile: a handler of this thread could wait for ever. */
static struct sigaction set_programs(const struct sigaction *action)
{
	uintptr_t words[WORDS];
	struct sigaction before;
	sigset_t all, mask;
	uint32_t version;

	memcpy(words, action, sizeof(words));
	tr2p_signal_fill(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	lock_programs();
	before = get_programs();
	version = tr2_load_rlx(&g_programs.version) + 1; /* relaxed: only this thread changes it now */
	for (unsigned i = 0; i < WORDS; i++) /* [P10] release: that the copy is not current any more */
		tr2_store_rel(&g_programs.words[version & 1][i], words[i]);
	tr2_store_rel(&g_programs.version, version); /* [P10] release: the copy.  Pairs with get_programs() */
	tr2_store_rel(&g_programs.writer, 0); /* [P10] release: the change.  Pairs with lock_programs() */
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return before;
}

/* ---- ours ------------------------------------------------------------------------------------------ */

int tr2p_signal_install(tr2p_handler *handler)
{
	struct sigaction ours = { .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK }, now;
	int is_ours;

	find_next();
	if (next_action(SIGPROF, NULL, &now))
		return errno;
	is_ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler;
	if (is_ours)
		now = get_programs();
	if (!is_default(&now) && !is_ignored(&now))
		return EBUSY;
	if (!is_ours)
		set_programs(&now);
	ours.sa_sigaction = handler;
	/* Other signals wait: a handler that leaves by longjmp() would leave ours, too, in the midst of it. */
	tr2p_signal_fill(&ours.sa_mask);
	if (next_action(SIGPROF, &ours, NULL))
		return errno;
	tr2_store_rlx(&is_installed, 1); /* relaxed: a flag, which orders nothing */
	return 0;
}

void tr2p_signal_pass_on(int signo, siginfo_t *info, void *context)
{
	static const struct sigaction reset = { .sa_handler = SIG_DFL };
	const struct sigaction action = get_programs();

	if (is_ignored(&action))
		return;
	if (action.sa_flags & (int)SA_RESETHAND)
		set_programs(&reset);
	if (is_default(&action)) {
		next_action(SIGPROF, &action, NULL);
		raise(SIGPROF);   /* when this handler returns */
	} else if (action.sa_flags & SA_SIGINFO) {
		action.sa_sigaction(signo, info, context);
	} else {
		action.sa_handler(signo);
	}
}

/* ---- in front of libc ------------------------------------------------------------------------------ */

#ifndef TR2_IS_SANITIZED
/* Within the profiler libtrace2 asks, which has to know of our handler. */
static int is_noted(int signo)
{
	return signo == SIGPROF && !tr2p_is_inside() && tr2_load_rlx(&is_installed); /* relaxed: as above */
}

/* The program has changed another signal, unless it failed.  Return  error */
static int note(int signo, int is_change, int error)
{
	if (is_change && !error && !tr2p_is_inside())
		tr2p_outside_lost(signo);
	return error;
}

__attribute__((visibility("default"))) int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction before;

	find_next();
	if (!is_noted(signo))
		return note(signo, action != NULL, next_action(signo, action, old));
	before = action ? set_programs(action) : get_programs();
	if (old)
		*old = before;
	return 0;
}

__attribute__((visibility("default"))) old_handler signal(int signo, old_handler handler)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	find_next();
	if (!is_noted(signo)) {
		const old_handler was = next_signal(signo, handler);
		note(signo, was != SIG_ERR, 0);
		return was;
	}
	return set_programs(&action).sa_handler;
}
#endif
