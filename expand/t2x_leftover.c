/* SPDX-License-Identifier: MIT */
/* t2x_leftover.c - see t2x_leftover.h. */
#include "t2x_leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* trace2-PID-ID.ring, both of 16 hexadecimal digits; a regular file, and ours. */
static int is_wanted(DIR *stream, const char *name, uint32_t pid)
{
	uint64_t of, id;
	struct stat st;
	int end = 0;

	return strlen(name) == 45 && sscanf(name, "trace2-%16" SCNx64 "-%16" SCNx64 ".ring%n", &of, &id, &end) == 2 &&
	       end == 45 && (!pid || of == pid) && !fstatat(dirfd(stream), name, &st, AT_SYMLINK_NOFOLLOW) &&
	       S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find_in(struct t2x_leftovers *leftovers, const char *directory, uint32_t pid)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;
	int error = 0;

	while (stream && !error && (entry = readdir(stream))) {
		if (!is_wanted(stream, entry->d_name, pid))
			continue;
		if (leftovers->n == T2X_LEFTOVERS)
			leftovers->left_out++;
		else if (asprintf(&leftovers->paths[leftovers->n], "%s/%s", directory, entry->d_name) < 0)
			error = -ENOMEM;
		else
			leftovers->n++;
	}
	if (stream)
		closedir(stream);
	return error;
}

int t2x_leftovers_find(struct t2x_leftovers *leftovers, uint32_t pid)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int error = 0;

	*leftovers = (struct t2x_leftovers){ .n = 0 };
	if (runtime && *runtime == '/' && strcmp(runtime, "/dev/shm") != 0)
		error = find_in(leftovers, runtime, pid);
	if (!error)
		error = find_in(leftovers, "/dev/shm", pid);
	if (leftovers->n)
		qsort(leftovers->paths, leftovers->n, sizeof(leftovers->paths[0]), compare);
	return error;
}

void t2x_leftovers_free(struct t2x_leftovers *leftovers)
{
	while (leftovers->n)
		free(leftovers->paths[--leftovers->n]);
}
