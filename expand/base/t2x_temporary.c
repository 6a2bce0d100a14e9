/* SPDX-License-Identifier: MIT */
/* t2x_temporary.c - see t2x_temporary.h. */
#include "t2x_temporary.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int t2x_temporary_open(void)
{
	const char *set = getenv("TMPDIR"), *directory = set && *set ? set : "/var/tmp";
	char path[PATH_MAX];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || snprintf(path, sizeof(path), "%s/t2expand.XXXXXX", directory) >= (int)sizeof(path))
		return fd;
	fd = mkostemp(path, O_CLOEXEC);   /* not all file systems support O_TMPFILE */
	if (fd >= 0)
		unlink(path);
	return fd;
}
