/* SPDX-License-Identifier: MIT */
/* tr2_signal.c - handlers that record and step aside. */
#include "tr2_signal.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tr2_emit.h"
#include "tr2_flight.h"
#include "tlg_signal.h"
#include "trace2.h"
#include "base/tr2_mask.h"
#include "base/tr2_sys.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_wake.h"
#include "drain/tr2_young.h"
#include "output/tr2_sink.h"
#include "settings/tr2_env.h"
#include "settings/tr2_signal_hook.h"

/*
 * Live text outputs take more of the stack than a handler may have: the drain's thread writes them, if there is one.
 * Without it they are written here if the handler has the stack of the code that it interrupted.  Our own SIGPIPE comes
 * out of a write of the program's.
 */
static void finish(int is_from_write)
{
	if (!tr2_sink_has_texts() || is_from_write) {
		tr2_drain_finish(TLG_END_SIGNAL);
	} else if (tr2_wake_is_running()) {
		tr2_wake_finish(TLG_END_SIGNAL);
	} else if (!tr2_mask_is_on_own_stack()) {
		tr2_drain_finish(TLG_END_SIGNAL);
	} else {
		tr2_drain_finish_without_texts(TLG_END_SIGNAL);
	}
}

/* Send the signal once more, as it came, so that a core dump has the address of a fault. */
static void send_again(int signo, siginfo_t *info)
{
	if (syscall(SYS_rt_tgsigqueueinfo, tr2_sys_getpid(), tr2_sys_gettid(), signo, info))
		raise(signo);
}

/*
 * The default action comes back first: it ends the process as soon as this handler returns, for the signal that is
 * sent again is blocked until then.
 */
static void record_signal(int signo, siginfo_t *info, void *context)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	int saved = errno;

	(void)context;
	sigaction(signo, &action, NULL);
	/* SIGSYS alone comes in the midst of the library's slow paths, see tr2_mask.h: they are not entered again */
	if (tr2_is_enabled() && !tr2_mask_is_inside()) {
		tr2_emit_one_int(TLG_STYLE_signal, NULL, 0, signo, 0);
		tr2_signal_hook_call(signo, tr2_flight_trigger);
		finish(signo == SIGPIPE && info->si_pid == tr2_sys_getpid());
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

int tr2_signal_catch(int signo)
{
	struct sigaction action = { .sa_sigaction = record_signal, .sa_flags = SA_ONSTACK | SA_SIGINFO }, old;

	if (!is_fatal(signo) || sigaction(signo, NULL, &old) || old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL)
		return -1;
	if (sigaction(signo, &action, NULL))
		return -1;
	if (signo != SIGPIPE)   /* few processes end by that one while they do not write */
		tr2_young_note_signal();
	return 0;
}

static void catch_word(const char *word)
{
	int signo = tlg_signal_parse(word);

	if (is_fatal(signo))
		tr2_signal_catch(signo);
	else
		tr2_env_pass_over("SIGNALS", word);
}

static int is_caught(int signo)
{
	struct sigaction action;

	return !sigaction(signo, NULL, &action) && action.sa_flags & SA_SIGINFO && action.sa_sigaction == record_signal;
}

/* Code that a handler lets go on after a fault only has the next one; abort() ends the program in any case. */
static int is_fault(int signo)
{
	return signo == SIGSEGV || signo == SIGBUS || signo == SIGFPE || signo == SIGILL || signo == SIGABRT;
}

/* What is taken asks for a snapshot, too, before it ends the program. */
static void hook_word(const char *word)
{
	int signo = tlg_signal_parse(word);

	if (is_fault(signo))
		tr2_signal_catch(signo);
	if (signo > 0 && !is_caught(signo) && tr2_signal_hook_signal(signo, tr2_flight_trigger))
		signo = 0;   /* as KILL */
	if (signo <= 0)
		tr2_env_pass_over("RAW_SNAPSHOT", word);
}

void tr2_signal_init(void)
{
	tr2_signal_catch(SIGPIPE);
	tr2_signal_hook_each_word(tr2_env_get("SIGNALS"), catch_word);
	if (tr2_is_flight_recorder())
		tr2_flight_each_other(hook_word);
}
