/* SPDX-License-Identifier: MIT */
/* t2x_recover.c - see t2x_recover.h. */
#include "t2x_recover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_select.h"
#include "recover/t2x_alive.h"

enum { SPARE_FILES = 16 };

/* ---- opening ------------------------------------------------------------------------------------ */

/* Why what the process wrote cannot be had; NULL: it can. */
static const char *find_file(struct t2x_recovered *item)
{
	const struct tlg_ring_state *state = &item->ring.state;
	struct stat st;

	if (!state->path[0])
		return "its stream did not go to a file whose name is known";
	if (stat(state->path, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode) || st.st_dev != state->device || st.st_ino != state->inode)
		return "is not the file any more that the process wrote";
	item->device = st.st_dev;
	item->inode = st.st_ino;
	return st.st_size ? NULL : "empty";
}

/* Whether a ring file is for this run.  Return  0: it is not; why says why */
static int check(const struct t2x_ring *ring, const struct t2x_settings *settings, char *why, size_t room)
{
	enum t2x_alive alive = t2x_alive(ring);
	unsigned pid = ring->head.pid;

	if (settings->live && (alive == T2X_DEAD || pid != settings->live))
		snprintf(why, room, "process %u is dead: --recover reads it", pid);
	else if (settings->live || alive == T2X_DEAD)
		return 1;
	else
		snprintf(why, room, "process %u %s: --live=%u reads it", pid,
			 alive == T2X_ALIVE ? "is running" : "may be running, in another PID namespace", pid);
	return 0;
}

/* It was named twice, or is one of --recover-all, too. */
static int is_there(const struct t2x_recover *recover, const struct t2x_ring *ring)
{
	for (unsigned i = 0; i < recover->n; i++)
		if (recover->items[i].ring.device == ring->device && recover->items[i].ring.inode == ring->inode)
			return 1;
	return 0;
}

/* What was asked for by name or id is an error if it cannot be read; of what was found the first ones are reported. */
static void refuse(struct t2x_recover *recover, const char *path, const char *why, int is_named)
{
	if (is_named)
		recover->failed++;
	else if (recover->refused++ >= T2X_REPORT_LINES)
		return;
	t2x_report_note(recover->report, path, "%s%s", is_named ? "" : "left alone, ", why);
}

/* Its trace has its end: there is nothing to add, and what has become of the .tlg file since does not matter. */
static void leave_over(struct t2x_recover *recover, const struct t2x_ring *ring, int is_named)
{
	if (is_named)
		t2x_report_note(recover->report, ring->path,
				"the trace of process %u is complete: nothing is left here", ring->head.pid);
	if (recover->settings->delete_rings && !recover->settings->live)
		t2x_ring_remove(ring);
}

/* Return  1: the item is to be used; 0: not; -ENOMEM */
static int choose(struct t2x_recover *recover, struct t2x_recovered *item, int is_named)
{
	const struct t2x_settings *settings = recover->settings;
	char why[128];

	if (is_there(recover, &item->ring) ||
	    (!is_named && !t2x_select_ring(&settings->select, &item->ring)))
		return 0;
	if (!check(&item->ring, settings, why, sizeof(why))) {
		refuse(recover, item->ring.path, why, is_named);
		return 0;
	}
	if (item->ring.head.is_over) {
		leave_over(recover, &item->ring, is_named);
		return 0;
	}
	item->why = find_file(item);
	if (is_named || !settings->select.program)
		return 1;
	return t2x_select_program(&settings->select, &item->ring, !item->why);
}

/* Too many files are open already, if there is to be room for the .tlg files and the output. */
static int is_full(void)
{
	struct rlimit limit;
	int fd = dup(STDERR_FILENO);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? errno == EMFILE || errno == ENFILE
		      : !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd + SPARE_FILES > limit.rlim_cur;
}

/* Of a file that several processes wrote: a file that was named, and all that a ring file goes with, counts whole. */
static int is_alone(const struct t2x_settings *settings)
{
	return settings->is_directory || (settings->selects && !settings->npaths && !settings->nrings);
}

/* Return  1: it is the last item; 0: it is not used; -ENOMEM */
static int open_ring(struct t2x_recover *recover, const char *path, int is_named)
{
	struct t2x_recovered *item = &recover->items[recover->n];
	const char *why;
	int chosen;

	if (is_full()) {
		recover->left_out++;
		return 0;
	}
	why = t2x_ring_open(&item->ring, path, recover->settings->live != 0);
	if (why) {
		refuse(recover, path, why, is_named);
		return 0;
	}
	chosen = choose(recover, item, is_named);
	if (chosen <= 0) {
		t2x_ring_close(&item->ring);
		return chosen;
	}
	item->join = (struct t2x_join){
		.salvage = t2x_salvage_new(&item->ring),
		.stream = item->ring.state.stream, .blocks = item->ring.state.blocks,
		.pace = { .ns = item->ring.head.start_ns },
		.is_alone = is_alone(recover->settings),
	};
	recover->n++;
	return item->join.salvage ? 1 : -ENOMEM;
}

/* ---- young processes ------------------------------------------------------------------------------ */

static int is_same(const struct stat *st, uint64_t device, uint64_t inode)
{
	return st->st_dev == device && st->st_ino == inode;
}

/* The directory is the one in which the .tlg file lies. */
static int has_file(const struct stat *directory, const struct tlg_ring_state *state)
{
	const char *slash = strrchr(state->path, '/');
	char parent[sizeof(state->path)];
	struct stat st;

	if (!slash)
		return 0;
	memcpy(parent, state->path, (size_t)(slash - state->path) + 1);
	parent[slash - state->path + 1] = '\0';
	return !stat(parent, &st) && is_same(directory, st.st_dev, st.st_ino);
}

/* 1 if a path of the settings stands for the .tlg file. */
static int is_asked_for(const struct t2x_settings *settings, const struct tlg_ring_state *state)
{
	struct stat st;

	for (unsigned i = 0; i < settings->npaths; i++) {
		if (stat(settings->paths[i], &st))
			continue;
		if (S_ISDIR(st.st_mode) ? has_file(&st, state) : is_same(&st, state->device, state->inode))
			return 1;
	}
	return 0;
}

/* Nobody writes what its process has recorded, unless that goes on: and what it writes to is one of the inputs. */
static int is_wanted_young(const struct t2x_settings *settings, const char *path)
{
	struct t2x_ring ring;
	int is;

	if (t2x_ring_open(&ring, path, 0))
		return 0;
	is = ring.head.lacks_thread && !ring.head.is_over && ring.state.path[0] &&
	     is_asked_for(settings, &ring.state) && t2x_alive(&ring) == T2X_ALIVE;
	t2x_ring_close(&ring);
	return is;
}

/* It may have ended since, and have written all.  Return  1: it is the last item; 0: it is not used; -ENOMEM */
static int open_young(struct t2x_recover *recover, const char *path)
{
	struct t2x_recovered *item = &recover->items[recover->n];

	if (!is_wanted_young(recover->settings, path) || is_full() || t2x_ring_open(&item->ring, path, 1))
		return 0;
	item->why = find_file(item);
	if (item->ring.head.is_over || !item->inode) {
		t2x_ring_close(&item->ring);
		return 0;
	}
	item->join = (struct t2x_join){
		.salvage = t2x_salvage_new(&item->ring),
		.stream = item->ring.state.stream, .blocks = item->ring.state.blocks,
		.pace = { .ns = item->ring.head.start_ns },
	};
	recover->n++;
	return item->join.salvage ? 1 : -ENOMEM;
}

/* ---- all ------------------------------------------------------------------------------------------ */

/* Of a process that was asked for there is nothing: say so, unless the ring files that it has were refused. */
static void refuse_live(struct t2x_recover *recover)
{
	char name[32];

	if (recover->n || recover->files.n)
		return;
	snprintf(name, sizeof(name), "process %u", (unsigned)recover->settings->live);
	refuse(recover, name, "no ring file of it in XDG_RUNTIME_DIR or /dev/shm", 1);
}

int t2x_recover_find(struct t2x_recover *recover, const struct t2x_settings *settings, struct t2x_report *report)
{
	int error = 0;

	*recover = (struct t2x_recover){ .settings = settings, .report = report };
	recover->is_unasked = settings->npaths && !settings->nrings && !settings->recover_all && !settings->live;
	if (recover->is_unasked)
		error = t2x_ring_files_find(&recover->files, 0, geteuid());
	else if (settings->recover_all || settings->live)
		error = t2x_ring_files_find(&recover->files, settings->live, settings->select.user);
	recover->items = calloc(settings->nrings + recover->files.n + 1, sizeof(*recover->items));
	return error || !recover->items ? -ENOMEM : 0;
}

int t2x_recover_next(struct t2x_recover *recover)
{
	const struct t2x_settings *settings = recover->settings;
	int opened = 0;

	while (!opened && recover->next < settings->nrings + recover->files.n) {
		unsigned i = recover->next++;
		if (recover->is_unasked)
			opened = open_young(recover, recover->files.paths[i]);
		else if (i < settings->nrings)
			opened = open_ring(recover, settings->rings[i], 1);
		else
			opened = open_ring(recover, recover->files.paths[i - settings->nrings],
					   settings->live != 0);
	}
	if (!opened && settings->live)
		refuse_live(recover);
	return opened;
}

int t2x_recover_open(struct t2x_recover *recover, const struct t2x_settings *settings, struct t2x_report *report)
{
	int opened = t2x_recover_find(recover, settings, report);

	if (opened)
		return opened;
	do
		opened = t2x_recover_next(recover);
	while (opened > 0);
	return opened;
}

void t2x_recover_close(struct t2x_recovered *item)
{
	t2x_salvage_free(item->join.salvage);
	item->join.salvage = NULL;
	t2x_ring_close(&item->ring);
}

void t2x_recover_free(struct t2x_recover *recover)
{
	for (unsigned i = 0; i < recover->n; i++)
		t2x_recover_close(&recover->items[i]);
	free(recover->items);
	recover->items = NULL;
	recover->n = 0;
	t2x_ring_files_free(&recover->files);
}

/* ---- afterwards --------------------------------------------------------------------------------- */

/* What the process wrote before, and cannot be had. */
static void report_missing(struct t2x_report *report, const struct t2x_recovered *item)
{
	const struct tlg_ring_state *state = &item->ring.state;

	if (state->path[0])
		t2x_report_note(report, item->ring.path, "what was written before is missing: %s: %s", state->path,
				item->why);
	else
		t2x_report_note(report, item->ring.path, "what was written before is missing: %s", item->why);
}

void t2x_recover_report(struct t2x_recover *recover, const struct t2x_recovered *item)
{
	const struct t2x_salvage_totals *sum = t2x_salvage_totals(item->join.salvage);
	struct t2x_report *report = recover->report;
	const char *path = item->ring.path;

	if (sum->damaged)
		t2x_report_damage(report, path, "chunk", 0, "%u chunks are damaged", sum->damaged);
	if (recover->settings->asks || (recover->is_unasked && !sum->hits))
		return;
	if (recover->reported++ >= T2X_REPORT_LINES) {
		recover->hits += sum->hits;
		recover->in_flight += sum->in_flight;
		return;
	}
	t2x_report_note(report, path, "process %u: %" PRIu64 " checkpoints %s, %" PRIu64 " raw events in flight",
			item->ring.head.pid, sum->hits, item->ring.is_live ? "in its rings" : "recovered",
			sum->in_flight);
	if (item->why && item->ring.state.blocks)
		report_missing(report, item);
}

void t2x_recover_finish(struct t2x_recover *recover)
{
	struct t2x_report *report = recover->report;

	if (recover->reported > T2X_REPORT_LINES)
		t2x_report_note(report, "ring files",
				"%u more processes: %" PRIu64 " checkpoints %s, %" PRIu64 " raw events in flight",
				recover->reported - T2X_REPORT_LINES, recover->hits,
				recover->settings->live || recover->is_unasked ? "in their rings" : "recovered",
				recover->in_flight);
	if (recover->left_out) {
		t2x_report_note(report, "too many open files",
				"%u ring files left out: --output=DIRECTORY/ reads one by one, or see ulimit -n",
				recover->left_out);
		report->damages++;
	}
	if (recover->refused > T2X_REPORT_LINES)
		t2x_report_note(report, "ring files", "%u more were left alone", recover->refused - T2X_REPORT_LINES);
}

int t2x_recover_delete(struct t2x_recover *recover, const struct t2x_recovered *item)
{
	int error = t2x_salvage_totals(item->join.salvage)->damaged ? -EIO : t2x_ring_remove(&item->ring);

	if (error == -EIO)
		t2x_report_note(recover->report, item->ring.path, "not deleted, for it is damaged");
	else if (error)
		t2x_report_note(recover->report, item->ring.path, "not deleted: %s", strerror(-error));
	return !error;
}
