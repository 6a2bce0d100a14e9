/* SPDX-License-Identifier: MIT */
/* t2x_in.c - see t2x_in.h. */
#include "t2x_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tlg_ring.h"

enum { READ_BYTES = 128 * 1024 };

static uint64_t bytes_read;       /* by all threads: a statistic, so relaxed is enough */

uint64_t t2x_in_bytes_read(void)
{
	return __atomic_load_n(&bytes_read, __ATOMIC_RELAXED);
}

static ssize_t read_file(void *source, unsigned char *to, size_t room)
{
	struct t2x_in *in = source;
	ssize_t n;

	if (in->is_ring)
		return 0;
	if (room > in->left)
		room = (size_t)in->left;
	do
		n = read(in->fd, to, room);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	in->left -= (uint64_t)n;
	__atomic_fetch_add(&bytes_read, (uint64_t)n, __ATOMIC_RELAXED);
	return n;
}

/*
 * is_file  the path named a regular file before.  It may name a FIFO by now, and open(2) would wait for a writer.
 * Return  0 or -errno; -ESTALE: it is no regular file any more
 */
static int open_path(struct t2x_in *in, const char *path, int is_file)
{
	struct stat st;

	in->name = path;
	in->fd = STDIN_FILENO;
	if (strcmp(path, "-"))
		in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_file ? O_NONBLOCK : 0));
	else
		in->name = "standard input";
	if (in->fd < 0 || fstat(in->fd, &st))
		return -errno;
	in->device = st.st_dev;
	in->inode = st.st_ino;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return is_file && !S_ISREG(st.st_mode) ? -ESTALE : 0;
}

/* Return  1: this is a ring file, named by mistake: it may have gigabytes of holes, and has no blocks */
static int is_ring(struct t2x_in *in)
{
	const uint64_t magic = TLG_RING_MAGIC;
	const unsigned char *bytes;

	return t2x_window_peek(&in->file, sizeof(magic), &bytes) >= sizeof(magic) &&
	       !memcmp(bytes, &magic, sizeof(magic));
}

/* Decide between LZ4 and plain by the first bytes, or, if these are damaged, by whether good frames follow. */
static int start(struct t2x_in *in, size_t seen)
{
	const unsigned char *bytes;
	size_t n = t2x_window_peek(&in->file, 4, &bytes);

	in->lz4 = t2x_lz4_new(&in->file, in->name, in->report);
	if (!in->lz4)
		return -ENOMEM;
	if (t2x_lz4_is_frame(bytes, n) || t2x_lz4_is_ahead(in->lz4)) {
		in->bytes = &in->plain;
		return t2x_window_init(&in->plain, seen, t2x_lz4_fill, in->lz4, T2X_LZ4_ROOM);
	}
	t2x_lz4_free(in->lz4);
	in->lz4 = NULL;
	return t2x_window_resize(&in->file, seen);
}

static int open_input(struct t2x_in *in, const char *path, uint64_t offset, size_t seen, struct t2x_report *report,
		      int is_file)
{
	const unsigned char *bytes;
	int error;

	*in = (struct t2x_in){ .report = report, .base = offset, .left = UINT64_MAX, .bytes = &in->file };
	error = open_path(in, path, is_file);
	if (!error && offset && lseek(in->fd, (off_t)offset, SEEK_SET) < 0)
		error = -errno;
	if (!error)
		error = t2x_window_init(&in->file, T2X_LZ4_SEEN, read_file, in, READ_BYTES);
	if (error)
		goto fail;
	if (!t2x_window_peek(&in->file, 1, &bytes))
		error = -in->file.error;
	in->is_ring = !error && is_ring(in);
	if (!error)
		error = start(in, seen);
	if (!error)
		return 0;
fail:
	t2x_in_close(in);
	return error;
}

int t2x_in_open(struct t2x_in *in, const char *path, size_t seen, struct t2x_report *report)
{
	return open_input(in, path, 0, seen, report, 0);
}

int t2x_in_open_file(struct t2x_in *in, const char *path, uint64_t offset, size_t seen, struct t2x_report *report)
{
	return open_input(in, path, offset, seen, report, 1);
}

void t2x_in_close(struct t2x_in *in)
{
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	t2x_lz4_free(in->lz4);
	t2x_window_free(&in->file);
	t2x_window_free(&in->plain);
	in->lz4 = NULL;
	in->fd = -1;
}

void t2x_in_go(struct t2x_in *in, uint64_t offset, uint64_t plain, uint64_t bytes)
{
	t2x_window_restart(&in->file);
	in->base = 0;
	in->file.offset = offset;
	in->left = lseek(in->fd, (off_t)offset, SEEK_SET) < 0 ? 0 : bytes;
	if (!in->lz4)
		return;
	t2x_window_restart(&in->plain);
	in->plain.offset = plain;
	t2x_lz4_restart(in->lz4, plain);
}

int t2x_in_park(struct t2x_in *in)
{
	struct t2x_window *plain = &in->plain, *file = &in->file;
	size_t unread = plain->end - plain->start;
	uint64_t at = file->offset, dropped;

	if (in->fd <= STDIN_FILENO || file->error || in->bytes->error)
		return 0;
	if (in->lz4 && !t2x_lz4_park(in->lz4, unread, &at, &in->again))
		return 0;
	dropped = file->offset - at + (file->end - file->start);
	in->left += dropped;
	__atomic_fetch_sub(&bytes_read, dropped, __ATOMIC_RELAXED);   /* as it is counted: relaxed is enough */
	t2x_window_park(file, at);
	if (in->lz4)
		t2x_window_park(plain, plain->offset - in->again);
	close(in->fd);
	in->fd = -1;
	return 1;
}

/* The part of the latest frame that has been read comes again.  Return  0 or -errno */
static int repeat(struct t2x_in *in)
{
	const unsigned char *bytes;
	size_t again = in->again;
	int error = t2x_window_restore(&in->plain);

	if (!error)
		error = t2x_lz4_restore(in->lz4);
	in->again = 0;
	if (error || !again)
		return error;
	if (t2x_window_peek(&in->plain, again, &bytes) < again)
		return -ESTALE;
	t2x_window_skip(&in->plain, again);
	return 0;
}

int t2x_in_restore(struct t2x_in *in)
{
	const dev_t device = in->device;
	const ino_t inode = in->inode;
	int error = open_path(in, in->name, 1);

	if (!error && (in->device != device || in->inode != inode))
		error = -ESTALE;
	if (!error && lseek(in->fd, (off_t)(in->base + in->file.offset), SEEK_SET) < 0)
		error = -errno;
	if (!error)
		error = t2x_window_restore(&in->file);
	return !error && in->lz4 ? repeat(in) : error;
}

void t2x_in_report_to(struct t2x_in *in, struct t2x_report *report)
{
	in->report = report;
	if (in->lz4)
		t2x_lz4_report_to(in->lz4, in->name, report);
}

void t2x_in_set_name(struct t2x_in *in, const char *name)
{
	in->name = name;
	t2x_in_report_to(in, in->report);
}

int t2x_in_is_break(const struct t2x_in *in)
{
	return in->lz4 && t2x_lz4_is_break(in->lz4);
}

int t2x_in_next_piece(struct t2x_in *in)
{
	if (!t2x_in_is_break(in))
		return 0;
	t2x_window_restart(in->bytes);
	return 1;
}

int t2x_in_error(const struct t2x_in *in)
{
	return in->bytes->error;
}

const char *t2x_in_unit(const struct t2x_in *in)
{
	return in->lz4 ? "uncompressed byte" : "byte";
}
