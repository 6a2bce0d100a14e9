/* SPDX-License-Identifier: MIT */
/* t2x_following.c - see t2x_following.h. */
#include "t2x_following.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "t2x_refuse.h"

static volatile sig_atomic_t g_stop;      /* set by a signal handler */

static void stop(int signal)
{
	(void)signal;
	g_stop = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* ---- what is followed --------------------------------------------------------------------------- */

static int is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* A format that prints an event when it comes. */
static void check_format(const struct t2x_settings *settings)
{
	const struct t2x_format *format = settings->format;

	if (!(format->traits & T2X_TRAIT_STREAM))
		t2x_refuse("cannot be printed while the program runs, --format", format->name);
	if (t2x_option(&settings->options, T2X_OPTION_last))
		t2x_refuse("--last needs an end", NULL);
}

const char *t2x_following_operand(struct t2x_settings *settings, char **operands, unsigned n, unsigned *taken)
{
	if (!n)
		t2x_refuse("needs a process id, a file, a directory or all", NULL);
	if (n > 1)
		t2x_refuse("takes one operand", operands[1]);
	if (is_number(operands[0]))
		t2x_value_pid("not a process id", operands[0]);
	check_format(settings);
	settings->no_pager = 1;
	*taken = 1;
	return operands[0];
}

static struct t2x_found_target find_target(const struct t2x_settings *settings)
{
	const struct t2x_instant *since = &settings->filter.since;
	struct t2x_found_target target = { .path = settings->followed, .user = settings->select.user };
	struct stat st;

	target.since_ns = since->kind == T2X_WHEN_UTC ? since->ns : 0;
	if (!strcmp(target.path, "all")) {
		target.kind = T2X_FOLLOW_ALL;
	} else if (is_number(target.path)) {
		target.kind = T2X_FOLLOW_PROCESS;
		target.pid = t2x_value_pid("not a process id", target.path);
	} else {
		target.kind = !stat(target.path, &st) && S_ISDIR(st.st_mode) ? T2X_FOLLOW_DIRECTORY : T2X_FOLLOW_FILE;
	}
	return target;
}

/* ---- while it runs ------------------------------------------------------------------------------ */

/* Before it waits, what there is goes out.  Nobody reads on who has closed the pipe. */
static int finish_round(void *owner, uint64_t now_ns)
{
	struct t2x_following *following = owner;

	(void)now_ns;
	return t2x_out_flush(following->out) != 0;
}

const char *t2x_following_begin(struct t2x_following *following, const struct t2x_settings *settings,
				struct t2x_report *report, struct t2x_out *out)
{
	const struct t2x_follow_settings what = {
		.target = find_target(settings), .report = report, .seconds_ns = settings->seconds_ns,
		.stop = &g_stop, .round = finish_round, .owner = following,
	};
	const char *why;

	*following = (struct t2x_following){ .out = out };
	following->follow = t2x_follow_new(&what, &why);
	if (!following->follow)
		return why;
	following->blocks = t2x_follow_blocks(following->follow);
	catch_signals();
	return NULL;
}

void t2x_following_end(struct t2x_following *following)
{
	if (following->follow)
		t2x_follow_report(following->follow);
	t2x_follow_free(following->follow);
}
