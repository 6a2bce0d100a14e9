/* SPDX-License-Identifier: MIT */
/* t2x_ctl_find.c - see t2x_ctl_find.h. */
#include "t2x_ctl_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tlg_lease.h"

static const char memory[] = "/dev/shm";

uint32_t t2x_ctl_pid(const char *text)
{
	uint64_t pid = 0;

	if (!*text)
		return 0;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || pid > UINT32_MAX / 10)
			return 0;
		pid = pid * 10 + (uint64_t)(*text - '0');
	}
	return pid <= INT32_MAX ? (uint32_t)pid : 0;
}

/* ---- processes ---------------------------------------------------------------------------------- */

static FILE *open_proc(uint32_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", (unsigned)pid, file);
	return fopen(path, "re");
}

/* "": there is no such process */
static void find_name(uint32_t pid, char name[32])
{
	FILE *file = open_proc(pid, "comm");

	if (!file || !fgets(name, 32, file))
		name[0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* The kernel has only 15 characters of a name: the command line has all of it. */
static int has_name(const struct t2x_ctl_found *found, const char *target)
{
	FILE *file;
	char line[512] = "", *slash;
	size_t n;

	if (!strcmp(found->name, target))
		return 1;
	file = open_proc(found->pid, "cmdline");
	n = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
	if (file)
		fclose(file);
	line[n] = '\0';
	slash = strrchr(line, '/');
	return !strcmp(slash ? slash + 1 : line, target);
}

/* ---- pages -------------------------------------------------------------------------------------- */

/* Nobody has the page open or mapped, as the kernel says by granting a lease: nobody will ever answer. */
static void remove_if_dead(DIR *stream, const char *name)
{
	int fd = openat(dirfd(stream), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct statfs system;
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !fstatfs(fd, &system) &&
	    tlg_lease_tells(&system) && !fcntl(fd, F_SETSIG, SIGURG) && !fcntl(fd, F_SETLEASE, F_RDLCK)) {
		unlinkat(dirfd(stream), name, 0);
		fcntl(fd, F_SETLEASE, F_UNLCK);
	}
	close(fd);
}

/* trace2-PID-ID.ctl, with 16 hexadecimal digits each */
static int parse_name(const char *name, uint32_t *pid)
{
	uint64_t number, id;
	int end = 0;

	if (strlen(name) != 44 ||
	    sscanf(name, "trace2-%16" SCNx64 "-%16" SCNx64 ".ctl%n", &number, &id, &end) != 2 || end != 44 ||
	    !number || number > INT32_MAX)
		return 0;
	*pid = (uint32_t)number;
	return 1;
}

static int add(struct t2x_ctl_list *list, const struct t2x_ctl_found *found)
{
	if (list->n == list->space) {
		unsigned space = list->space ? 2 * list->space : 64;
		struct t2x_ctl_found *items = realloc(list->items, space * sizeof(*items));
		if (!items)
			return -ENOMEM;
		list->items = items;
		list->space = space;
	}
	list->items[list->n++] = *found;
	return 0;
}

static int is_meant(const struct t2x_ctl_found *found, const char *target, uint32_t pid)
{
	if (pid)
		return found->pid == pid;
	return !strcmp(target, "all") || has_name(found, target);
}

static int find_in(struct t2x_ctl_list *list, const char *directory, const char *target)
{
	const uint32_t pid = t2x_ctl_pid(target);
	DIR *stream = opendir(directory);
	struct t2x_ctl_found found;
	struct dirent *entry;
	int error = 0;

	while (stream && !error && (entry = readdir(stream))) {
		if (!parse_name(entry->d_name, &found.pid))
			continue;
		find_name(found.pid, found.name);
		if (!found.name[0])
			remove_if_dead(stream, entry->d_name);
		snprintf(found.path, sizeof(found.path), "%.255s/%.255s", directory, entry->d_name);
		if (found.name[0] && is_meant(&found, target, pid))
			error = add(list, &found);
	}
	if (stream)
		closedir(stream);
	return error;
}

static int compare(const void *a, const void *b)
{
	const struct t2x_ctl_found *one = a, *other = b;

	return one->pid != other->pid ? one->pid < other->pid ? -1 : 1 : strcmp(one->path, other->path);
}

/* 0: there is no such process */
static int find_user(uint32_t pid, uid_t *user)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", (unsigned)pid);
	if (!pid || stat(path, &st))
		return 0;
	*user = st.st_uid;
	return 1;
}

int t2x_ctl_find(struct t2x_ctl_list *list, const char *target)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char theirs[64];
	uid_t user;
	int error;

	*list = (struct t2x_ctl_list){ .n = 0 };
	error = find_in(list, memory, target);
	if (!error && runtime && *runtime == '/' && strcmp(runtime, memory) != 0)
		error = find_in(list, runtime, target);
	if (!error && find_user(t2x_ctl_pid(target), &user)) {
		snprintf(theirs, sizeof(theirs), "/run/user/%u", (unsigned)user);
		if (!runtime || strcmp(runtime, theirs) != 0)
			error = find_in(list, theirs, target);
	}
	if (list->n)
		qsort(list->items, list->n, sizeof(list->items[0]), compare);
	return error;
}

void t2x_ctl_free(struct t2x_ctl_list *list)
{
	free(list->items);
	*list = (struct t2x_ctl_list){ .n = 0 };
}

/* ---- without one -------------------------------------------------------------------------------- */

/* 1: a file of this name is mapped; -1: we may not look. */
static int has_mapped(uint32_t pid, const char *name)
{
	FILE *maps = open_proc(pid, "maps");
	char *line = NULL;
	size_t size = 0;
	int found = maps ? 0 : -1;

	while (maps && !found && getline(&line, &size, maps) > 0)
		found = strstr(line, name) != NULL;
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

void t2x_ctl_explain(uint32_t pid, char *to, unsigned long size)
{
	uid_t user;
	int has_library;

	if (!find_user(pid, &user)) {
		snprintf(to, size, "there is no such process");
		return;
	}
	has_library = has_mapped(pid, "/libtrace2");
	if (has_library < 0)
		snprintf(to, size, "it is another user's process: only its user and root may steer it");
	else if (has_library)
		snprintf(to, size, "it has libtrace2, and no control page: it has not been started with TRACE2_CTL=1, "
				   "has no consumer thread, or is another program since exec(2)");
	else
		snprintf(to, size, "it is not prepared: start it with TRACE2_CTL=1 if it is linked with libtrace2, "
				   "else by `t2 record --dormant PROGRAM'");
}
