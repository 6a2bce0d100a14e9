/* SPDX-License-Identifier: MIT */
/* t2x_preallocate.c - see t2x_preallocate.h. */
#include "t2x_preallocate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/t2x_out.h"

enum { LEAST_BYTES = 256 * 1024 };        /* for less the call costs more than it saves */

static void ask(struct t2x_preallocated *file)
{
	int flags = fcntl(file->fd, F_GETFL);
	struct statfs fs;

	file->state = flags < 0 || fstatfs(file->fd, &fs) || fs.f_type != EXT4_SUPER_MAGIC ? T2X_PREALLOCATE_OFF
											  : T2X_PREALLOCATE_ON;
	file->is_appended = flags & O_APPEND;
}

/* Where the next write will begin, if nobody else writes first.  Return  -1: it cannot be known */
static off_t next_byte(const struct t2x_preallocated *file)
{
	struct stat st;

	if (!file->is_appended)
		return lseek(file->fd, 0, SEEK_CUR);
	return fstat(file->fd, &st) ? -1 : st.st_size;
}

static void allocate(struct t2x_preallocated *file, size_t n)
{
	off_t from = next_byte(file);

	if (from < 0 || (fallocate(file->fd, FALLOC_FL_KEEP_SIZE, from, (off_t)n) && errno != EINTR))
		file->state = T2X_PREALLOCATE_OFF;
}

int t2x_preallocate_write(void *target, const char *text, size_t n)
{
	struct t2x_preallocated *file = target;

	if (n >= LEAST_BYTES) {
		if (file->state == T2X_PREALLOCATE_UNKNOWN)
			ask(file);
		if (file->state == T2X_PREALLOCATE_ON)
			allocate(file, n);
	}
	return t2x_out_write_all(file->fd, text, n);
}
