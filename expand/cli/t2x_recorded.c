/* SPDX-License-Identifier: MIT */
/* t2x_recorded.c - see t2x_recorded.h. */
#include "t2x_recorded.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/t2x_human.h"
#include "t2x_record_words.h"

enum { LIST_BYTES = 1024 };

static int is_told(void)
{
	return isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static int is_trace(const char *name)
{
	const char *suffix = strrchr(name, '.');

	return suffix && !strcmp(suffix, ".tlg");
}

/* How large the traces in a directory are, all together. */
static uint64_t add_up(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while (directory && (entry = readdir(directory)))
		if (is_trace(entry->d_name) && !fstatat(dirfd(directory), entry->d_name, &st, 0))
			bytes += (uint64_t)st.st_size;
	if (directory)
		closedir(directory);
	return bytes;
}

/* As the user would type it from here. */
static const char *shorten(const char *path)
{
	char here[PATH_MAX];
	size_t n;

	if (!getcwd(here, sizeof(here)))
		return path;
	n = strlen(here);
	return !strncmp(path, here, n) && path[n] == '/' && path[n + 1] ? path + n + 1 : path;
}

static int is_in(const char *names, const char *name, size_t length)
{
	for (const char *at = names; (at = strstr(at, name)); at += length)
		if ((at == names || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return 1;
	return 0;
}

/* "cpu", "cpu and heap", "cpu, heap and block": the names of a list of "cpu=100,heap,block,cpu=50". */
static void name_all(char *names, size_t size, const char *list)
{
	char *last = NULL;

	*names = '\0';
	for (size_t length; *list; list += length + (list[length] == ',')) {
		const size_t n = strlen(names);
		char name[32];
		length = strcspn(list, ",");
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(list, "=,"), list);
		if (is_in(names, name, strlen(name)))
			continue;
		last = n ? names + n : NULL;
		snprintf(names + n, size - n, "%s%s", n ? ", " : "", name);
	}
	if (last && strlen(names) + 3 < size) {
		memmove(last + 5, last + 2, strlen(last + 2) + 1);
		memcpy(last, " and ", 5);
	}
}

const char *t2x_recorded_quote(char *to, size_t size, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,:@%-";
	const char *before = *name == '-' ? "./" : "";

	if (strchr(name, '\''))
		return NULL;
	snprintf(to, size, name[strspn(name, plain)] ? "%s'%s'" : "%s%s", before, name);
	return to;
}

void t2x_recorded_tell(const char *trace, const char *profiles)
{
	char start[LIST_BYTES], later[LIST_BYTES], names[LIST_BYTES], size[T2X_HUMAN_BYTES], quoted[PATH_MAX + 8];
	const char *shown = t2x_recorded_quote(quoted, sizeof(quoted), shorten(trace));
	struct stat st;
	uint64_t bytes;

	if (!shown || !is_told() || stat(trace, &st))
		return;
	bytes = S_ISDIR(st.st_mode) ? add_up(trace) : (uint64_t)st.st_size;
	if (!bytes)
		return;
	t2x_record_split(profiles, start, later, sizeof(start));
	name_all(names, sizeof(names), later);
	t2x_human(size, T2X_HUMAN_SIZE, (double)bytes, 0, 0);
	fprintf(stderr, "t2 record: %s: %s%s%s; t2 %s %s\n", shown, size, *names ? ", samples of " : "", names,
		*names ? "report" : "summary", shown);
}
