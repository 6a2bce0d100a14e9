/* SPDX-License-Identifier: MIT */
/* t2x_stored.c - see t2x_stored.h. */
#include "t2x_stored.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "t2x_parcel.h"
#include "base/t2x_out.h"
#include "read/t2x_lz4.h"
#include "read/t2x_lz4_unit.h"

enum { LINE = 160 };

/* ---- reading what is there ---------------------------------------------------------------------- */

/* Find the number of the last block of a frame.  Return  0: the frame is damaged */
static uint32_t last_of_frame(const struct t2x_stored_file *file, uint64_t at, size_t n)
{
	unsigned char *marked = malloc(n), *plain = malloc(TLG_FRAME_BYTES);
	struct t2x_parcel_block block = { .number = 0 };
	size_t bytes = 0;

	if (marked && plain && n <= T2X_ENVELOPE_MESSAGE && pread(file->blocks, marked, n, (off_t)at) == (ssize_t)n)
		bytes = t2x_parcel_unpack(plain, marked, n);
	for (size_t i = 0; i < bytes; i += block.bytes)
		if (!t2x_parcel_block(&block, file->stream, plain + i, bytes - i)) {
			block.number = 0;
			break;
		}
	free(marked);
	free(plain);
	return block.number;
}

static int open_one(const struct t2x_stored_file *file, int directory, const char *suffix, int flags)
{
	char name[T2X_STORED_NAME + 8];
	int fd;

	snprintf(name, sizeof(name), "%s.%s", file->name, suffix);
	fd = openat(directory, name, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0640);
	return fd < 0 ? -errno : fd;
}

/*
 * Truncate a file, and append what it loses to another one: mostly that is a frame that was being written in a power
 * cut, but who knows.
 */
static int cut(const struct t2x_stored_file *file, int directory, int fd, uint64_t at, uint64_t end)
{
	int to = open_one(file, directory, "cut", O_CREAT | O_APPEND);
	char bytes[4096];
	ssize_t n;

	if (to < 0)
		return to;
	for (uint64_t from = at; from < end; from += (uint64_t)n) {
		n = pread(fd, bytes, sizeof(bytes), (off_t)from);
		if (n <= 0 || t2x_out_write_all(to, bytes, (size_t)n))
			break;
	}
	close(to);
	return ftruncate(fd, (off_t)at) ? -errno : 0;
}

/* Step over the frames that are new, and truncate the file behind the last one that is whole. */
static int read_blocks(struct t2x_stored_file *file, int directory)
{
	struct t2x_lz4_steps steps = { .fd = file->blocks };
	struct t2x_lz4_unit unit;
	struct stat st;
	uint32_t last;

	if (fstat(file->blocks, &st))
		return -errno;
	/* Somebody has removed or truncated it. */
	if (!st.st_nlink || (uint64_t)st.st_size < file->bytes)
		return -ESTALE;
	while (file->bytes < (uint64_t)st.st_size && t2x_lz4_unit_at(&steps, file->bytes, &unit) > 0 &&
	       file->bytes + unit.bytes <= (uint64_t)st.st_size) {
		last = last_of_frame(file, file->bytes, (size_t)unit.bytes);
		if (!last || unit.stream != file->stream)
			break;
		file->bytes += unit.bytes;
		file->frames++;
		if (last > file->last)
			file->last = last;
	}
	return file->bytes < (uint64_t)st.st_size ?
		       cut(file, directory, file->blocks, file->bytes, (uint64_t)st.st_size) : 0;
}

/* The same for lines: "FIRST LAST EVENTS REASON". */
static int read_gaps(struct t2x_stored_file *file, int directory)
{
	char line[LINE + 1], *end;
	uint32_t first, last;
	struct stat st;
	ssize_t n;

	if (fstat(file->gaps, &st))
		return -errno;
	if (!st.st_nlink || (uint64_t)st.st_size < file->gap_bytes)
		return -ESTALE;
	while ((n = pread(file->gaps, line, LINE, (off_t)file->gap_bytes)) > 0) {
		line[n] = '\0';
		end = strchr(line, '\n');
		if (!end || sscanf(line, "%" SCNu32 " %" SCNu32 " ", &first, &last) != 2 || last < first)
			break;
		file->gap_bytes += (uint64_t)(end + 1 - line);
		if (last > file->last)
			file->last = last;
	}
	if (n < 0)
		return -errno;
	return file->gap_bytes < (uint64_t)st.st_size ?
		       cut(file, directory, file->gaps, file->gap_bytes, (uint64_t)st.st_size) : 0;
}

int t2x_stored_refresh(struct t2x_stored_file *file, int directory)
{
	uint64_t bytes, gap_bytes;
	int error = 0, fd;

	if (file->blocks < 0) {
		fd = open_one(file, directory, "tlg", 0);
		if (fd < 0 && fd != -ENOENT)
			return fd;
		file->blocks = fd < 0 ? -1 : fd;
	}
	if (file->gaps < 0) {
		fd = open_one(file, directory, "gaps", 0);
		if (fd < 0 && fd != -ENOENT)
			return fd;
		file->gaps = fd < 0 ? -1 : fd;
	}
	bytes = file->bytes;
	gap_bytes = file->gap_bytes;
	if (file->blocks >= 0)
		error = read_blocks(file, directory);
	if (!error && file->gaps >= 0)
		error = read_gaps(file, directory);
	/* What somebody else has appended is not ours to remove, whatever happens to it. */
	if (!error && file->bytes > bytes)
		file->synced = file->bytes;
	if (!error && file->gap_bytes > gap_bytes)
		file->gap_synced = file->gap_bytes;
	return error;
}

void t2x_stored_init(struct t2x_stored_file *file, const struct t2x_envelope *head)
{
	/* Whoever was here before may not have come to sync it: neither a file nor its name. */
	*file = (struct t2x_stored_file){ .blocks = -1, .gaps = -1, .stream = head->stream, .pid = head->pid,
					  .is_new = 1 };
	snprintf(file->name, sizeof(file->name), "%" PRIu32 "-%08" PRIx32, head->pid, head->stream);
}

void t2x_stored_close(struct t2x_stored_file *file)
{
	if (file->blocks >= 0)
		close(file->blocks);
	if (file->gaps >= 0)
		close(file->gaps);
	file->blocks = file->gaps = -1;
}

/* ---- appending ---------------------------------------------------------------------------------- */

/* Return  0 or -errno: the file has its old size */
static int append(int fd, uint64_t at, const struct iovec *pieces, int npieces)
{
	ssize_t want = 0, n = pwritev(fd, pieces, npieces, (off_t)at);
	int error = n < 0 ? -errno : 0;

	for (int i = 0; i < npieces; i++)
		want += (ssize_t)pieces[i].iov_len;
	if (!error && n == want)
		return 0;
	/* A short write means a full disk, mostly. */
	if (ftruncate(fd, (off_t)at))
		return -errno;
	return error ? error : -ENOSPC;
}

static int make_one(struct t2x_stored_file *file, int directory, const char *suffix, int *fd)
{
	int made;

	if (*fd >= 0)
		return 0;
	made = open_one(file, directory, suffix, O_CREAT);
	if (made < 0)
		return made;
	*fd = made;
	file->is_new = 1;
	return 0;
}

int t2x_stored_append(struct t2x_stored_file *file, int directory, const unsigned char *frame, size_t n,
		      size_t plain_bytes, uint32_t last)
{
	unsigned char mark[T2X_LZ4_MARK_BYTES];
	const struct iovec pieces[] = { { mark, sizeof(mark) }, { (void *)(uintptr_t)frame, n } };
	int error = make_one(file, directory, "tlg", &file->blocks);

	t2x_parcel_mark(mark, file->stream, file->frames + 1, plain_bytes);
	if (!error)
		error = append(file->blocks, file->bytes, pieces, 2);
	if (error)
		return error;
	file->bytes += sizeof(mark) + n;
	file->frames++;
	file->last = last;
	return 0;
}

int t2x_stored_gap(struct t2x_stored_file *file, int directory, const struct t2x_envelope *head)
{
	char line[LINE];
	uint32_t first = head->first > file->last ? head->first : file->last + 1;
	struct iovec piece = { line, 0 };
	int error = make_one(file, directory, "gaps", &file->gaps);

	piece.iov_len = (size_t)snprintf(line, sizeof(line), "%" PRIu32 " %" PRIu32 " %" PRIu64 " %s\n", first,
					 head->last, head->events, t2x_gap_reason_name(head->reason));
	if (!error)
		error = append(file->gaps, file->gap_bytes, &piece, 1);
	if (error)
		return error;
	file->gap_bytes += piece.iov_len;
	file->last = head->last;
	return 0;
}

/* ---- syncing ------------------------------------------------------------------------------------ */

/* A directory that was made a moment ago needs its own parents synced: of the day, the host and the store. */
static int sync_directories(int directory)
{
	int error = fsync(directory) ? -errno : 0;
	int host = openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int store = host < 0 ? -1 : openat(host, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!error && (host < 0 || store < 0 || fsync(host) || fsync(store)))
		error = -errno;
	if (host >= 0)
		close(host);
	if (store >= 0)
		close(store);
	return error;
}

/* Remove what was appended and is not synced, unless somebody else has appended to it since. */
static void take_back(int fd, uint64_t synced, uint64_t bytes)
{
	struct stat st;

	if (fd < 0 || synced >= bytes || fstat(fd, &st) || (uint64_t)st.st_size != bytes)
		return;
	if (ftruncate(fd, (off_t)synced))
		return;                   /* the disk is failing: nothing was receipted */
}

void t2x_stored_take_back(const struct t2x_stored_file *file)
{
	take_back(file->blocks, file->synced, file->bytes);
	take_back(file->gaps, file->gap_synced, file->gap_bytes);
}

int t2x_stored_sync(struct t2x_stored_file *file, int directory)
{
	if ((file->blocks >= 0 && fdatasync(file->blocks)) || (file->gaps >= 0 && fdatasync(file->gaps)))
		return -errno;
	if (file->is_new) {
		int error = sync_directories(directory);

		if (error)
			return error;
	}
	file->synced = file->bytes;
	file->gap_synced = file->gap_bytes;
	file->is_new = 0;
	return 0;
}
