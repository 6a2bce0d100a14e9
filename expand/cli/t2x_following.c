/* SPDX-License-Identifier: MIT */
/* t2x_following.c - see t2x_following.h. */
#include "t2x_following.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/t2x_seek.h"

enum { WHOLE_BYTES = 4 << 20, ROUND_BYTES = 256 << 10 };

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
	struct t2x_found_target target = { .path = settings->watched.what, .user = settings->select.user };
	struct stat st;

	target.since_ns = since->kind == T2X_WHEN_UTC ? since->ns : 0;
	if (settings->watched.pid) {
		target.kind = T2X_FOLLOW_PROCESS;
		target.pid = settings->watched.pid;
	} else if (!strcmp(target.path, "all")) {
		target.kind = T2X_FOLLOW_ALL;
	} else {
		target.kind = !stat(target.path, &st) && S_ISDIR(st.st_mode) ? T2X_FOLLOW_DIRECTORY : T2X_FOLLOW_FILE;
	}
	return target;
}

/* ---- an instant --------------------------------------------------------------------------------- */

/* How far east of UTC a process was, if the block says it. */
static int32_t find_zone(const struct t2x_block *block, int32_t fallback)
{
	for (unsigned i = 0; i < block->count; i++)
		if (tlg_event_type(&block->events[i]) == TLG_TIMETYPE)
			return block->events[i].u.timetype.utcoff;
	return fallback;
}

/* When the first process of the file began, and how far east of UTC it was.  Return  0: it has none */
static uint64_t find_start(const char *path, int32_t *utcoff)
{
	struct t2x_report silent = { .to = NULL };
	struct t2x_pace pace = { .ns = 0 };
	struct t2x_block block;
	struct t2x_tail tail;
	int is_open = !t2x_tail_open(&tail, path, 0), goes_on;

	tail.round_bytes = WHOLE_BYTES;   /* a large file has far more frames than are of interest here */
	goes_on = is_open && t2x_tail_begin(&tail, &silent);
	*utcoff = 0;
	while (goes_on && !pace.start_ns && t2x_tail_next(&tail, &block)) {
		t2x_pace_follow(&pace, &block);
		*utcoff = find_zone(&block, *utcoff);
	}
	if (is_open)
		t2x_tail_close(&tail);
	return pace.start_ns;
}

/* A file that is not large is read whole: so the command is known, and errors long ago. */
static uint64_t find_since(const char *path, uint64_t at_ns)
{
	struct stat st;

	if (stat(path, &st) || st.st_size <= WHOLE_BYTES)
		return 0;
	return at_ns ? at_ns : T2X_SEEK_END;
}

/* Of what is read, for t2 state.  Return  NULL, or why not, in words */
static const char *prepare_state(struct t2x_following *following, struct t2x_settings *settings,
				 struct t2x_follow_settings *what)
{
	const char *last = t2x_option(&settings->options, T2X_OPTION_last);
	uint64_t start_ns, at_ns = 0;
	int32_t utcoff;

	what->is_once = what->target.takes_dead = 1;
	following->state.last = last ? t2x_value_number("", last, T2X_STATE_MAX_LAST) : T2X_STATE_LAST;
	if (what->target.kind != T2X_FOLLOW_FILE && what->target.kind != T2X_FOLLOW_PROCESS)
		return "is neither a process id nor a file";
	if (settings->at.kind) {
		start_ns = find_start(settings->watched.what, &utcoff);
		if (!start_ns && settings->at.kind != T2X_WHEN_UTC)
			return "has no beginning from which --at could count";
		at_ns = t2x_when_resolve(&settings->at, start_ns, utcoff, 0);
		settings->filter.until = (struct t2x_instant){ T2X_WHEN_UTC, at_ns + 1 };
		settings->filter.is_on = 1;
	}
	/* Only a little is read behind the instant. */
	what->target.round_bytes = at_ns ? ROUND_BYTES : 0;
	what->until_ns = following->state.at_ns = at_ns;
	if (!what->target.since_ns)
		what->target.since_ns = find_since(settings->watched.what, at_ns);
	settings->filter.writer = &t2x_writer_state;
	t2x_state_set(&following->state);
	return NULL;
}

/* A table is drawn of what comes from now on: of files only what is open now is read. */
static void prepare_top(struct t2x_following *following, struct t2x_settings *settings,
			struct t2x_follow_settings *what)
{
	const int fd = STDOUT_FILENO;

	following->is_top = 1;
	following->top = (struct t2x_top_settings){
		.is_terminal = !settings->output && isatty(fd), .fd = fd, .what = settings->watched.what,
	};
	following->top.is_once = settings->is_once || !following->top.is_terminal;
	what->target.since_ns = T2X_SEEK_END;
	settings->filter.writer = &t2x_writer_top;
	t2x_top_set(&following->top);
}

/* ---- while it runs ------------------------------------------------------------------------------ */

/* Before it waits, what there is goes out.  Nobody reads on who has closed the pipe. */
static int finish_round(void *owner, uint64_t now_ns)
{
	struct t2x_following *following = owner;

	if (following->is_top && t2x_top_round(now_ns))
		return 1;
	return t2x_out_flush(following->out) != 0;
}

const char *t2x_following_begin(struct t2x_following *following, struct t2x_settings *settings,
				struct t2x_report *report, struct t2x_out *out)
{
	struct t2x_follow_settings what = {
		.target = find_target(settings), .report = report, .seconds_ns = settings->seconds_ns,
		.stop = &g_stop, .round = finish_round, .owner = following,
	};
	const char *why = NULL;

	*following = (struct t2x_following){ .out = out };
	if (settings->watched.is_state)
		why = prepare_state(following, settings, &what);
	if (settings->watched.is_top)
		prepare_top(following, settings, &what);
	if (!why)
		following->follow = t2x_follow_new(&what, &why);
	if (!following->follow)
		return why;
	following->state.is_alive = t2x_follow_is_alive;
	following->state.owner = following->follow;
	following->blocks = t2x_follow_blocks(following->follow);
	catch_signals();
	return NULL;
}

void t2x_following_end(struct t2x_following *following)
{
	t2x_follow_free(following->follow);
}
