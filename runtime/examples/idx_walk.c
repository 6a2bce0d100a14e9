/* SPDX-License-Identifier: MIT */
#include "idx_walk.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "idx_error.h"

static void enter_directory(struct idx_job *job, FTSENT *entry, struct idx_walk_counts *counts)
{
	counts->directories++;
	entry->fts_number = 1;
	trace2_region_enter_printf("walk", "directory", &job->tree, "%s", entry->fts_path);
}

/* An entry comes a last time: well, or with an error.  fts_number tells whether it was entered before. */
static void leave_entry(struct idx_job *job, const FTSENT *entry)
{
	if (entry->fts_number)
		trace2_region_leave("walk", "directory", &job->tree);
}

/* Return 0, or an errno value. */
static int visit_entry(struct idx_job *job, FTSENT *entry, struct idx_walk_counts *counts)
{
	char *path;

	switch (entry->fts_info) {
	case FTS_D:
		enter_directory(job, entry, counts);
		return 0;
	case FTS_DP:
		leave_entry(job, entry);
		return 0;
	case FTS_F:
		path = strdup(entry->fts_path);
		if (!path)
			return errno;
		idx_queue_put(&job->queue, path);
		return 0;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		counts->unreadable++;
		idx_error("cannot read %s: %s", entry->fts_path, strerror(entry->fts_errno));
		leave_entry(job, entry);
		return 0;
	default:
		return 0;
	}
}

int idx_walk(struct idx_job *job, const char *root, struct idx_walk_counts *counts)
{
	char *name = strdup(root);
	char *roots[] = { name, NULL };
	FTS *tree = name ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	int error = tree ? 0 : errno;

	while (!error) {
		FTSENT *entry;

		errno = 0;
		entry = fts_read(tree);
		if (!entry) {
			error = errno;
			break;
		}
		error = visit_entry(job, entry, counts);
	}
	if (error)
		idx_error("cannot walk %s: %s", root, strerror(error));
	if (tree)
		fts_close(tree);
	free(name);
	return error;
}
