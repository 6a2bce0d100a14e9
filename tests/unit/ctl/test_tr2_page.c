/* SPDX-License-Identifier: MIT */
/* test_tr2_page.c - the control page: commands and answers, and pages that others have filled with anything. */
#include "t2test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl/tr2_page.h"
#include "live/t2x_ctl_page.h"
#include "traced.h"

static char path[512];            /* of the page of this process */

/* The file of the page.  Return  how many there are */
static int find_path(void)
{
	DIR *stream = opendir(t.dir);
	struct dirent *entry;
	int n = 0;

	assert_non_null(stream);
	while ((entry = readdir(stream)))
		if (strlen(entry->d_name) == 44 && !strcmp(entry->d_name + 40, ".ctl")) {
			snprintf(path, sizeof(path), "%s/%s", t.dir, entry->d_name);
			n++;
		}
	closedir(stream);
	return n;
}

static struct tlg_ctl *map_page(void)
{
	int fd = open(path, O_RDWR);
	void *mapping;

	assert_true(fd >= 0);
	mapping = mmap(NULL, TLG_CTL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_ptr_not_equal(mapping, MAP_FAILED);
	return mapping;
}

static void ask_for_page(void)
{
	setenv("TRACE2_CTL", "1", 1);
	tr2_page_read_setting();
}

/* In a child process, so that each test has a page of its own.  Return  1: it ended well */
static int in_child(void (*run)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		traced_into(&t);
		ask_for_page();
		if (tr2_page_open() || find_path() != 1)
			_exit(3);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status == 0;
}

static void give(struct tlg_ctl *page, const char *command, uint32_t number)
{
	memcpy(page->command, command, strlen(command));
	page->command_bytes = (uint32_t)strlen(command);
	page->asked = number;
}

static void must(int holds)
{
	if (!holds)
		_exit(4);
}

static void split_words(void)
{
	struct tlg_ctl *page = map_page();
	struct tr2_asked asked;

	must(!tr2_page_is_asked() && !tr2_page_take(&asked));
	give(page, "on a\\ b\\\\c d", 7);
	must(tr2_page_is_asked() && tr2_page_take(&asked));
	must(asked.number == 7 && asked.nwords == 3);
	must(!strcmp(asked.words[1], "a b\\c") && !strcmp(asked.words[2], "d"));
	tr2_page_answer(&asked, TLG_CTL_DONE, "yes");
	must(page->answered == 7 && page->kind == TLG_CTL_DONE && page->answer_bytes == 3 &&
	     !memcmp(page->answer, "yes", 3));
	must(!tr2_page_is_asked() && !tr2_page_take(&asked));
}

static void test_page_command_with_escaped_words_is_split(void **state)
{
	(void)state;
	assert_true(in_child(split_words));
}

static void refuse_what_is_none(void)
{
	static const char *const none[] = {
		"", " ", "on ", "on\\", "on\n", "a b c d e f g h i j k l m n o p q", "\x7f"
	};
	struct tlg_ctl *page = map_page();
	struct tr2_asked asked;
	uint32_t number = 1;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++, number++) {
		give(page, none[i], number);
		/* words that are empty are words: " " is none because it ends with a blank */
		must(!tr2_page_take(&asked) && page->answered == number && page->kind == TLG_CTL_ERROR);
	}
	give(page, "on", number);
	page->command_bytes = UINT32_MAX;
	must(!tr2_page_take(&asked) && page->kind == TLG_CTL_ERROR && page->answered == number);
}

static void test_page_what_is_no_command_is_answered_with_an_error(void **state)
{
	(void)state;
	assert_true(in_child(refuse_what_is_none));
}

static void take_random_pages(void)
{
	unsigned char *page = (unsigned char *)map_page();
	struct tr2_asked asked;
	unsigned seed = 1;

	for (int i = 0; i < 20000; i++) {
		for (int n = rand_r(&seed) % 64; n >= 0; n--)
			page[(unsigned)rand_r(&seed) % TLG_CTL_BYTES] = (unsigned char)(rand_r(&seed) >> 8);
		if (rand_r(&seed) % 2)
			((struct tlg_ctl *)(void *)page)->command_bytes =
				(uint32_t)rand_r(&seed) % (TLG_CTL_COMMAND + 9);
		if (!tr2_page_take(&asked))
			continue;
		must(asked.nwords > 0 && asked.nwords <= TLG_CTL_WORDS);
		for (int word = 0; word < asked.nwords; word++)
			must(asked.words[word] >= asked.text && asked.words[word] < asked.text + sizeof(asked.text) &&
			     strlen(asked.words[word]) < sizeof(asked.text));
		tr2_page_answer(&asked, TLG_CTL_DONE, "done");
	}
}

static void test_page_random_pages_give_bounded_words_or_nothing(void **state)
{
	(void)state;
	assert_true(in_child(take_random_pages));
}

static void truncate_page(void)
{
	const struct timespec shortly = { 0, 1000000 };
	struct tr2_asked asked = { .number = 1 };
	uint32_t own = 0, bell = tr2_page_listen();

	must(!truncate(path, 0));
	tr2_page_wait(bell, &own, 0, &shortly);
	tr2_page_answer(&asked, TLG_CTL_DONE, "text");
	must(!tr2_page_is_asked() && !tr2_page_take(&asked) && !tr2_page_is_open() && access(path, F_OK));
	tr2_page_wake(&own);
	tr2_page_wait(tr2_page_listen(), &own, 0, &shortly);
}

static void test_page_truncated_file_raises_no_signal_and_is_given_up(void **state)
{
	(void)state;
	assert_true(in_child(truncate_page));
}

static void ring_for_nothing(void)
{
	struct tlg_ctl *page = map_page();
	const struct timespec shortly = { 0, 100000 };
	uint32_t own = 0;
	int n;

	for (n = 0; n < 100000 && tr2_page_is_open(); n++) {
		uint32_t bell = tr2_page_listen();
		page->bell++;
		tr2_page_wait(bell, &own, 0, &shortly);
	}
	must(n > 1000 && n < 100000);
}

static void test_page_that_rings_without_end_is_closed(void **state)
{
	(void)state;
	assert_true(in_child(ring_for_nothing));
}

static void has_private_page(void)
{
	struct stat st;

	must(!stat(path, &st) && st.st_size == TLG_CTL_BYTES && (st.st_mode & 07777) == 0600 && st.st_nlink == 1);
	tr2_page_close();
	must(stat(path, &st) && errno == ENOENT);
}

static void test_page_file_is_its_user_s_alone_and_is_removed_at_the_end(void **state)
{
	(void)state;
	umask(0);
	assert_true(in_child(has_private_page));
}

/* ---- the other side ------------------------------------------------------------------------------ */

/* A process whose page has answers that are none, at any moment.  It ends with the pipe. */
static _Noreturn void be_hostile(int fd)
{
	struct tlg_ctl *page;
	unsigned seed = 2;
	char byte;

	traced_into(&t);
	ask_for_page();
	if (tr2_page_open() || find_path() != 1)
		_exit(3);
	page = map_page();
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (read(fd, &byte, 1) < 0) {
		uint32_t *words = &page->bell;

		words[rand_r(&seed) % 6] = (uint32_t)rand_r(&seed) * 3;
		page->answered = page->asked;
		page->kind = (uint32_t)rand_r(&seed) % 6;
		page->answer_bytes = (uint32_t)rand_r(&seed) % 4000;
		page->answer[rand_r(&seed) % TLG_CTL_ANSWER] = (char)(rand_r(&seed) >> 8);
		if (rand_r(&seed) % 10000 == 0)
			(void)!truncate(path, rand_r(&seed) % 2 ? 4096 : 4097);
	}
	_exit(0);
}

static void test_page_random_answers_are_bounded_or_refused(void **state)
{
	static const char *const words[] = { "status" };
	int fds[2], answers = 0, status;
	struct t2x_ctl_answer answer;
	struct t2x_ctl_page page;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (!child) {
		close(fds[1]);
		be_hostile(fds[0]);
	}
	close(fds[0]);
	for (int i = 0; i < 3000 && !find_path(); i++)
		usleep(1000);
	for (int tries = 0; answers < 100 && tries < 3000; tries++) {
		if (t2x_ctl_page_open(&page, path, (uint32_t)child)) {
			usleep(1000);   /* it is too short for a while */
			continue;
		}
		t2x_ctl_page_ask(&page, words, 1, 10, &answer);
		t2x_ctl_page_close(&page);
		assert_in_range(answer.kind, TLG_CTL_DONE, TLG_CTL_LATER);
		assert_non_null(memchr(answer.text, '\0', sizeof(answer.text)));
		answers++;
	}
	close(fds[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(answers > 0);
}

/* The page of one process, under the id of another one. */
static void test_page_of_another_process_is_refused(void **state)
{
	struct t2x_ctl_page page = { .fd = -1, .directory = -1, .process = -1 };
	pid_t child;
	int status;

	(void)state;
	child = fork();
	if (!child) {
		traced_into(&t);
		ask_for_page();
		if (tr2_page_open())
			_exit(3);
		pause();
	}
	for (int i = 0; i < 3000 && (!find_path() || t2x_ctl_page_open(&page, path, (uint32_t)child)); i++)
		usleep(1000);   /* the file is there before what is in it */
	t2x_ctl_page_close(&page);
	assert_non_null(strstr(t2x_ctl_page_open(&page, path, (uint32_t)getpid()), "no control page"));
	assert_null(t2x_ctl_page_open(&page, path, (uint32_t)child));
	t2x_ctl_page_close(&page);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_string_equal(t2x_ctl_page_open(&page, path, (uint32_t)child), "there is no such process");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_page_command_with_escaped_words_is_split),
		TRACED_TEST(test_page_what_is_no_command_is_answered_with_an_error),
		TRACED_TEST(test_page_random_pages_give_bounded_words_or_nothing),
		TRACED_TEST(test_page_truncated_file_raises_no_signal_and_is_given_up),
		TRACED_TEST(test_page_that_rings_without_end_is_closed),
		TRACED_TEST(test_page_file_is_its_user_s_alone_and_is_removed_at_the_end),
		TRACED_TEST(test_page_random_answers_are_bounded_or_refused),
		TRACED_TEST(test_page_of_another_process_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
