/* SPDX-License-Identifier: MIT */
/* Output to a regular file: blocks are allocated for exactly what a large write takes, and only where that is good. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/t2x_preallocate.h"

enum { MIB = 1024 * 1024, SMALL = 64 * 1024 };

/* As the linker sees them, with offsets of 64 bits. */
int __wrap_fstatfs64(int fd, struct statfs *fs);
int __wrap_fallocate64(int fd, int mode, off_t from, off_t bytes);
int __real_fallocate64(int fd, int mode, off_t from, off_t bytes);

/* What the file system is and answers; what it was asked for. */
static struct {
	unsigned long type;
	int error;             /* errno of fallocate(); 0: it is done */
	unsigned calls;
	int mode;
	off_t from, bytes;
} disk;

static char text[MIB];

int __wrap_fstatfs64(int fd, struct statfs *fs)
{
	(void)fd;
	*fs = (struct statfs){ .f_type = (__typeof__(fs->f_type))disk.type };   /* each machine has its own */
	return 0;
}

int __wrap_fallocate64(int fd, int mode, off_t from, off_t bytes)
{
	disk.calls++;
	disk.mode = mode;
	disk.from = from;
	disk.bytes = bytes;
	if (!disk.error)
		__real_fallocate64(fd, mode, from, bytes);   /* whether it can or not */
	errno = disk.error;
	return disk.error ? -1 : 0;
}

/* An empty file on a disk of that type. */
static struct t2x_preallocated open_file(unsigned long type, int flags)
{
	char path[] = "/tmp/test_t2x_preallocate.XXXXXX";
	struct t2x_preallocated file = { .fd = mkstemp(path) };

	assert_true(file.fd >= 0);
	unlink(path);
	assert_int_equal(fcntl(file.fd, F_SETFL, flags), 0);
	memset(&disk, 0, sizeof(disk));
	disk.type = type;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 23);
	return file;
}

static void put(struct t2x_preallocated *file, size_t n)
{
	assert_int_equal(t2x_preallocate_write(file, text, n), 0);
}

/* The latest call was for these bytes, and left the size alone. */
static void expect_allocated(unsigned calls, off_t from, off_t bytes)
{
	assert_int_equal(disk.calls, calls);
	assert_int_equal(disk.from, from);
	assert_int_equal(disk.bytes, bytes);
	assert_int_equal(disk.mode, FALLOC_FL_KEEP_SIZE);
}

/* The file has so many bytes, of which the last n are a text. */
static void expect_file(struct t2x_preallocated *file, off_t size, size_t n)
{
	char *got = malloc(n);

	assert_non_null(got);
	assert_int_equal(lseek(file->fd, 0, SEEK_END), size);
	assert_int_equal(pread(file->fd, got, n, size - (off_t)n), n);
	assert_memory_equal(got, text, n);
	free(got);
	close(file->fd);
}

static void test_preallocate_small_write_allocates_nothing(void **state)
{
	struct t2x_preallocated file = open_file(EXT4_SUPER_MAGIC, 0);

	(void)state;
	put(&file, SMALL);
	put(&file, SMALL);
	assert_int_equal(disk.calls, 0);
	expect_file(&file, 2 * SMALL, SMALL);
}

static void test_preallocate_large_write_allocates_what_it_takes(void **state)
{
	struct t2x_preallocated file = open_file(EXT4_SUPER_MAGIC, 0);
	struct stat st;

	(void)state;
	put(&file, SMALL);
	put(&file, MIB - 5);
	expect_allocated(1, SMALL, MIB - 5);
	put(&file, MIB);
	expect_allocated(2, SMALL + MIB - 5, MIB);
	assert_int_equal(fsync(file.fd), 0);
	assert_int_equal(fstat(file.fd, &st), 0);
	assert_true((uint64_t)st.st_blocks * 512 < 2 * MIB + 2 * SMALL);   /* nothing is left behind the end */
	expect_file(&file, SMALL + 2 * MIB - 5, MIB);
}

static void test_preallocate_position_of_the_descriptor_counts(void **state)
{
	struct t2x_preallocated file = open_file(EXT4_SUPER_MAGIC, 0);

	(void)state;
	put(&file, MIB);
	assert_int_equal(write(dup(file.fd), "others", 6), 6);
	put(&file, MIB);
	expect_allocated(2, MIB + 6, MIB);
	assert_int_equal(lseek(file.fd, 0, SEEK_CUR), 2 * MIB + 6);
	expect_file(&file, 2 * MIB + 6, MIB);
}

static void test_preallocate_appended_file_is_allocated_behind_its_end(void **state)
{
	struct t2x_preallocated file = open_file(EXT4_SUPER_MAGIC, O_APPEND);

	(void)state;
	assert_int_equal(pwrite(file.fd, "before", 6, 0), 6);
	assert_int_equal(lseek(file.fd, 0, SEEK_CUR), 0);
	put(&file, MIB);
	expect_allocated(1, 6, MIB);
	expect_file(&file, MIB + 6, MIB);
}

static void test_preallocate_inside_a_file_keeps_what_is_behind(void **state)
{
	struct t2x_preallocated file = open_file(EXT4_SUPER_MAGIC, 0);
	char got[4] = "";

	(void)state;
	assert_int_equal(pwrite(file.fd, "tail", 4, 3 * MIB), 4);
	put(&file, MIB);
	expect_allocated(1, 0, MIB);
	assert_int_equal(pread(file.fd, got, 4, 3 * MIB), 4);
	assert_memory_equal(got, "tail", 4);
	assert_int_equal(lseek(file.fd, 0, SEEK_END), 3 * MIB + 4);
	close(file.fd);
}

static void test_preallocate_other_file_system_is_not_asked(void **state)
{
	static const unsigned long types[] = { TMPFS_MAGIC, BTRFS_SUPER_MAGIC, XFS_SUPER_MAGIC, NFS_SUPER_MAGIC };

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct t2x_preallocated file = open_file(types[i], 0);

		put(&file, MIB);
		put(&file, MIB);
		assert_int_equal(disk.calls, 0);
		expect_file(&file, 2 * MIB, MIB);
	}
}

static void test_preallocate_full_disk_is_written_and_not_asked_again(void **state)
{
	struct t2x_preallocated file = open_file(EXT4_SUPER_MAGIC, 0);

	(void)state;
	disk.error = ENOSPC;
	put(&file, MIB);
	put(&file, MIB);
	assert_int_equal(disk.calls, 1);
	expect_file(&file, 2 * MIB, MIB);
}

static void test_preallocate_interrupted_is_written_and_asked_again(void **state)
{
	struct t2x_preallocated file = open_file(EXT4_SUPER_MAGIC, 0);

	(void)state;
	disk.error = EINTR;
	put(&file, MIB);
	disk.error = 0;
	put(&file, MIB);
	expect_allocated(2, MIB, MIB);
	expect_file(&file, 2 * MIB, MIB);
}

static void test_preallocate_failed_write_reports_why(void **state)
{
	struct t2x_preallocated file = { .fd = open("/dev/full", O_WRONLY) };

	(void)state;
	memset(&disk, 0, sizeof(disk));
	disk.type = EXT4_SUPER_MAGIC;
	assert_true(file.fd >= 0);
	assert_int_equal(t2x_preallocate_write(&file, text, MIB), ENOSPC);
	close(file.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preallocate_small_write_allocates_nothing),
		cmocka_unit_test(test_preallocate_large_write_allocates_what_it_takes),
		cmocka_unit_test(test_preallocate_position_of_the_descriptor_counts),
		cmocka_unit_test(test_preallocate_appended_file_is_allocated_behind_its_end),
		cmocka_unit_test(test_preallocate_inside_a_file_keeps_what_is_behind),
		cmocka_unit_test(test_preallocate_other_file_system_is_not_asked),
		cmocka_unit_test(test_preallocate_full_disk_is_written_and_not_asked_again),
		cmocka_unit_test(test_preallocate_interrupted_is_written_and_asked_again),
		cmocka_unit_test(test_preallocate_failed_write_reports_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
