/* SPDX-License-Identifier: MIT */
/* t2x_files.c - see t2x_files.h. */
#include "t2x_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SHOWN = 4096 };

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *t2x_files_check(const struct t2x_files *files, const char **which)
{
	struct stat st;

	for (unsigned i = 0; i < files->n; i++) {
		*which = files->paths[i];
		if (stat(files->paths[i], &st))
			return strerror(errno);
		if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
			return "is neither a file nor a directory";
		if (S_ISREG(st.st_mode) && (!*name_of(*which) || *name_of(*which) == '.'))
			return "has a name that cannot be asked for";
	}
	return NULL;
}

/* ---- a directory --------------------------------------------------------------------------------------- */

static int is_trace(const struct dirent *entry)
{
	const size_t n = strlen(entry->d_name);

	return entry->d_name[0] != '.' && n > 4 && !strcmp(entry->d_name + n - 4, ".tlg");
}

/* Return  -1: it is no file of this user's */
static int open_in(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return -1;
}

static void visit_directory(const char *path, t2x_files_visit_fn *visit, void *owner)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries = NULL;
	int n = directory < 0 ? -1 : scandir(path, &entries, is_trace, versionsort);

	for (int i = 0; i < n; i++) {
		struct stat st;

		if (i < MAX_SHOWN && !fstatat(directory, entries[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode) && st.st_uid == geteuid())
			visit(owner, entries[i]->d_name, (uint64_t)st.st_size);
		free(entries[i]);
	}
	free(entries);
	if (directory >= 0)
		close(directory);
}

static int open_of_directory(const char *path, const char *name)
{
	const struct dirent *entry;
	DIR *stream = opendir(path);
	int fd = -1;

	while (stream && fd < 0 && (entry = readdir(stream)))
		if (!strcmp(entry->d_name, name) && is_trace(entry))
			fd = open_in(dirfd(stream), entry->d_name);
	if (stream)
		closedir(stream);
	return fd;
}

/* ---- all of them --------------------------------------------------------------------------------------- */

void t2x_files_each(const struct t2x_files *files, t2x_files_visit_fn *visit, void *owner)
{
	struct stat st;

	for (unsigned i = 0; i < files->n; i++) {
		if (stat(files->paths[i], &st))
			continue;
		if (S_ISDIR(st.st_mode))
			visit_directory(files->paths[i], visit, owner);
		else
			visit(owner, name_of(files->paths[i]), (uint64_t)st.st_size);
	}
}

int t2x_files_open(const struct t2x_files *files, const char *name)
{
	int fd = -1;

	for (unsigned i = 0; i < files->n && fd < 0; i++) {
		struct stat st;

		if (stat(files->paths[i], &st))
			continue;
		if (S_ISDIR(st.st_mode))
			fd = open_of_directory(files->paths[i], name);
		else if (S_ISREG(st.st_mode) && !strcmp(name_of(files->paths[i]), name))
			fd = open(files->paths[i], O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	return fd;
}
