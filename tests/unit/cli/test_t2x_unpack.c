/* SPDX-License-Identifier: MIT */
/* An archive becomes files: in whatever pieces it comes, only where nothing is, and nameless while it is not whole. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/t2x_unpack.h"
#include "export/t2x_ctf_metadata.h"

enum { ARCHIVE_BYTES = 8192, TEXT_BYTES = 1500 };

static char archive[ARCHIVE_BYTES];
static size_t archive_bytes;
static char path[] = "/tmp/test_t2x_unpack.XXXXXX";

static int add_to_archive(void *unused, const char *text, size_t n)
{
	(void)unused;
	memcpy(archive + archive_bytes, text, n);
	archive_bytes += n;
	return 0;
}

/* Three files: a text, one of exactly a block, an empty one. */
static int make_archive(void **state)
{
	static unsigned char text[TEXT_BYTES];
	struct t2x_out out;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(t2x_out_init_fn(&out, add_to_archive, NULL), 0);
	t2x_ctf_tar_file(&out, "first", &(struct t2x_bytes){ .bytes = text, .n = TEXT_BYTES });
	t2x_ctf_tar_file(&out, "metadata", &(struct t2x_bytes){ .bytes = text, .n = T2X_UNPACK_BLOCK });
	t2x_ctf_tar_file(&out, "third", &(struct t2x_bytes){ .bytes = text, .n = 0 });
	t2x_ctf_tar_end(&out);
	assert_int_equal(t2x_out_flush(&out), 0);
	t2x_out_free(&out);
	assert_non_null(mkdtemp(path));
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(path);
}

/* Its size, or -1; it is removed. */
static long take_file(int directory, const char *name)
{
	struct stat st;
	long size = fstatat(directory, name, &st, 0) ? -1 : (long)st.st_size;

	unlinkat(directory, name, 0);
	return size;
}

static void test_unpack_pieces_of_any_size_become_the_files(void **state)
{
	static const size_t pieces[] = { 1, 7, 511, 512, 513, ARCHIVE_BYTES };
	struct t2x_unpack unpack;

	(void)state;
	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		int directory = t2x_unpack_open(path);

		assert_true(directory >= 0);
		t2x_unpack_init(&unpack, directory);
		for (size_t at = 0, n; at < archive_bytes; at += n) {
			n = archive_bytes - at < pieces[i] ? archive_bytes - at : pieces[i];
			assert_int_equal(t2x_unpack_write(&unpack, archive + at, n), 0);
		}
		assert_int_equal(t2x_unpack_finish(&unpack, 1), 0);
		assert_int_equal(take_file(directory, "first"), TEXT_BYTES);
		assert_int_equal(take_file(directory, "metadata"), T2X_UNPACK_BLOCK);
		assert_int_equal(take_file(directory, "third"), 0);
		assert_int_equal(take_file(directory, ".metadata"), -1);
		close(directory);
	}
}

static void test_unpack_not_whole_gives_no_name_to_the_metadata(void **state)
{
	int directory = t2x_unpack_open(path);
	struct t2x_unpack unpack;

	(void)state;
	t2x_unpack_init(&unpack, directory);
	assert_int_equal(t2x_unpack_write(&unpack, archive, archive_bytes), 0);
	assert_int_equal(t2x_unpack_finish(&unpack, 0), 0);
	assert_int_equal(take_file(directory, "metadata"), -1);
	assert_int_equal(take_file(directory, ".metadata"), T2X_UNPACK_BLOCK);
	take_file(directory, "first");
	take_file(directory, "third");
	close(directory);
}

static void test_unpack_directory_that_has_a_file_is_refused(void **state)
{
	int directory = t2x_unpack_open(path);

	(void)state;
	close(openat(directory, "foreign", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(t2x_unpack_open(path), -ENOTEMPTY);
	assert_int_equal(take_file(directory, "foreign"), 0);
	close(directory);
}

static void test_unpack_file_that_has_come_meanwhile_is_not_overwritten(void **state)
{
	int directory = t2x_unpack_open(path);
	struct t2x_unpack unpack;

	(void)state;
	t2x_unpack_init(&unpack, directory);
	close(openat(directory, "first", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(t2x_unpack_write(&unpack, archive, archive_bytes), EEXIST);
	assert_int_equal(t2x_unpack_finish(&unpack, 0), 0);
	assert_int_equal(take_file(directory, "first"), 0);
	take_file(directory, ".metadata");
	close(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unpack_pieces_of_any_size_become_the_files),
		cmocka_unit_test(test_unpack_not_whole_gives_no_name_to_the_metadata),
		cmocka_unit_test(test_unpack_directory_that_has_a_file_is_refused),
		cmocka_unit_test(test_unpack_file_that_has_come_meanwhile_is_not_overwritten),
	};

	return cmocka_run_group_tests(tests, make_archive, remove_directory);
}
