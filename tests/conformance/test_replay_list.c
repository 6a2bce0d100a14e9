/* SPDX-License-Identifier: MIT */
/* The reader of call lists: what reaches the calls is what the list says, and a wrong list is refused. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay_list.h"

static void call_nothing(const struct replay_line *line)
{
	(void)line;
}

static const struct replay_kind kinds[] = {
	{ "text", 1, "s?sss", call_nothing },
	{ "rest", 1, "s*", call_nothing },
	{ "numbers", 0, "imu", call_nothing },
	{ "slots", 0, "cr", call_nothing },
	{ REPLAY_THREAD, 0, "", NULL },
	{ REPLAY_JOIN, 0, "", NULL },
	{ NULL, 0, NULL, NULL },
};

/* Lists are kept until the process ends, as the program under test keeps its own. */
static struct replay_list kept[64];
static unsigned nkept;

/* Read text as a list.  Return what replay_list_read() returns. */
static int read_text(const char *text)
{
	char path[] = "/tmp/test_replay_list.XXXXXX";
	int fd = mkstemp(path), rc;
	size_t length = strlen(text);

	assert_true(fd >= 0);
	assert_true(nkept < sizeof(kept) / sizeof(*kept));
	assert_int_equal(write(fd, text, length), (ssize_t)length);
	close(fd);
	rc = replay_list_read(&kept[nkept++], path, kinds);
	unlink(path);
	return rc;
}

static const struct replay_line *line(size_t index)
{
	const struct replay_list *list = &kept[nkept - 1];

	assert_true(index < list->count);
	return &list->lines[index];
}

static void test_read_words_are_unescaped(void **state)
{
	(void)state;
	assert_int_equal(read_text("text m.c 7 a\\sb\\t\\n\\\\\\xc3\\xA9 \"\" NULL ''\n"), 0);
	assert_string_equal(line(0)->file, "m.c");
	assert_int_equal(line(0)->line, 7);
	assert_int_equal(line(0)->count, 4);
	assert_string_equal(line(0)->text[0], "a b\t\n\\\xc3\xa9");
	assert_string_equal(line(0)->text[1], "");
	assert_null(line(0)->text[2]);
	assert_string_equal(line(0)->text[3], "''");
	assert_null(line(0)->text[4]);
}

static void test_read_file_may_be_null_or_empty(void **state)
{
	(void)state;
	assert_int_equal(read_text("# comment\n\ntext NULL -5 x\ntext \"\" 6 x"), 0);
	assert_int_equal(kept[nkept - 1].count, 2);
	assert_null(line(0)->file);
	assert_int_equal(line(0)->line, -5);
	assert_int_equal(line(0)->number, 3);
	assert_string_equal(line(1)->file, "");
}

static void test_read_rest_ends_with_null(void **state)
{
	(void)state;
	assert_int_equal(read_text("rest m.c 1 exe\nrest m.c 2 exe a b c d e f g\n"), 0);
	assert_null(line(0)->text[1]);
	assert_string_equal(line(1)->text[7], "g");
	assert_null(line(1)->text[8]);
}

static void test_read_numbers_keep_their_extremes(void **state)
{
	(void)state;
	assert_int_equal(read_text("numbers -2147483648 -9223372036854775808 18446744073709551615\n"
				   "slots 63 NULL\nslots 0 5\n"), 0);
	assert_true(line(0)->value[0] == INT32_MIN);
	assert_true(line(0)->value[1] == INT64_MIN);
	assert_true((uint64_t)line(0)->value[2] == UINT64_MAX);
	assert_int_equal(line(1)->value[0], 63);
	assert_true(line(1)->value[1] == -1);
	assert_int_equal(line(2)->value[1], 5);
}

static void test_read_blocks_nest(void **state)
{
	(void)state;
	assert_int_equal(read_text("thread\nthread\njoin\nthread\njoin\njoin\n"), 0);
	assert_int_equal(line(0)->join, 5);
	assert_int_equal(line(1)->join, 2);
	assert_int_equal(line(3)->join, 4);
}

static void test_text_absent_is_null(void **state)
{
	(void)state;
	assert_int_equal(read_text("text m.c 1 a b\n"), 0);
	assert_string_equal(replay_text(line(0), 1), "b");
	assert_null(replay_text(line(0), 2));
	assert_null(replay_text(line(0), 100));
}

static void test_read_malformed_is_refused(void **state)
{
	static const char *const lists[] = {
		"nonsense m.c 1\n", "NULL\n", "text\n", "text m.c\n", "text m.c 1\n", "text m.c x a\n",
		"text m.c 1 a b c d e\n", "text m.c 1 a\\q\n", "text m.c 1 a\\x4\n", "text m.c 1 a\\\n",
		"text m.c 99999999999 a\n", "numbers 1 2\n", "numbers 1 2 3 4\n", "numbers 1x 2 3\n",
		"numbers 1 2 18446744073709551616\n", "numbers \"\" 2 3\n", "numbers NULL 2 3\n",
		"slots 64 0\n", "slots -1 0\n", "slots 0 64\n", "thread\n", "join\n", "thread\njoin\njoin\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		if (read_text(lists[i]) != -1)
			fail_msg("accepted: %s", lists[i]);
	}
}

static void test_read_missing_file_is_refused(void **state)
{
	(void)state;
	assert_int_equal(replay_list_read(&kept[nkept++], "/nonexistent/list", kinds), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_words_are_unescaped),
		cmocka_unit_test(test_read_file_may_be_null_or_empty),
		cmocka_unit_test(test_read_rest_ends_with_null),
		cmocka_unit_test(test_read_numbers_keep_their_extremes),
		cmocka_unit_test(test_read_blocks_nest),
		cmocka_unit_test(test_text_absent_is_null),
		cmocka_unit_test(test_read_malformed_is_refused),
		cmocka_unit_test(test_read_missing_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
