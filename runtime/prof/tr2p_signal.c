/* SPDX-License-Identifier: MIT */
/* tr2p_signal.c - two dispositions of a signal: that of the kernel, and that of the program. */
#include "tr2p_signal.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tr2p_remote.h"
#include "tr2p_thread.h"
#include "base/tr2_atomic.h"

enum { WORDS = sizeof(struct sigaction) / sizeof(uintptr_t) };

static_assert(sizeof(struct sigaction) % sizeof(uintptr_t) == 0, "it is copied in words");

/*
 * A signal in front of which we are.  Any thread may change what the program wants of it, and handlers read that: of
 * two copies the one that nobody reads is filled in, and becomes the current one.  Readers wait for nobody.
 */
struct front {
	tr2p_handler *handler;            /* ours; NULL: the signal is the program's alone */
	uintptr_t words[2][WORDS];        /* what the program wants.  [P10] */
	uint32_t version;                 /* [P10] of the copies it is words[version & 1] that counts */
	pid_t writer;                     /* process of the thread that changes it; 0: none does */
};

static struct front g_fronts[_NSIG];      /* by number: only the pages of a few are ever touched */
static pid_t g_owner;                     /* the process whose memory this is; 0: no signal is ours yet */

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

/* ---- whose they are -------------------------------------------------------------------------------- */

/* The thread that forks is known as such in the copy that the child has of it. */
int tr2p_signal_is_in_vfork(void)
{
	pid_t owner = tr2_load_rlx(&g_owner); /* relaxed: a number by itself */

	return owner && owner != getpid() && !tr2p_g_thread.is_forking;
}

void tr2p_signal_before_fork(void)
{
	tr2p_g_thread.is_forking = 1;
}

void tr2p_signal_after_fork(void)
{
	if (tr2_load_rlx(&g_owner)) /* relaxed: as above */
		tr2_store_rlx(&g_owner, getpid()); /* relaxed: as above */
	tr2p_g_thread.is_forking = 0;
}

/* ---- what the program wants ------------------------------------------------------------------------ */

static struct sigaction get_programs(struct front *front)
{
	uintptr_t words[WORDS];
	struct sigaction action;
	uint32_t version;

	do {
		version = tr2_load_acq(&front->version); /* [P10] acquire: its copy.  Pairs with set_programs() */
		for (unsigned i = 0; i < WORDS; i++) /* [P10] acquire: a later copy's word shows its version below */
			words[i] = tr2_load_acq(&front->words[version & 1][i]);
	} while (tr2_load_rlx(&front->version) != version); /* relaxed: ordered by the loads above */
	memcpy(&action, words, sizeof(action));
	return action;
}

/* With the lock. */
static void set_programs(struct front *front, const struct sigaction *action)
{
	uint32_t version = tr2_load_rlx(&front->version) + 1; /* relaxed: only this thread changes it now */
	uintptr_t words[WORDS];

	memcpy(words, action, sizeof(words));
	for (unsigned i = 0; i < WORDS; i++) /* [P10] release: that the copy is not current any more */
		tr2_store_rel(&front->words[version & 1][i], words[i]);
	tr2_store_rel(&front->version, version); /* [P10] release: the copy.  Pairs with get_programs() */
}

/*
 * Signals are blocked meanwhile: a handler of this thread could wait for ever.  A writer of another process is none of
 * our threads: we were forked while it was here.
 */
static void lock_front(struct front *front, sigset_t *mask)
{
	const pid_t self = getpid();
	pid_t writer = 0;
	sigset_t all;

	tr2p_signal_fill(&all);
	pthread_sigmask(SIG_SETMASK, &all, mask);
	while (!tr2_cas_acq_rel(&front->writer, writer, self)) { /* [P10] acquire: the last change */
		writer = tr2_load_rlx(&front->writer); /* relaxed: ordered by the exchange */
		if (writer == self) {
			sched_yield();
			writer = 0;
		}
	}
}

static void unlock_front(struct front *front, const sigset_t *mask)
{
	tr2_store_rel(&front->writer, 0); /* [P10] release: the change.  Pairs with lock_front() */
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* ---- what the kernel has ---------------------------------------------------------------------------- */

/* NULL: nobody is in front of the program there. */
static struct front *find_front(int signo)
{
	struct front *front = signo > 0 && signo < _NSIG ? &g_fronts[signo] : NULL;

	/* relaxed: a pointer to code; whether the handler is there the kernel says */
	return front && tr2_load_rlx(&front->handler) ? front : NULL;
}

static int is_handler_of(const struct front *front, const struct sigaction *action)
{
	/* relaxed: as in find_front() */
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == tr2_load_rlx(&front->handler);
}

/*
 * 1: the kernel has the action that we have set, and not one that the program has set past us, as by sigset(3).
 * now  what the kernel has
 */
static int is_in_front(struct front *front, int signo, const struct sigaction *now)
{
	const struct sigaction programs = get_programs(front);

	return is_handler_of(front, now) || (signo != SIGPROF && is_ignored(now) && is_ignored(&programs));
}

static int tell_kernel(struct front *front, int signo, const struct sigaction *programs)
{
	struct sigaction ours = { .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK };
	int is_programs = signo != SIGPROF && !is_default(programs);

	if (is_programs && is_ignored(programs))
		return next_action(signo, programs, NULL) ? errno : 0;
	ours.sa_sigaction = tr2_load_rlx(&front->handler); /* relaxed: as in find_front() */
	if (is_programs) {
		/* The handler would be gone with a question.  tr2p_signal_pass_on() does what the flag says */
		ours.sa_flags = (programs->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
		ours.sa_mask = programs->sa_mask;
	} else {
		/* Other signals wait: a handler that leaves by longjmp() would leave ours, too, in the midst of it. */
		tr2p_signal_fill(&ours.sa_mask);
	}
	return next_action(signo, &ours, NULL) ? errno : 0;
}

int tr2p_signal_install(int signo, tr2p_handler *handler)
{
	struct front *front = &g_fronts[signo];
	struct sigaction now, programs;
	sigset_t mask;
	int error;

	find_next();
	tr2_store_rlx(&g_owner, getpid()); /* relaxed: as in tr2p_signal_is_in_vfork() */
	lock_front(front, &mask);
	error = next_action(signo, NULL, &now) ? errno : 0;
	if (!error) {
		tr2_store_rlx(&front->handler, handler); /* relaxed: as in find_front() */
		programs = is_in_front(front, signo, &now) ? get_programs(front) : now;
		if (!is_default(&programs) && (signo != SIGPROF || !is_ignored(&programs)))
			error = EBUSY;
	}
	if (!error) {
		set_programs(front, &programs);
		error = tell_kernel(front, signo, &programs);
	}
	unlock_front(front, &mask);
	return error;
}

int tr2p_signal_has_handler(int signo)
{
	struct front *front = find_front(signo);
	struct sigaction programs;

	if (!front)
		return 1;
	programs = get_programs(front);
	return !is_default(&programs) && !is_ignored(&programs);
}

int tr2p_signal_is_unwanted(int signo)
{
	struct front *front = find_front(signo);
	const struct sigaction programs = front ? get_programs(front) : (struct sigaction){ .sa_flags = SA_SIGINFO };

	return is_default(&programs);
}

int tr2p_signal_is_spare(int signo)
{
	struct front *front = find_front(signo);
	struct sigaction now;

	return front && !next_action(signo, NULL, &now) && is_handler_of(front, &now) && tr2p_signal_is_unwanted(signo);
}

/* What the child of vfork() has from its parent is what its parent wants. */
static int change_in_vfork(struct front *front, int signo, const struct sigaction *new, struct sigaction *old)
{
	struct sigaction now;

	if (next_action(signo, new, &now))
		return -1;
	if (old)
		*old = is_in_front(front, signo, &now) ? get_programs(front) : now;
	return 0;
}

/*
 * The program wants another action, or asks what it is.  new: NULL: it only asks
 * Return  0; -1: with errno
 */
static int change(struct front *front, int signo, const struct sigaction *new, struct sigaction *old)
{
	struct sigaction now;
	sigset_t mask;
	int error = 0;

	if (tr2p_signal_is_in_vfork())
		return change_in_vfork(front, signo, new, old);
	lock_front(front, &mask);
	if (next_action(signo, NULL, &now)) {
		error = errno;
	} else if (!is_in_front(front, signo, &now)) {
		error = new && next_action(signo, new, NULL) ? errno : 0;
	} else {
		now = get_programs(front);
		if (new) {
			set_programs(front, new);
			error = signo == SIGPROF ? 0 : tell_kernel(front, signo, new);
		}
	}
	unlock_front(front, &mask);
	if (error)
		errno = error;
	else if (old)
		*old = now;
	return error ? -1 : 0;
}

/* ---- what is not ours ------------------------------------------------------------------------------ */

/*
 * The default of each of these signals ends the process: when our handler returns, during which the signal is blocked.
 * Where the kernel has another handler, that one has called ours.
 */
static void do_default(const struct front *front, int signo)
{
	static const struct sigaction standard = { .sa_handler = SIG_DFL };
	struct sigaction now;

	if (next_action(signo, NULL, &now) || !is_handler_of(front, &now))
		return;
	next_action(signo, &standard, NULL);
	raise(signo);
}

void tr2p_signal_pass_on(int signo, siginfo_t *info, void *context)
{
	static const struct sigaction reset = { .sa_handler = SIG_DFL };
	struct front *front = &g_fronts[signo];
	const struct sigaction action = get_programs(front);

	if (is_ignored(&action))
		return;
	if (action.sa_flags & (int)SA_RESETHAND)
		change(front, signo, &reset, NULL);
	if (is_default(&action))
		do_default(front, signo);
	else if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(signo, info, context);
	else
		action.sa_handler(signo);
}

/* ---- in front of libc ------------------------------------------------------------------------------ */

#ifndef TR2_IS_SANITIZED
/*
 * 0: libtrace2 asks, within the profiler: it has to know of our handlers.  Around a fork the thread is there, too, with
 * all of its locks, while handlers run that the program has registered.
 */
static int is_program(void)
{
	return !tr2p_is_inside() || tr2p_g_thread.is_forking;
}

static struct front *find_noted(int signo)
{
	return is_program() ? find_front(signo) : NULL;
}

/*
 * The program has changed another signal, or asked for it, unless it failed.  What it is told is not a handler of ours.
 * old: what it is reported; or NULL
 * Return  error
 */
static int note(int signo, int is_change, struct sigaction *old, int error)
{
	if (error || !is_program())
		return error;
	if (is_change)
		tr2p_remote_lost(signo);
	if (old && tr2p_remote_is_ours(old))
		*old = (struct sigaction){ .sa_handler = SIG_DFL };
	return 0;
}

static int change_other(int signo, const struct sigaction *new, struct sigaction *old)
{
	return note(signo, new != NULL, old, next_action(signo, new, old));
}

__attribute__((visibility("default"))) int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
	struct front *front;

	find_next();
	front = find_noted(signo);
	return front ? change(front, signo, action, old) : change_other(signo, action, old);
}

__attribute__((visibility("default"))) old_handler signal(int signo, old_handler handler)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
	struct front *front;

	find_next();
	front = handler != SIG_ERR ? find_noted(signo) : NULL;
	if (front) {
		sigemptyset(&action.sa_mask);
		sigaddset(&action.sa_mask, signo);
		return change(front, signo, &action, &old) ? SIG_ERR : old.sa_handler;
	}
	/* signal() does not say with which flags it was set.  All of ours have this one. */
	old = (struct sigaction){ .sa_handler = next_signal(signo, handler), .sa_flags = SA_SIGINFO };
	note(signo, 1, &old, old.sa_handler == SIG_ERR);
	return old.sa_handler;
}
#endif
