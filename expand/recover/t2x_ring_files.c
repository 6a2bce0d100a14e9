/* SPDX-License-Identifier: MIT */
/* t2x_ring_files.c - see t2x_ring_files.h. */
#include "t2x_ring_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char memory[] = "/dev/shm";

struct wanted {
	uint32_t pid;                     /* 0: any */
	uid_t user, owner;                /* owner: the user as whom the process runs; may be the same */
};

/* Return  the user as whom the process runs now; fallback: there is no such process */
static uid_t find_owner(uint32_t pid, uid_t fallback)
{
	char path[64], line[256];
	unsigned owner = (unsigned)fallback;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", (unsigned)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "Uid: %*u %u", &owner) != 1)
		continue;
	if (file)
		fclose(file);
	return (uid_t)owner;
}

/* A process may have created its ring file before it gave up root's privileges, or after. */
static int may_be_of(const struct wanted *wanted, uid_t uid)
{
	return uid == wanted->user || (wanted->pid && (uid == wanted->owner || !uid));
}

/* Return  1: the name is trace2-PID-ID.ring, with 16 hexadecimal digits each, of a regular file of a wanted user */
static int is_wanted(DIR *stream, const char *name, const struct wanted *wanted)
{
	uint64_t pid, id;
	struct stat st;
	int end = 0;

	return strlen(name) == 45 && sscanf(name, "trace2-%16" SCNx64 "-%16" SCNx64 ".ring%n", &pid, &id, &end) == 2 &&
	       end == 45 && (!wanted->pid || pid == wanted->pid) &&
	       !fstatat(dirfd(stream), name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       may_be_of(wanted, st.st_uid);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_path(struct t2x_ring_files *files, const char *directory, const char *name)
{
	if (files->n == files->space) {
		unsigned space = files->space ? 2 * files->space : 64;
		char **paths = realloc(files->paths, space * sizeof(*paths));
		if (!paths)
			return -ENOMEM;
		files->paths = paths;
		files->space = space;
	}
	if (asprintf(&files->paths[files->n], "%s/%s", directory, name) < 0)
		return -ENOMEM;
	files->n++;
	return 0;
}

static int find_in(struct t2x_ring_files *files, const char *directory, const struct wanted *wanted)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;
	int error = 0;

	while (stream && !error && (entry = readdir(stream)))
		if (is_wanted(stream, entry->d_name, wanted))
			error = add_path(files, directory, entry->d_name);
	if (stream)
		closedir(stream);
	return error;
}

int t2x_ring_files_find(struct t2x_ring_files *files, uint32_t pid, uid_t user)
{
	const struct wanted wanted = { pid, user, pid ? find_owner(pid, user) : user };
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char theirs[64] = "";
	int error;

	*files = (struct t2x_ring_files){ .n = 0 };
	if (wanted.owner != geteuid())
		snprintf(theirs, sizeof(theirs), "/run/user/%u", (unsigned)wanted.owner);
	error = find_in(files, memory, &wanted);
	if (!error && runtime && *runtime == '/' && strcmp(runtime, memory) != 0)
		error = find_in(files, runtime, &wanted);
	if (!error && theirs[0])
		error = find_in(files, theirs, &wanted);
	if (files->n)
		qsort(files->paths, files->n, sizeof(files->paths[0]), compare);
	return error;
}

void t2x_ring_files_free(struct t2x_ring_files *files)
{
	while (files->n)
		free(files->paths[--files->n]);
	free(files->paths);
	files->paths = NULL;
}
