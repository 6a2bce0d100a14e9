/* SPDX-License-Identifier: MIT */
/* t2x_preallocate.c - see t2x_preallocate.h. */
#include "t2x_preallocate.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/t2x_out.h"

enum {
	FIRST_BYTES = 1024 * 1024,        /* a file that is smaller is left alone */
	STEP_BYTES = 16 * 1024 * 1024,
};

static void allocate(struct t2x_preallocated *file)
{
	uint64_t from = file->allocated ? file->allocated : file->written;

	if (fallocate(file->fd, FALLOC_FL_KEEP_SIZE, (off_t)from, STEP_BYTES))
		file->is_off = 1;
	else
		file->allocated = from + STEP_BYTES;
}

int t2x_preallocate_write(void *target, const char *text, size_t n)
{
	struct t2x_preallocated *file = target;
	int error;

	if (file->written >= FIRST_BYTES && file->written + n > file->allocated && !file->is_off)
		allocate(file);
	error = t2x_out_write_all(file->fd, text, n);
	file->written += n;
	return error;
}

int t2x_preallocate_finish(struct t2x_preallocated *file)
{
	off_t end = lseek(file->fd, 0, SEEK_CUR);

	if (!file->allocated)
		return 0;
	return end < 0 || ftruncate(file->fd, end) ? errno : 0;
}
