/* SPDX-License-Identifier: MIT */
/* t2x_ring_hints.c - see t2x_ring_hints.h. */
#include "t2x_ring_hints.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recover/t2x_alive.h"
#include "recover/t2x_ring_files.h"
#include "recover/t2x_salvage.h"

/* Ring files that name an input, by what has become of their processes. */
struct hint {
	unsigned dead, living;
	uint32_t pid, living_pid;         /* of one of each */
	const char *ring;                 /* of a dead one */
};

/* Also one whose streams have their ends: of the process that began it, a daemon's parent say, there may be nothing. */
static int may_lack_something(const struct t2x_input *input, const struct t2x_recover *recover)
{
	return input->is_regular && (!input->joins || recover->is_unasked);
}

/* Something is missing for certain: a process has not ended, and may have died since ring files were looked for. */
static int is_any_lacking(const struct t2x_inputs *inputs, const struct t2x_recover *recover)
{
	for (unsigned i = 0; i < inputs->n; i++) {
		const struct t2x_input *input = &inputs->items[i];
		if (may_lack_something(input, recover) && (!input->good || input->open_streams))
			return 1;
	}
	return 0;
}

/* Of a dead process.  One that has written all and ended by _exit() leaves one, too.  Without memory nobody knows. */
static int has_rest(const struct t2x_ring *ring)
{
	struct t2x_salvage *salvage = t2x_salvage_new(ring);
	const struct t2x_salvage_totals *sum;
	struct t2x_block block;
	int has = !salvage;

	if (salvage) {
		while (t2x_salvage_next(salvage, &block))
			;
		sum = t2x_salvage_totals(salvage);
		has = sum->hits || sum->in_flight || sum->damaged;
	}
	t2x_salvage_free(salvage);
	return has;
}

/* Its events have been read. */
static int is_joined(const struct t2x_ring *ring, const struct t2x_recover *recover)
{
	for (unsigned i = 0; i < recover->n; i++)
		if (recover->items[i].ring.device == ring->device && recover->items[i].ring.inode == ring->inode)
			return 1;
	return 0;
}

static void add_ring(const struct t2x_inputs *inputs, const struct t2x_recover *recover, struct hint *hints,
		     const char *path)
{
	const struct t2x_input *input;
	struct t2x_ring ring;
	struct hint *hint;

	if (t2x_ring_open(&ring, path, 0))
		return;
	input = t2x_inputs_get(inputs, (dev_t)ring.state.device, (ino_t)ring.state.inode);
	if (ring.state.path[0] && !ring.head.is_over && input && may_lack_something(input, recover) &&
	    !is_joined(&ring, recover)) {
		hint = &hints[input - inputs->items];
		if (t2x_alive(&ring) == T2X_DEAD) {
			if (has_rest(&ring)) {
				hint->dead++;
				hint->pid = ring.head.pid;
				hint->ring = path;
			}
		} else {
			hint->living++;
			hint->living_pid = ring.head.pid;
		}
	}
	t2x_ring_close(&ring);
}

/* Return  lines that were printed */
static unsigned report(struct t2x_report *report, const char *name, const struct hint *hint)
{
	if (hint->living == 1)
		t2x_report_note(report, name, "process %u is running: --live=%u reads what it has not written yet",
				hint->living_pid, hint->living_pid);
	else if (hint->living)
		t2x_report_note(report, name,
				"%u processes are running: --live=%u, say, reads what one has not written yet",
				hint->living, hint->living_pid);
	if (hint->dead == 1)
		t2x_report_note(report, name, "process %u died before it had written all: --recover=%s reads the rest",
				hint->pid, hint->ring);
	else if (hint->dead)
		t2x_report_note(report, name,
				"%u processes died before they had written all: --recover-all reads the rest",
				hint->dead);
	return (hint->living ? 1U : 0U) + (hint->dead ? 1U : 0U);
}

void t2x_ring_hints_report(const struct t2x_inputs *inputs, const struct t2x_recover *recover)
{
	const struct t2x_ring_files *files = &recover->files;   /* found before the inputs were read */
	struct t2x_ring_files found = { .n = 0 };
	struct hint *hints;
	unsigned lines = 0;

	if (is_any_lacking(inputs, recover)) {
		files = t2x_ring_files_find(&found, 0, geteuid()) ? NULL : &found;
	} else if (!recover->is_unasked || !files->n) {
		return;
	}
	hints = files ? calloc(inputs->n, sizeof(*hints)) : NULL;
	if (hints) {
		for (unsigned i = 0; i < files->n; i++)
			add_ring(inputs, recover, hints, files->paths[i]);
		for (unsigned i = 0; i < inputs->n && lines < T2X_REPORT_LINES; i++)
			lines += report(inputs->report, inputs->items[i].in.name, &hints[i]);
	}
	t2x_ring_files_free(&found);
	free(hints);
}
