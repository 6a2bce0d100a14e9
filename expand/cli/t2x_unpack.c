/* SPDX-License-Identifier: MIT */
/* t2x_unpack.c - see t2x_unpack.h.  Archives are our own: plain files with names and sizes that ustar has room for. */
#include "t2x_unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/t2x_out.h"

enum { AT_NAME = 0, AT_SIZE = 124, SIZE_DIGITS = 12 };

static const char hidden[] = ".metadata";        /* until all files are there */

/* ---- the directory ------------------------------------------------------------------------------ */

/* Return  0, -ENOTEMPTY or -errno */
static int check_empty(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int error = 0;

	if (!stream) {
		error = -errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	errno = 0;
	while (!error && (entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			error = -ENOTEMPTY;
	if (!error)
		error = -errno;
	closedir(stream);
	return error;
}

int t2x_unpack_open(const char *path)
{
	int fd, error;

	if (mkdir(path, 0777) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	error = check_empty(fd);
	if (!error)
		return fd;
	close(fd);
	return error;
}

/* ---- files -------------------------------------------------------------------------------------- */

void t2x_unpack_init(struct t2x_unpack *unpack, int directory)
{
	*unpack = (struct t2x_unpack){ .directory = directory, .fd = -1 };
}

/* Of blocks of zeros, with which an archive ends, there is no file.  Return  0 or an errno */
static int begin_file(struct t2x_unpack *unpack)
{
	char name[T2X_UNPACK_NAME + 1] = "", size[SIZE_DIGITS + 1] = "";
	int is_metadata;

	if (!unpack->head[AT_NAME])
		return 0;
	memcpy(name, unpack->head + AT_NAME, T2X_UNPACK_NAME);
	memcpy(size, unpack->head + AT_SIZE, SIZE_DIGITS);
	unpack->left = strtoull(size, NULL, 8);
	unpack->padding = (T2X_UNPACK_BLOCK - unpack->left % T2X_UNPACK_BLOCK) % T2X_UNPACK_BLOCK;
	is_metadata = strcmp(name, hidden + 1) == 0;
	unpack->has_metadata |= is_metadata;
	unpack->fd = openat(unpack->directory, is_metadata ? hidden : name,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return unpack->fd < 0 ? errno : 0;
}

/* Return  0 or an errno */
static int end_file(struct t2x_unpack *unpack)
{
	int error = unpack->fd >= 0 && close(unpack->fd) ? errno : 0;

	unpack->fd = -1;
	return error;
}

/* Take some of n bytes.  Return  how many */
static size_t take_some(struct t2x_unpack *unpack, const char *text, size_t n, int *error)
{
	size_t some;

	if (unpack->left) {
		some = n < unpack->left ? n : (size_t)unpack->left;
		*error = t2x_out_write_all(unpack->fd, text, some);
		unpack->left -= some;
	} else if (unpack->padding) {
		some = n < unpack->padding ? n : unpack->padding;
		unpack->padding -= some;
	} else {
		some = n < sizeof(unpack->head) - unpack->n ? n : sizeof(unpack->head) - unpack->n;
		memcpy(unpack->head + unpack->n, text, some);
		unpack->n += some;
		if (unpack->n == sizeof(unpack->head)) {
			unpack->n = 0;
			*error = begin_file(unpack);
		}
	}
	if (!*error && !unpack->left)
		*error = end_file(unpack);
	return some;
}

int t2x_unpack_write(void *to, const char *text, size_t n)
{
	struct t2x_unpack *unpack = to;
	int error = 0;

	while (n && !error) {
		size_t some = take_some(unpack, text, n, &error);
		text += some;
		n -= some;
	}
	return error;
}

int t2x_unpack_finish(struct t2x_unpack *unpack, int is_whole)
{
	int error = end_file(unpack);

	if (error || !is_whole || !unpack->has_metadata)
		return error;
	return renameat(unpack->directory, hidden, unpack->directory, hidden + 1) ? errno : 0;
}
