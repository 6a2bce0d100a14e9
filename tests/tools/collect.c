/* SPDX-License-Identifier: MIT */
/* collect.c - see collect.h; t2expand.c does the same with many. */
#include "collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_blocks(struct t2x_recovered *item, struct t2x_report *report, collect_fn *fn, void *data)
{
	struct t2x_input input = { .path = item->ring.state.path, .report = report };
	struct t2x_block block;

	if (item->why || !t2x_input_check(&input, 0))
		input = (struct t2x_input){ .report = report, .is_done = 1 };
	t2x_join_add(&input, &item->join);
	while (t2x_join_next(&input.blocks, &block))
		fn(data, &block);
	t2x_input_close(&input);
}

struct t2x_salvage_totals collect(const char *ring, uint32_t live, collect_fn *fn, void *data)
{
	char *rings[] = { (char *)(uintptr_t)ring };
	struct t2x_settings settings = {
		.rings = rings, .nrings = 1, .live = live, .select = { .user = geteuid() },
	};
	struct t2x_report report = { .to = NULL };
	struct t2x_recover recover = { .n = 0 };
	struct t2x_salvage_totals sum = { .hits = UINT64_MAX };
	int error = t2x_recover_open(&recover, &settings, &report);

	for (unsigned i = 0; !error && i < recover.n; i++) {
		if (recover.items[i].ring.path != ring)
			continue;   /* live: its ring file is listed, too */
		read_blocks(&recover.items[i], &report, fn, data);
		sum = *t2x_salvage_totals(recover.items[i].join.salvage);
	}
	t2x_recover_free(&recover);
	return sum;
}

int collect_file(const char *path, collect_fn *fn, void *data)
{
	struct t2x_report report = { .to = NULL };
	struct t2x_input input = { .path = path, .report = &report };
	struct t2x_block block;

	if (!t2x_input_check(&input, 0))
		return 0;
	while (t2x_input_next(&input.blocks, &block))
		fn(data, &block);
	t2x_input_close(&input);
	return 1;
}

int collect_find(uint32_t pid, char *path, size_t room)
{
	const char *directory = getenv("XDG_RUNTIME_DIR");
	struct t2x_ring_files leftovers;
	int n = 0;

	t2x_ring_files_find(&leftovers, pid, geteuid());
	for (unsigned i = 0; directory && i < leftovers.n; i++)
		if (!strncmp(leftovers.paths[i], directory, strlen(directory)) && !n++)
			snprintf(path, room, "%s", leftovers.paths[i]);
	t2x_ring_files_free(&leftovers);
	return n == 1;
}
