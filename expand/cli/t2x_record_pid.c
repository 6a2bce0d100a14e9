/* SPDX-License-Identifier: MIT */
/* t2x_record_pid.c - see t2x_record_pid.h. */
#include "t2x_record_pid.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_attach.h"
#include "t2x_collect.h"
#include "t2x_record_place.h"
#include "t2x_refuse.h"
#include "t2x_status.h"
#include "t2x_window.h"
#include "base/t2x_report.h"
#include "live/t2x_ctl_find.h"

struct attached {
	const struct t2x_record_pid *wanted;
	struct t2x_window window;
	char path[PATH_MAX];              /* of the trace */
	int is_new;                       /* the process begins it */
};

static volatile sig_atomic_t g_stop;      /* set by a signal handler */

static void stop(int signal)
{
	(void)signal;
	g_stop = 1;
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = stop }, before;

	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		/* nohup(1) has SIGHUP ignored; a shell SIGINT, in background jobs, and kill(1) may still send that */
		if (signals[i] != SIGHUP || (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN))
			sigaction(signals[i], &action, NULL);
}

static void report(const struct attached *attached, const char *what, const char *more)
{
	fprintf(stderr, "%s: process %s: %s%s\n", t2x_report_name(), attached->wanted->pid, what, more);
}

/* ---- the process -------------------------------------------------------------------------------- */

/* Nothing of /proc tells a name: then it is the number. */
static void find_name(const char *pid, char *name, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "re");
	if (!file || !fgets(name, (int)size, file) || *name == '\n')
		snprintf(name, size, "%s", pid);
	name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* When it began: what it may have left in a ring file is younger.  By CLOCK_BOOTTIME in ns; 0: nobody knows */
static uint64_t find_begin(const char *pid)
{
	char path[64], line[1024] = "";
	unsigned long long ticks = 0;
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "re");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	end = strrchr(line, ')');   /* the name in front of it may be anything */
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			   &ticks) != 1)
		return 0;
	return ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* ---- recording ---------------------------------------------------------------------------------- */

/* Where the trace goes: to a place of ours, or on in its own file.  Return  0: the user has said otherwise */
static int find_path(struct attached *attached)
{
	const struct t2x_record_pid *wanted = attached->wanted;
	char name[64];

	if (attached->is_new) {
		find_name(wanted->pid, name, sizeof(name));
		return !t2x_record_place(attached->path, wanted->output, name);
	}
	if (wanted->output) {
		report(attached, "it goes on in the file that it has, so without -o, please: ", attached->path);
		return 0;
	}
	report(attached, "it goes on in the file that it has: ", attached->path);
	return 1;
}

static int prepare(void *data)
{
	struct attached *attached = data;
	struct t2x_switch *these = &attached->window.these;
	const char *why = t2x_switch_look(these, &attached->is_new, attached->path, sizeof(attached->path));

	if (!why && !find_path(attached))
		return 0;
	these->path = attached->path;
	if (!why)
		why = t2x_switch_root(these);
	if (why)
		report(attached, why, "");
	return !why;
}

/* What processes that have ended have left, and what they have said of code that they made. */
static void collect(struct attached *attached, uint64_t begun)
{
	struct stat st;
	struct t2x_collecting collecting = { .output = attached->path, .pid = attached->window.these.root,
					     .begun = begun };

	collecting.is_directory = !stat(attached->path, &st) && S_ISDIR(st.st_mode);
	t2x_collect(&collecting);
	t2x_attach(&collecting);
}

int t2x_record_pid(const struct t2x_record_pid *wanted)
{
	struct attached attached = { .wanted = wanted, .window = {
		.delay_ms = wanted->delay_ms, .seconds_ms = wanted->seconds_ms, .stop = &g_stop,
		.these = { .root = (pid_t)t2x_ctl_pid(wanted->pid), .profiles = wanted->profiles,
			   .may_lack_profiler = wanted->is_implied } } };
	const uint64_t begun = find_begin(wanted->pid);
	struct stat st;
	int process, error;

	if (!attached.window.these.root)
		t2x_refuse("--pid needs the id of a process, not", wanted->pid);
	process = t2x_window_open(attached.window.these.root);
	if (process < 0) {
		report(&attached, errno == ESRCH ? "there is no such process" : strerror(errno), "");
		return T2X_EXIT_UNUSABLE;
	}
	catch_signals();
	error = t2x_window_attach(&attached.window, process, prepare, &attached);
	close(process);
	if (error || !attached.path[0])
		return T2X_EXIT_UNUSABLE;
	if (attached.is_new)
		collect(&attached, begun);
	if (attached.is_new && stat(attached.path, &st)) {
		report(&attached, "nothing was recorded: it has made no call, and no sample came", "");
		return T2X_EXIT_UNUSABLE;
	}
	return EXIT_SUCCESS;
}
