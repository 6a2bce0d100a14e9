/* SPDX-License-Identifier: MIT */
/* t2x_following.c - see t2x_following.h. */
#include "t2x_following.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

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

static struct t2x_found_target find_target(const struct t2x_settings *settings)
{
	const struct t2x_instant *since = &settings->filter.since;
	struct t2x_found_target target = { .path = settings->followed, .user = settings->select.user };
	struct stat st;

	target.since_ns = since->kind == T2X_WHEN_UTC ? since->ns : 0;
	if (!strcmp(target.path, "all")) {
		target.kind = T2X_FOLLOW_ALL;
	} else if (settings->followed_pid) {
		target.kind = T2X_FOLLOW_PROCESS;
		target.pid = settings->followed_pid;
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
	t2x_follow_free(following->follow);
}
