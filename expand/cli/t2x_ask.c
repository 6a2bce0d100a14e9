/* SPDX-License-Identifier: MIT */
/* t2x_ask.c - see t2x_ask.h. */
#include "t2x_ask.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "t2x_target.h"
#include "recover/t2x_alive.h"
#include "recover/t2x_ring_copy.h"
#include "recover/t2x_ring_files.h"

enum { WAIT_MS = 3000, PAUSE_MS = 5, MARGIN_NS = 1000000000 };

static const char silent[] = "did not answer within 3 s: its threads block the signal, it is stopped, or the signal is "
			     "the program's own";

struct asking {
	struct t2x_report *report;
	uint32_t pid;
	char name[32];                    /* of the process, for messages */
	struct t2x_target process;
	struct t2x_ring ring;
	struct tlg_ring_stacks before;    /* the question */
};

/* ---- the process -------------------------------------------------------------------------------- */

/* Its ring file, in the state of this moment.  Return  0: it has none, and ring is closed */
static int find_ring(struct asking *asking, const struct t2x_ring_files *files)
{
	for (unsigned i = 0; i < files->n; i++) {
		if (t2x_ring_open(&asking->ring, files->paths[i], 0))
			continue;
		if (asking->ring.head.pid == asking->pid && t2x_alive(&asking->ring) == T2X_ALIVE)
			return 1;
		t2x_ring_close(&asking->ring);
	}
	return 0;
}

/* Return  0, for a chain of steps that ends with the first that fails */
static int fail(struct asking *asking, const char *why)
{
	t2x_report_note(asking->report, asking->name, "%s", why);
	return 0;
}

/* Its ring file, if it has one.  Return  0: not */
static int open_process(struct asking *asking, uid_t user)
{
	struct t2x_ring_files files;
	int is_there = !t2x_ring_files_find(&files, asking->pid, user) && find_ring(asking, &files);

	t2x_ring_files_free(&files);
	return is_there;
}

/* ---- the question ------------------------------------------------------------------------------- */

/* A forked child that has recorded nothing yet: its answer is the first that it records, in a new ring file. */
static int send_first_question(struct asking *asking, uid_t user)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000 };
	const char *why;
	int signal = t2x_target_mark(&asking->process, &why);

	if (!why && !signal)
		why = "records nothing: it has no ring file in XDG_RUNTIME_DIR or /dev/shm";
	if (!why)
		why = t2x_target_ask(&asking->process, signal);
	if (why)
		return fail(asking, why);
	for (unsigned ms = 0; ms < WAIT_MS; ms += PAUSE_MS) {
		if (open_process(asking, user))
			return 1;
		nanosleep(&pause, NULL);
	}
	return fail(asking, silent);
}

static int send_question(struct asking *asking)
{
	const struct tlg_ring_stacks *before = &asking->before;
	const char *why;

	if (!t2x_ring_copy_stacks(asking->ring.fd, &asking->before) || !before->signal)
		return fail(asking, "cannot be asked: it has not been started with TRACE2_PROF=threads=SIGNAL, "
				    "or the signal is the program's own");
	why = t2x_target_ask(&asking->process, before->signal <= INT_MAX ? (int)before->signal : 0);
	return !why || fail(asking, why);
}

/* 1: all have answered whom it has asked since. */
static int is_answered(const struct asking *asking, struct tlg_ring_stacks *now)
{
	return !t2x_ring_copy_stacks(asking->ring.fd, now) ||
	       (now->question != asking->before.question &&
		now->answered - asking->before.answered >= now->asked - asking->before.asked);
}

/* A thread of libtrace2 or libtrace2-prof, from the line of its /proc/.../comm.  Nobody asks those. */
static int is_ours(const char *comm)
{
	static const char *const ours[] = { "trace2-drain\n", "trace2-wall\n", "trace2-look\n" };

	for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(comm, ours[i]))
			return 1;
	return 0;
}

/* The process's threads, but for our own. */
static unsigned count_threads(uint32_t pid)
{
	char path[64], name[32];
	unsigned n = 0;
	struct dirent *entry;
	FILE *file;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", (unsigned)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%u/task/%.16s/comm", (unsigned)pid, entry->d_name);
		file = *entry->d_name != '.' ? fopen(path, "re") : NULL;
		n += file && fgets(name, sizeof(name), file) && !is_ours(name);
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return n;
}

static int wait_for_answers(struct asking *asking)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000 };
	struct tlg_ring_stacks now = asking->before;
	unsigned threads, answered;

	for (unsigned ms = 0; !is_answered(asking, &now) && ms < WAIT_MS; ms += PAUSE_MS)
		nanosleep(&pause, NULL);
	answered = now.answered - asking->before.answered;
	if (!answered)
		return fail(asking, silent);
	threads = count_threads(asking->pid);
	if (threads > answered)
		t2x_report_note(asking->report, asking->name,
				"%u of %u threads did not answer: they block signals, or the kernel has them",
				threads - answered, threads);
	return 1;
}

/* Return  0: it cannot be asked, as is reported */
static int ask(struct asking *asking, struct t2x_settings *settings)
{
	int has_ring = open_process(asking, settings->select.user);
	uint64_t ns;

	if (!has_ring && !send_first_question(asking, settings->select.user))
		return 0;
	/* The trace's own clock, when it was last written; of the large file that it may be only the end is read. */
	ns = asking->ring.state.ns;
	if (!settings->filter.since.kind && ns > MARGIN_NS) {
		settings->filter.since = (struct t2x_instant){ .kind = T2X_WHEN_UTC, .ns = ns - MARGIN_NS };
		settings->filter.is_on = 1;
	}
	return (!has_ring || send_question(asking)) && wait_for_answers(asking);
}

int t2x_ask(struct t2x_settings *settings, struct t2x_report *report)
{
	struct asking asking = { .report = report, .pid = settings->live, .ring = { .fd = -1 } };
	const char *why = t2x_target_open(&asking.process, asking.pid);
	int is_answered;

	snprintf(asking.name, sizeof(asking.name), "process %u", (unsigned)asking.pid);
	if (why)
		return fail(&asking, why);
	/* Ring files are looked for where this user's are. */
	settings->select.user = asking.process.user;
	is_answered = ask(&asking, settings);
	t2x_ring_close(&asking.ring);
	t2x_target_close(&asking.process);
	return is_answered;
}
