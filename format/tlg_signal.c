/* SPDX-License-Identifier: MIT */
/* tlg_signal.c - see tlg_signal.h. */
#include "tlg_signal.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

enum { LAST_STANDARD = 31 };

/* Only glibc has sigabbrev_np().  An empty name: this machine has no signal of that number. */
static const char names[LAST_STANDARD + 1][sizeof("VTALRM")] = {
	[SIGHUP] = "HUP", [SIGINT] = "INT", [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
	[SIGTRAP] = "TRAP", [SIGABRT] = "ABRT", [SIGBUS] = "BUS", [SIGFPE] = "FPE", [SIGKILL] = "KILL",
	[SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
	[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM", [SIGCHLD] = "CHLD",
	[SIGCONT] = "CONT", [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP", [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",
	[SIGURG] = "URG", [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF",
	[SIGWINCH] = "WINCH", [SIGPOLL] = "POLL", [SIGPWR] = "PWR", [SIGSYS] = "SYS",
#ifdef SIGSTKFLT
	[SIGSTKFLT] = "STKFLT",
#endif
};

static int is_real_time(int signo)
{
	return signo >= SIGRTMIN && signo <= SIGRTMAX;
}

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Return  what follows the word at the beginning of the text; NULL: the text does not begin with it */
static const char *skip_word(const char *text, const char *word)
{
	for (; *word; text++, word++)
		if (upper(*text) != *word)
			return NULL;
	return text;
}

/* Return  the whole text as a number of one or two decimal digits; -1: it is not one */
static int parse_number(const char *text)
{
	int number = 0;
	size_t n = 0;

	for (; text[n] >= '0' && text[n] <= '9' && n < 3; n++)
		number = number * 10 + (text[n] - '0');
	return n && n < 3 && !text[n] ? number : -1;
}

/* Parse the offset of a real-time signal: "", "+3", "-3". */
static int parse_offset(const char *rest, int from, char sign)
{
	int offset = *rest ? parse_number(rest + 1) : 0, signo;

	if ((*rest && *rest != sign) || offset < 0)
		return 0;
	signo = sign == '+' ? from + offset : from - offset;
	return is_real_time(signo) ? signo : 0;
}

int tlg_signal_parse(const char *name)
{
	int number = parse_number(name);
	const char *rest;

	if (number >= 0)
		return number <= LAST_STANDARD || is_real_time(number) ? number : 0;
	rest = skip_word(name, "SIG");
	if (rest)
		name = rest;
	rest = skip_word(name, "RTMIN");
	if (rest)
		return parse_offset(rest, SIGRTMIN, '+');
	rest = skip_word(name, "RTMAX");
	if (rest)
		return parse_offset(rest, SIGRTMAX, '-');
	for (int signo = 1; signo <= LAST_STANDARD; signo++) {
		rest = *names[signo] ? skip_word(name, names[signo]) : NULL;
		if (rest && !*rest)
			return signo;
	}
	return 0;
}

void tlg_signal_name(int signo, char name[TLG_SIGNAL_NAME])
{
	const char *known = signo > 0 && signo <= LAST_STANDARD && *names[signo] ? names[signo] : "?";
	int offset = is_real_time(signo) ? signo - SIGRTMIN : 0;
	size_t n = 3;

	memcpy(name, "SIG", n);
	for (known = is_real_time(signo) ? "RTMIN" : known; *known && n < TLG_SIGNAL_NAME - 4; known++)
		name[n++] = *known;
	if (offset) {
		name[n++] = '+';
		if (offset >= 10)
			name[n++] = (char)('0' + offset / 10);
		name[n++] = (char)('0' + offset % 10);
	}
	name[n] = '\0';
}

int tlg_signal_may_ask(int signo)
{
	static const int allowed[] = { SIGUSR1, SIGUSR2, SIGQUIT, SIGURG, SIGIO };

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (signo == allowed[i])
			return 1;
	return is_real_time(signo);
}
