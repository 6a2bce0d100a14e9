/* SPDX-License-Identifier: MIT */
/* t2x_record_place.c - see t2x_record_place.h. */
#include "t2x_record_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_status.h"
#include "base/t2x_report.h"

/* Return  the exit status */
static int fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", t2x_report_name(), what, why);
	return T2X_EXIT_UNUSABLE;
}

/* A directory, if its name ends like one, is made; of a file it is tried whether the library will be able to. */
static int make_new(const char *path)
{
	int fd;

	if (path[strlen(path) - 1] == '/')
		return mkdir(path, 0777) ? fail(path, strerror(errno)) : 0;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return fail(path, strerror(errno));
	close(fd);
	return unlink(path) ? fail(path, strerror(errno)) : 0;
}

/* A trace of an earlier run is replaced, anything else is not; in a directory each process has a file of its own. */
static int make_place(const char *path)
{
	const char *suffix = strrchr(path, '.');
	struct stat st;

	if (stat(path, &st))
		return make_new(path);
	if (S_ISDIR(st.st_mode))
		return 0;
	if (!suffix || strcmp(suffix, ".tlg") || !S_ISREG(st.st_mode))
		return fail(path, "exists, and is not named as a trace, .tlg");
	return unlink(path) ? fail(path, strerror(errno)) : 0;
}

int t2x_record_place(char path[PATH_MAX], const char *output, const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
	char here[PATH_MAX] = "";
	int n;

	if ((!output || *output != '/') && !getcwd(here, sizeof(here)))
		return fail("this directory", strerror(errno));
	n = snprintf(path, PATH_MAX, "%s%s%s%s", here, *here ? "/" : "", output ? output : name,
		     output ? "" : ".tlg");
	if (n < 0 || n >= PATH_MAX)
		return fail(program, strerror(ENAMETOOLONG));
	return make_place(path);
}
