/* SPDX-License-Identifier: MIT */
/* t2x_dir.c - see t2x_dir.h. */
#include "t2x_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { GATHERED = 2 * T2X_DIR_FILES };    /* paths that wait for being sorted */

static const char suffix[] = ".tlg";
static const char sentinel[] = "git-trace2-discard";

static int is_trace(const char *name)
{
	size_t n = strlen(name), end = sizeof(suffix) - 1;

	return n > end && !strcmp(name + n - end, suffix);
}

static int is_regular(DIR *stream, const char *name)
{
	struct stat st;

	return !fstatat(dirfd(stream), name, &st, 0) && S_ISREG(st.st_mode);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort what was gathered, keep as many as may be. */
static void keep_first(struct t2x_dir *dir)
{
	if (dir->n)
		qsort(dir->paths, dir->n, sizeof(dir->paths[0]), compare_paths);
	while (dir->n > T2X_DIR_FILES) {
		free(dir->paths[--dir->n]);
		dir->left_out++;
	}
}

/* Return  0 or -ENOMEM */
static int add_path(struct t2x_dir *dir, const char *directory, const char *name)
{
	size_t length = strlen(directory);
	const char *slash = length && directory[length - 1] == '/' ? "" : "/";

	if (dir->n == GATHERED)
		keep_first(dir);
	if (asprintf(&dir->paths[dir->n], "%s%s%s", directory, slash, name) < 0)
		return -ENOMEM;
	dir->n++;
	return 0;
}

/* Return  0 or -errno */
static int read_names(struct t2x_dir *dir, const char *path, DIR *stream)
{
	const struct dirent *entry;
	int error = 0;

	errno = 0;
	while (!error && (entry = readdir(stream))) {
		if (is_trace(entry->d_name) && is_regular(stream, entry->d_name))
			error = add_path(dir, path, entry->d_name);
		errno = 0;
	}
	if (!error)
		error = -errno;
	keep_first(dir);
	if (!error && is_regular(stream, sentinel)) {
		error = add_path(dir, path, sentinel);
		dir->has_sentinel = !error;
	}
	return error;
}

int t2x_dir_list(struct t2x_dir *dir, const char *path)
{
	struct stat st;
	DIR *stream;
	int error;

	*dir = (struct t2x_dir){ 0 };
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return 0;
	dir->is_directory = 1;
	stream = opendir(path);
	if (!stream)
		return -errno;
	dir->paths = calloc(GATHERED, sizeof(dir->paths[0]));
	error = dir->paths ? read_names(dir, path, stream) : -ENOMEM;
	closedir(stream);
	return error;
}

void t2x_dir_free(struct t2x_dir *dir)
{
	while (dir->n)
		free(dir->paths[--dir->n]);
	free(dir->paths);
	dir->paths = NULL;
}
