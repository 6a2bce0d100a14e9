/* SPDX-License-Identifier: MIT */
/* tr2_steer.c - see tr2_steer.h. */
#include "tr2_steer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "trace2.h"
#include "tr2_status.h"
#include "base/tr2_clock.h"
#include "base/tr2_memory.h"
#include "base/tr2_sandbox.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "ctl/tr2_page.h"
#include "drain/tr2_cause.h"
#include "drain/tr2_cycle.h"
#include "drain/tr2_dormant.h"
#include "drain/tr2_drain.h"
#include "drain/tr2_missing.h"
#include "drain/tr2_lock.h"
#include "drain/tr2_overwrite.h"
#include "drain/tr2_trigger.h"
#include "output/tr2_live.h"
#include "record/tr2_emit.h"
#include "record/tr2_flight.h"
#include "record/tr2_late.h"
#include "record/tr2_profiler.h"
#include "ring/tr2_pool.h"
#include "ring/tr2_thread.h"
#include "settings/tr2_env.h"
#include "settings/tr2_value.h"

enum {
	WAIT_MS = 500,            /* for a call of the program */
	LOOK_MS = 2,              /* and look so often */
	MAX_MS = 1000,            /* of one sleep, while profiles are to stop: the clock's rate is not exact yet */
	MAX_ARGS = 64,            /* of the command line that a late session records */
	COMMAND_BYTES = 2048,     /* of it */
};

/* The answer that is being made. */
struct reply {
	unsigned kind;            /* TLG_CTL_DONE, ...; 0: not yet */
	char text[TLG_CTL_ANSWER + 1];
};

/* Of the consumer thread. */
TR2_LARGE static struct steer {
	struct tr2_asked asked;   /* the command that waits for a call of the program */
	void (*look)(struct reply *reply);    /* has it happened?  NULL: none waits */
	uint64_t give_up;         /* raw clock: then it happens later */
	uint32_t stream;          /* of which `rotate` is the end */
	uint64_t stop_at;         /* raw clock: profiles stop.  0: never */
	char stop[512];           /* which, as for the profiler */
	struct reply reply;
} g_steer;

TR2_LARGE static struct {
	const char *version, *argv[MAX_ARGS + 1];
	char command[COMMAND_BYTES];
} g_program;

/* ---- answers ------------------------------------------------------------------------------------ */

static void done(struct reply *reply, const char *text)
{
	struct tr2_text to = tr2_text_begin(reply->text, sizeof(reply->text));

	tr2_text_add(&to, text);
	reply->kind = TLG_CTL_DONE;
}

static void refuse(struct reply *reply, const char *why, const char *more)
{
	struct tr2_text to = tr2_text_begin(reply->text, sizeof(reply->text));

	tr2_text_add(&to, why);
	tr2_text_add(&to, more);
	reply->kind = TLG_CTL_ERROR;
}

static void later(struct reply *reply)
{
	done(reply, "it happens with the program's next call");
	reply->kind = TLG_CTL_LATER;
}

/* The command waits for a call of the program. */
static void await(void (*look)(struct reply *reply))
{
	g_steer.look = look;
	g_steer.give_up = tr2_clock_raw() + tr2_clock_ticks(WAIT_MS * UINT64_C(1000000));
}

static void answer(const struct tr2_asked *asked, struct reply *reply)
{
	g_steer.look = NULL;
	tr2_page_answer(asked, reply->kind, reply->text);
	reply->kind = 0;
}

/* ---- commands ----------------------------------------------------------------------------------- */

static int has_session(void)
{
	return tr2_g_shm.head && !tr2_is_forked_child() && !tr2_drain_is_over();
}

static void report_file(struct reply *reply, const char *before)
{
	char path[sizeof(reply->text) - 64];
	struct tr2_text to = tr2_text_begin(reply->text, sizeof(reply->text));

	tr2_status_file(path, sizeof(path));
	tr2_text_add(&to, before);
	tr2_text_add(&to, *path ? " to " : "");
	tr2_text_add(&to, path);
	reply->kind = TLG_CTL_DONE;
}

static void do_status(struct reply *reply, const struct tr2_asked *asked)
{
	(void)asked;
	tr2_status_write(reply->text, sizeof(reply->text));
	reply->kind = TLG_CTL_DONE;
}

static void look_for_session(struct reply *reply)
{
	int error;
	enum tr2_late state = tr2_late_state(&error);

	if (state == TR2_LATE_BEGUN)
		report_file(reply, "on: it records");
	else if (state == TR2_LATE_FAILED)
		refuse(reply, "the session cannot begin: ", tr2_text_error(-error));
}

static void do_on(struct reply *reply, const struct tr2_asked *asked)
{
	const char *path = asked->nwords > 1 ? asked->words[1] : NULL;
	int error;

	if (tr2_is_enabled() && tr2_late_state(&error) != TR2_LATE_WANTED) {
		refuse(reply, "it is on already", "");
	} else if (tr2_late_has_paused()) {
		if (path)
			refuse(reply, "it goes on in its file: without a file, please", "");
		else if (tr2_late_resume())
			report_file(reply, "on: it records");
	} else if (!tr2_dormant_is() || tr2_drain_is_over()) {
		refuse(reply, "the trace has ended", "");
	} else if (!path || *path != '/') {
		refuse(reply, "it is dormant: on needs the path of a file or directory", "");
	} else {
		tr2_late_withdraw();
		error = tr2_late_want(path);
		if (error)
			refuse(reply, "the session cannot begin: ", tr2_text_error(-error));
		else if (asked->nwords > 2)
			later(reply);
		else
			await(look_for_session);
	}
}

static void do_flush(struct reply *reply, const struct tr2_asked *asked)
{
	(void)asked;
	if (tr2_is_flight_recorder())
		refuse(reply, "it is a flight recorder, which writes snapshots only", "");
	else if (tr2_drain_flush())
		done(reply, "flushed");
	else
		refuse(reply, "not all of it could be written", "");
}

static void do_off(struct reply *reply, const struct tr2_asked *asked)
{
	(void)asked;
	if (tr2_late_withdraw())
		done(reply, "off: nothing was recorded");
	else if (!tr2_late_pause())
		refuse(reply, "it is off already", "");
	else if (tr2_is_flight_recorder())
		done(reply, "off; a flight recorder writes snapshots only");
	else if (tr2_drain_flush())
		done(reply, "off, and flushed");
	else
		done(reply, "off; not all of it could be written");
}

static void look_for_rotation(struct reply *reply)
{
	if (tr2_status_stream() != g_steer.stream)
		report_file(reply, "rotated");
	else if (!tr2_drain_is_left(TR2_DRAIN_ROTATE))
		refuse(reply, "there is no next file: the old one goes on", "");
	else
		tr2_missing_await_call();
}

static void do_rotate(struct reply *reply, const struct tr2_asked *asked)
{
	(void)asked;
	if (tr2_is_flight_recorder()) {
		refuse(reply, "a flight recorder is not rotated from outside", "");
		return;
	}
	g_steer.stream = tr2_status_stream();
	tr2_drain_leave(TR2_DRAIN_ROTATE);
	tr2_missing_await_call();
	await(look_for_rotation);
}

/* It is no trigger's: neither max nor quiet keeps it back.  Return  0: the drain's lock cannot be had */
static int add_reason(const char *why)
{
	const uint64_t now = tr2_clock_raw();

	if (!tr2_lock_briefly())
		return 0;
	tr2_cause_add(TR2_CAUSE_AGAIN, now, now, why);
	tr2_lock_release();
	return 1;
}

static void do_snapshot(struct reply *reply, const struct tr2_asked *asked)
{
	if (!tr2_is_flight_recorder())
		refuse(reply, "it is no flight recorder: its policy is not overwrite", "");
	else if (asked->nwords > 1 && !add_reason(asked->words[1]))
		refuse(reply, "it is busy with another snapshot", "");
	else if (tr2_snapshot_request() && tr2_drain_flush())
		report_file(reply, "snapshot written");
	else
		refuse(reply, "the snapshot could not be written", "");
}

/* A live text output: what was recorded before it is muted is printed.  Return  as tr2_env_change() */
static int change_text(const char *assignment, size_t name, int is_dry, char *why, size_t size)
{
	const char *value = assignment + name + 1;
	const int is_off = !strcmp(value, "off");
	struct tr2_text text = tr2_text_begin(why, size);

	tr2_text_add(&text, assignment);
	if (!is_off && strcmp(value, "on") != 0) {
		tr2_text_add(&text, " is neither on nor off");
		return 0;
	}
	if (tr2_live_is_target(assignment, name) < 2) {
		tr2_text_add(&text, " needs an output that was there from the start");
		return 0;
	}
	if (!is_dry) {
		if (has_session())
			tr2_drain_flush();
		tr2_live_mute(assignment, name, is_off);
	}
	return 1;
}

static int change(const char *assignment, int is_dry, char *why, size_t size)
{
	const size_t name = strcspn(assignment, "=");

	return assignment[name] && tr2_live_is_target(assignment, name) ?
	       change_text(assignment, name, is_dry, why, size) : tr2_env_change(assignment, is_dry, why, size);
}

/* The words become one list again.  Without a word the answer only says what is in force. */
static void do_trigger(struct reply *reply, const struct tr2_asked *asked)
{
	char list[TLG_CTL_COMMAND + 1], why[256];
	struct tr2_text to = tr2_text_begin(list, sizeof(list));

	if (!tr2_is_flight_recorder()) {
		refuse(reply, "it is no flight recorder: its policy is not overwrite", "");
		return;
	}
	for (int i = 1; i < asked->nwords; i++) {
		tr2_text_add(&to, i > 1 ? " " : "");
		tr2_text_add(&to, asked->words[i]);
	}
	if (asked->nwords > 1 && !tr2_flight_change(list, why, sizeof(why))) {
		refuse(reply, why, "");
		return;
	}
	to = tr2_text_begin(reply->text, sizeof(reply->text));
	tr2_trigger_report(&to);
	reply->kind = TLG_CTL_DONE;
}

/* Either all of them are valid, or nothing is changed. */
static void do_set(struct reply *reply, const struct tr2_asked *asked)
{
	char why[256];

	for (int is_dry = 1; is_dry >= 0; is_dry--)
		for (int i = 1; i < asked->nwords; i++)
			if (!change(asked->words[i], is_dry, why, sizeof(why))) {
				refuse(reply, why, "");
				return;
			}
	if (asked->nwords < 2) {
		refuse(reply, "set needs KEY=VALUE", "");
		return;
	}
	if (has_session())
		tr2_pool_set_bound(tr2_g_settings.memory_bytes);
	done(reply, "set");
}

static void do_profile(struct reply *reply, const struct tr2_asked *asked)
{
	tr2_profiler_call *profiler = tr2_profiler();
	char why[256], stop[sizeof(g_steer.stop)];
	long long ms = 0;

	if (!profiler) {
		refuse(reply, "libtrace2-prof is not in this process, or was not set up at its start", "");
		return;
	}
	if (asked->nwords < 2 || (asked->nwords > 2 && (!tr2_value_time(asked->words[2], &ms) || ms <= 0))) {
		refuse(reply, "profile needs a list, such as cpu=100hz,heap=512k, or off", "");
		return;
	}
	if (!profiler(asked->words[1], stop, sizeof(stop), why, sizeof(why))) {
		refuse(reply, why, "");
		return;
	}
	memcpy(g_steer.stop, stop, sizeof(stop));   /* what an earlier command was to stop goes on now */
	g_steer.stop_at = ms ? tr2_clock_raw() + tr2_clock_ticks((uint64_t)ms * UINT64_C(1000000)) : 0;
	done(reply, "profiling changed");
}

/* needs_freedom: it makes system calls that a sandbox of the program may not allow. */
static const struct command {
	char name[12];
	int needs_session, needs_freedom;
	void (*run)(struct reply *reply, const struct tr2_asked *asked);
} commands[] = {
	{ "status", 0, 0, do_status }, { "on", 0, 1, do_on }, { "off", 0, 0, do_off }, { "flush", 1, 0, do_flush },
	{ "rotate", 1, 1, do_rotate }, { "snapshot", 1, 0, do_snapshot }, { "set", 0, 0, do_set },
	{ "profile", 0, 1, do_profile }, { "trigger", 1, 0, do_trigger },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void run(struct reply *reply, const struct tr2_asked *asked)
{
	unsigned i = 0;

	while (i < COMMANDS && strcmp(commands[i].name, asked->words[0]) != 0)
		i++;
	if (i == COMMANDS)
		refuse(reply, "this version of the library has no such command: ", asked->words[0]);
	else if (commands[i].needs_session && !has_session())
		refuse(reply, "nothing is recorded: it is off", "");
	else if (commands[i].needs_freedom && tr2_sandbox_has_begun())
		refuse(reply, "the program has locked itself in (seccomp), which may not allow this", "");
	else
		commands[i].run(reply, asked);
}

/* ---- serving ------------------------------------------------------------------------------------ */

static void look_again(void)
{
	struct reply *reply = &g_steer.reply;

	g_steer.look(reply);
	if (!reply->kind && tr2_clock_raw() > g_steer.give_up)
		later(reply);
	if (reply->kind)
		answer(&g_steer.asked, reply);
}

/* Return  ms until profiles stop; 0: never */
static unsigned stop_profiles(void)
{
	uint64_t now = tr2_clock_raw(), ms;
	char unused[2];

	if (!g_steer.stop_at)
		return 0;
	if (now < g_steer.stop_at) {
		ms = (g_steer.stop_at - now) / tr2_clock_ticks(1000000) + 1;
		return ms < MAX_MS ? (unsigned)ms : MAX_MS;
	}
	g_steer.stop_at = 0;
	tr2_profiler()(g_steer.stop, NULL, 0, unused, sizeof(unused));
	return 0;
}

static unsigned serve(void)
{
	unsigned again = stop_profiles();

	if (g_steer.look)
		look_again();
	if (!g_steer.look && tr2_page_take(&g_steer.asked)) {
		run(&g_steer.reply, &g_steer.asked);
		if (g_steer.reply.kind)
			answer(&g_steer.asked, &g_steer.reply);
	}
	return g_steer.look ? LOOK_MS : again;
}

/* ---- a late session ----------------------------------------------------------------------------- */

/* Also in a signal handler: it is the thread that has just opened the trace. */
static void read_command_line(void)
{
	int fd = tr2_sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = fd < 0 ? 0 : tr2_sys_read(fd, g_program.command, COMMAND_BYTES - 1);
	unsigned args = 0;

	if (fd >= 0)
		tr2_sys_close(fd);
	for (ssize_t at = 0; at < n && args < MAX_ARGS; at += (ssize_t)strlen(g_program.command + at) + 1)
		g_program.argv[args++] = g_program.command + at;
}

/* In the first thread that records, in front of its first event. */
static void introduce(void)
{
	read_command_line();
	tr2_emit_one_text(TLG_STYLE_version, NULL, 0, g_program.version);
	trace2_cmd_start_fl(NULL, 0, g_program.argv);
}

void tr2_steer_init(const char *version)
{
	g_program.version = version;
	tr2_late_set_introduction(introduce);
	tr2_dormant_set_server(serve);
}
