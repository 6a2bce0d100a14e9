/* SPDX-License-Identifier: MIT */
/* t2x_rest.c - see t2x_rest.h. */
#include "t2x_rest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recover/t2x_alive.h"
#include "recover/t2x_ring_files.h"

/* Ring files that name an input, by what has become of their processes. */
struct rest {
	unsigned dead, living;
	uint32_t pid, living_pid;         /* of one of each */
	const char *ring;                 /* of a dead one */
};

static int lacks_something(const struct t2x_input *input)
{
	return input->is_regular && !input->joins && (!input->good || input->open_streams);
}

static int is_any_lacking(const struct t2x_inputs *inputs)
{
	for (unsigned i = 0; i < inputs->n; i++)
		if (lacks_something(&inputs->items[i]))
			return 1;
	return 0;
}

static void add_ring(const struct t2x_inputs *inputs, struct rest *rests, const char *path)
{
	const struct t2x_input *input;
	struct t2x_ring ring;
	struct rest *rest;

	if (t2x_ring_open(&ring, path, 0))
		return;
	input = t2x_inputs_get(inputs, (dev_t)ring.state.device, (ino_t)ring.state.inode);
	if (ring.state.path[0] && input && lacks_something(input)) {
		rest = &rests[input - inputs->items];
		if (t2x_alive(&ring) == T2X_DEAD) {
			rest->dead++;
			rest->pid = ring.head.pid;
			rest->ring = path;
		} else {
			rest->living++;
			rest->living_pid = ring.head.pid;
		}
	}
	t2x_ring_close(&ring);
}

/* Return  lines that were printed */
static unsigned report(struct t2x_report *report, const char *name, const struct rest *rest)
{
	if (rest->living == 1)
		t2x_report_note(report, name, "process %u is running: --live=%u reads what it has not written yet",
				rest->living_pid, rest->living_pid);
	else if (rest->living)
		t2x_report_note(report, name,
				"%u processes are running: --live=%u, say, reads what one has not written yet",
				rest->living, rest->living_pid);
	if (rest->dead == 1)
		t2x_report_note(report, name, "process %u died before it had written all: --recover=%s reads the rest",
				rest->pid, rest->ring);
	else if (rest->dead)
		t2x_report_note(report, name,
				"%u processes died before they had written all: --recover-all reads the rest",
				rest->dead);
	return (rest->living ? 1U : 0U) + (rest->dead ? 1U : 0U);
}

void t2x_rest_report(const struct t2x_inputs *inputs)
{
	struct t2x_ring_files files = { .n = 0 };
	struct rest *rests;
	unsigned lines = 0;

	if (!is_any_lacking(inputs))
		return;
	rests = calloc(inputs->n, sizeof(*rests));
	if (rests && !t2x_ring_files_find(&files, 0, geteuid())) {
		for (unsigned i = 0; i < files.n; i++)
			add_ring(inputs, rests, files.paths[i]);
		for (unsigned i = 0; i < inputs->n && lines < T2X_REPORT_LINES; i++)
			lines += report(inputs->report, inputs->items[i].in.name, &rests[i]);
	}
	t2x_ring_files_free(&files);
	free(rests);
}
