/* SPDX-License-Identifier: MIT */
/* t2x_open_files.c - a list of files, by their latest blocks. */
#include "t2x_open_files.h"

#include <stddef.h>
#include <sys/resource.h>

enum { TRIES = 16 };              /* files that are asked whether they can be parked, before one more is open */

static unsigned find_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 >= T2X_OPEN_FILES)
		return T2X_OPEN_FILES;
	return limit.rlim_cur >= 4 ? (unsigned)limit.rlim_cur / 2 : 1;
}

static void push(struct t2x_open_files *files, struct t2x_open_file *file)
{
	file->older = files->newest;
	file->newer = NULL;
	*(files->newest ? &files->newest->newer : &files->oldest) = file;
	files->newest = file;
	file->is_listed = 1;
	files->n++;
}

void t2x_open_files_leave(struct t2x_open_files *files, struct t2x_open_file *file)
{
	if (!file->is_listed)
		return;
	*(file->newer ? &file->newer->older : &files->newest) = file->older;
	*(file->older ? &file->older->newer : &files->oldest) = file->newer;
	file->is_listed = 0;
	files->n--;
}

int t2x_open_files_park_one(struct t2x_open_files *files, const struct t2x_open_file *file)
{
	struct t2x_open_file *old = files->oldest;

	for (unsigned i = 0; i < TRIES && old; i++) {
		struct t2x_open_file *newer = old->newer;
		if (old != file && old->park(old)) {
			t2x_open_files_leave(files, old);
			return 1;
		}
		old = newer;
	}
	return 0;
}

void t2x_open_files_use(struct t2x_open_files *files, struct t2x_open_file *file)
{
	if (!files->max)
		files->max = find_max();
	t2x_open_files_leave(files, file);
	while (files->n >= files->max && t2x_open_files_park_one(files, file))
		;
	push(files, file);
}
