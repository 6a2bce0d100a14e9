/* SPDX-License-Identifier: MIT */
/* t2x_recover.c - see t2x_recover.h. */
#include "t2x_recover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
	if (!st.st_size)
		return "empty";
	item->device = st.st_dev;
	item->inode = st.st_ino;
	return NULL;
}

/* Why a ring file is not for this run; NULL: it is. */
static const char *check(const struct t2x_ring *ring, const struct t2x_settings *settings)
{
	int has_writer = t2x_ring_has_writer(ring);

	if (settings->live && (!has_writer || ring->head.pid != settings->live))
		return "its process is dead: --recover reads it";
	if (settings->live)
		return NULL;
	return has_writer ? "its process is running: --live reads it" : NULL;
}

/* It was named twice, or is one of --recover-all, too. */
static int is_there(const struct t2x_recover *recover, const struct t2x_ring *ring)
{
	for (unsigned i = 0; i < recover->n; i++)
		if (recover->items[i].ring.device == ring->device && recover->items[i].ring.inode == ring->inode)
			return 1;
	return 0;
}

/* Return  0 or -ENOMEM; the item is used if recover->n has grown */
static int open_ring(struct t2x_recover *recover, const char *path, const struct t2x_settings *settings,
		     struct t2x_report *report, int is_named)
{
	struct t2x_recovered *item = &recover->items[recover->n];
	const char *why = t2x_ring_open(&item->ring, path, settings->live != 0);
	int is_open = !why;

	if (is_open)
		why = check(&item->ring, settings);
	if (is_open && (why || is_there(recover, &item->ring))) {
		t2x_ring_close(&item->ring);
		is_open = 0;
	}
	if (why && is_named) {
		t2x_report_note(report, path, "%s", why);
		recover->failed++;
	}
	if (!is_open)
		return 0;
	item->why = find_file(item);
	item->join = (struct t2x_join){
		.salvage = t2x_salvage_new(&item->ring),
		.stream = item->ring.state.stream, .blocks = item->ring.state.blocks,
	};
	recover->n++;
	return item->join.salvage ? 0 : -ENOMEM;
}

/* Of a process that was asked for there is nothing: say why. */
static int refuse_live(struct t2x_recover *recover, const struct t2x_settings *settings, struct t2x_report *report)
{
	const struct t2x_leftovers *leftovers = &recover->leftovers;
	char name[32];
	int error = 0;

	for (unsigned i = 0; !error && i < leftovers->n; i++)
		error = open_ring(recover, leftovers->paths[i], settings, report, 1);
	if (leftovers->n)
		return error;
	snprintf(name, sizeof(name), "process %u", (unsigned)settings->live);
	t2x_report_note(report, name, "no ring file of it in XDG_RUNTIME_DIR or /dev/shm");
	recover->failed++;
	return 0;
}

int t2x_recover_open(struct t2x_recover *recover, const struct t2x_settings *settings, struct t2x_report *report)
{
	int error = 0;

	if (settings->recover_all || settings->live)
		error = t2x_leftovers_find(&recover->leftovers, settings->live);
	recover->items = calloc(settings->nrings + recover->leftovers.n + 1, sizeof(*recover->items));
	if (error || !recover->items)
		return -ENOMEM;
	for (unsigned i = 0; !error && i < settings->nrings; i++)
		error = open_ring(recover, settings->rings[i], settings, report, 1);
	for (unsigned i = 0; !error && i < recover->leftovers.n; i++)
		error = open_ring(recover, recover->leftovers.paths[i], settings, report, 0);
	if (!error && settings->live && !recover->n)
		error = refuse_live(recover, settings, report);
	return error;
}

void t2x_recover_free(struct t2x_recover *recover)
{
	for (unsigned i = 0; i < recover->n; i++) {
		t2x_salvage_free(recover->items[i].join.salvage);
		t2x_ring_close(&recover->items[i].ring);
	}
	free(recover->items);
	recover->items = NULL;
	recover->n = 0;
	t2x_leftovers_free(&recover->leftovers);
}

/* ---- afterwards --------------------------------------------------------------------------------- */

void t2x_recover_report(const struct t2x_recover *recover, struct t2x_report *report)
{
	for (unsigned i = 0; i < recover->n; i++) {
		const struct t2x_recovered *item = &recover->items[i];
		const struct t2x_salvage_sum *sum = t2x_salvage_sum(item->join.salvage);
		const char *path = item->ring.path;
		t2x_report_note(report, path, "process %u: %" PRIu64 " checkpoints %s, %" PRIu64 " events in flight",
				item->ring.head.pid, sum->hits, item->ring.is_live ? "in its rings" : "recovered",
				sum->in_flight);
		if (item->why && item->ring.state.blocks)
			t2x_report_note(report, path, "what was written before is missing: %s: %s",
					item->ring.state.path, item->why);
		if (sum->damaged)
			t2x_report_damage(report, path, "chunk", 0, "%u chunks are damaged", sum->damaged);
	}
	if (recover->leftovers.left_out)
		t2x_report_note(report, "ring files", "%u more are left for another run", recover->leftovers.left_out);
}

unsigned t2x_recover_delete(const struct t2x_recover *recover, struct t2x_report *report)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < recover->n; i++) {
		const struct t2x_recovered *item = &recover->items[i];
		int error = t2x_salvage_sum(item->join.salvage)->damaged ? -EIO : t2x_ring_remove(&item->ring);
		if (error)
			t2x_report_note(report, item->ring.path, "not deleted: %s", strerror(-error));
		kept += error != 0;
	}
	return kept;
}
