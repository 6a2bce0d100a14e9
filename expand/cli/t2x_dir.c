/* SPDX-License-Identifier: MIT */
/* t2x_dir.c - see t2x_dir.h. */
#include "t2x_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* Most filesystems say what an entry is.  Of a link it counts what it leads to. */
static int is_file(DIR *stream, const struct dirent *entry)
{
	return entry->d_type == DT_REG || is_regular(stream, entry->d_name);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Return  0 or -ENOMEM */
static int add_path(struct t2x_dir *dir, const char *directory, const char *name)
{
	size_t length = strlen(directory);
	const char *slash = length && directory[length - 1] == '/' ? "" : "/";

	if (dir->n == dir->room) {
		unsigned room = dir->room ? 2 * dir->room : 64;
		char **paths = realloc(dir->paths, room * sizeof(*paths));
		if (!paths)
			return -ENOMEM;
		dir->paths = paths;
		dir->room = room;
	}
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
		if (is_trace(entry->d_name) && is_file(stream, entry))
			error = add_path(dir, path, entry->d_name);
		errno = 0;
	}
	if (!error)
		error = -errno;
	if (dir->n)
		qsort(dir->paths, dir->n, sizeof(dir->paths[0]), compare_paths);
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
	error = read_names(dir, path, stream);
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
