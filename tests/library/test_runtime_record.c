/* SPDX-License-Identifier: MIT */
/* What a traced program records: one event a region, whole chains, every thread, exact counts. */
#include "t2test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "flood.h"
#include "trace2.h"
#include "traced.h"

/* Run a program and read what it recorded, which must be sound. */
static void record(int (*program)(void *), void *data, const char *const *settings)
{
	traced_run(&t, program, data, settings);
	assert_int_equal(t.status, 0);
	if (!strstr(t.said, "False leaks are possible"))   /* LeakSanitizer, in a forked child */
		assert_string_equal(t.said, "");
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
}

/* Everything emitted is stored or counted as lost; nothing is missing that no loss explains. */
static void assert_accounted(size_t emitted)
{
	assert_int_equal(file.ends, file.streams);
	assert_int_equal(file.hits, file.end_stored);
	assert_int_equal(file.hits + file.lost, emitted);
	if (!file.lost)
		assert_int_equal(file.gaps, 0);
}

/* ---- one thread --------------------------------------------------------------------------------- */

static int run_regions(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i++) {
		trace2_region_enter("test", "one", NULL);
		trace2_region_leave("test", "one", NULL);
	}
	return 0;
}

static void test_record_literal_region_is_one_event_each(void **state)
{
	(void)state;
	record(run_regions, (void *)1000, NULL);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "one"), 1000);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_leave, "one"), 1000);
	assert_accounted(2000 + 2);   /* version, atexit */
	for (size_t i = 0; i < file.count; i++)
		if (tlg_event_type(&file.events[i]) == TLG_HIT && file.events[i].sequence > 2 &&
		    file.events[i].sequence < 2000)
			assert_false(file.events[i].flags & TLG_HAS_INFO);
}

static void test_record_more_than_a_chunk_is_all_stored(void **state)
{
	(void)state;
	record(run_regions, (void *)20000, NULL);
	assert_accounted(40000 + 2);
	assert_int_equal(file.lost, 0);   /* 40,000 events fit the ring: none may be dropped */
}

static int run_long_text(void *data)
{
	size_t n = (size_t)data;
	char *text = malloc(n + 1);

	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i % 26);
	text[n] = '\0';
	trace2_initialize();
	trace2_data_string("test", NULL, "long", text);
	free(text);
	return 0;
}

static void test_record_long_text_is_whole(void **state)
{
	static char text[400000];
	const size_t lengths[] = { 0, 1, 15, 16, 17, 8175, 8176, 8177, 300000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		unlink(t.raw);
		record(run_long_text, (void *)lengths[i], NULL);
		assert_int_equal(raw_text(&file, TLG_STYLE_data, text, sizeof(text)), lengths[i]);
		for (size_t k = 0; k < lengths[i]; k++)
			assert_int_equal(text[k], 'a' + k % 26);
		raw_free(&file);
	}
}

static int run_endless_text(void *data)
{
	return run_long_text(data);
}

static void test_record_text_beyond_limit_is_cut_and_counted(void **state)
{
	static char text[2 << 20];

	(void)state;
	record(run_endless_text, (void *)(1500000), (const char *const[]){ "TRACE2_RAW_RING=4m", NULL });
	assert_int_equal(raw_text(&file, TLG_STYLE_data, text, sizeof(text)), 1 << 20);
	assert_int_equal(file.lost, 1);
}

static int run_many_names(void *data)
{
	char name[32];

	trace2_initialize();
	for (long i = 0; i < (long)data; i++) {
		snprintf(name, sizeof(name), "name%ld", i);
		trace2_region_enter_fl("names.c", 1, "test", name, NULL);
		if (i % 1000 == 0)
			trace2_flush();
	}
	trace2_printf("beyond the %dth", (int)(long)data);
	return 0;
}

static void test_record_full_scope_table_records_names_with_the_event(void **state)
{
	(void)state;
	record(run_many_names, (void *)70000, NULL);
	assert_accounted(70000 + 3);
	assert_int_equal(file.lost, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "name65000"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "name69999"), 0);
}

static int run_errno(void *data)
{
	int kept = 1;

	(void)data;
	trace2_initialize();
	for (int i = 0; i < 10000; i++) {   /* past a chunk: the slow path too */
		errno = 1000 + i;
		trace2_region_enter("test", "errno", NULL);
		trace2_printf("%d %s", i, "errno");
		kept &= errno == 1000 + i;
	}
	errno = 77;
	trace2_flush();
	trace2_rotate();
	return !(kept && errno == 77);
}

static void test_record_errno_is_kept(void **state)
{
	(void)state;
	traced_run(&t, run_errno, NULL, NULL);
	assert_int_equal(t.status, 0);
}

/* ---- threads ------------------------------------------------------------------------------------ */

static void test_record_flood_accounts_for_every_event(void **state)
{
	(void)state;
	record(flood_program, (void *)1000000, (const char *const[]){ "TRACE2_RAW_RING=256k", NULL });
	assert_accounted(2 * (1000000 + 2) + 2);

	assert_in_range(file.gaps, 0, 2 * file.lost);   /* what a thread lost last shows in no number */
}

static _Atomic int flushing;

static void *flush_all_the_time(void *data)
{
	while (flushing)
		trace2_flush();
	return data;
}

static int run_flood_and_flushes(void *data)
{
	pthread_t flusher;

	flushing = 1;
	trace2_initialize();
	pthread_create(&flusher, NULL, flush_all_the_time, NULL);
	flood_program(data);
	flushing = 0;
	pthread_join(flusher, NULL);
	return 0;
}

/* A flush that comes while threads write must not take events that are just being written for abandoned ones. */
static void test_record_flushes_during_a_flood_lose_nothing(void **state)
{
	(void)state;
	record(run_flood_and_flushes, (void *)300000, NULL);
	assert_accounted(2 * (300000 + 2) + 2);
	for (size_t i = 0; i < file.count; i++)
		if (tlg_event_type(&file.events[i]) == TLG_LOSS)
			assert_int_equal(file.events[i].u.loss.reason, TLG_LOSS_FULL);
	assert_in_range(file.gaps, 0, 2 * file.lost);   /* what a thread lost last shows in no number */
}

static int run_storm(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i += 8) {
		pthread_t threads[8];
		flood_begin(threads, 8, 3);
		flood_join(threads, 8);
	}
	return 0;
}

static void test_record_thread_storm_is_all_stored(void **state)
{
	(void)state;
	record(run_storm, (void *)2000, NULL);
	assert_accounted(2000 * 5 + 2);
	assert_int_equal(file.lost, 0);
}

static void *end_without_exit(void *data)
{
	trace2_data_intmax("test", NULL, "bare", 1);
	(void)data;
	pthread_exit(NULL);
}

static int run_bare_threads(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, end_without_exit, NULL);
		pthread_join(thread, NULL);
	}
	return 0;
}

static void test_record_threads_without_exit_leave_their_rings(void **state)
{
	(void)state;
	if (getenv("T2_EMULATED"))
		skip();   /* qemu-user has no robust mutexes: a thread's end is not noticed */
	record(run_bare_threads, (void *)6000, NULL);   /* more than there are rings */
	assert_accounted(6000 + 2);
	assert_int_equal(file.lost, 0);
}

/* ---- signals and forks -------------------------------------------------------------------------- */

static volatile sig_atomic_t handled;

static void record_in_handler(int signal)
{
	(void)signal;
	trace2_region_enter("handler", "nested", NULL);
	trace2_printf_fl("handler.c", 1, "signal %d", signal);
	trace2_region_leave("handler", "nested", NULL);
	handled++;
}

/* Emits until enough signals have come; writes how much that was to *data. */
static int run_handlers(void *data)
{
	const struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = record_in_handler, .sa_flags = SA_RESTART };
	const struct timespec pace = { 0, 20000 };
	uint64_t *emitted = data;

	trace2_initialize();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (handled < 3000) {
		for (int i = 0; i < 16; i++) {
			trace2_region_enter("test", "outer", NULL);
			trace2_region_leave("test", "outer", NULL);
		}
		trace2_data_intmax("test", NULL, "n", 1);
		*emitted += 33;
		nanosleep(&pace, NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	*emitted += 3 * (uint64_t)handled;
	return 0;
}

static void test_record_in_signal_handlers_accounts_for_every_event(void **state)
{
	uint64_t *emitted = traced_shared(sizeof(*emitted));

	(void)state;
	record(run_handlers, emitted, NULL);
	assert_accounted((size_t)*emitted + 2);
	if (!file.lost)
		assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "nested"),
				 raw_count(&file, TLG_STYLE_region_leave, "nested"));
	munmap(emitted, sizeof(*emitted));
}

static int run_fork(void *data)
{
	int status;
	pid_t pid;

	(void)data;
	trace2_initialize();
	trace2_region_enter("test", "both", NULL);
	pid = fork();
	if (!pid) {
		trace2_region_enter("test", "child", NULL);
		trace2_cmd_exit(3);
		exit(3);
	}
	trace2_region_enter("test", "parent", NULL);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status) != 3;
}

static void test_record_fork_gives_two_complete_streams(void **state)
{
	(void)state;
	record(run_fork, NULL, NULL);
	assert_int_equal(file.streams, 2);
	assert_int_equal(file.ends, 2);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "both"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "child"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_region_enter, "parent"), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_atexit, NULL), 2);
}

/* ---- texts that are longer than a pass ---------------------------------------------------------------- */

enum { LONG_TEXTS = 24, LONG_BYTES = 1000000 };

static int run_long_texts(void *data)
{
	char *text = malloc(LONG_BYTES + 1);

	(void)data;
	if (!text)
		return 1;
	memset(text, 'x', LONG_BYTES);
	text[LONG_BYTES] = '\0';
	trace2_initialize();
	for (int i = 0; i < LONG_TEXTS; i++)
		trace2_data_string("test", NULL, "long", text);
	free(text);
	return 0;
}

/* A pass over them moves no checkpoint's beginning: it has moved something all the same. */
static void test_record_long_texts_are_whole_at_the_end(void **state)
{
	(void)state;
	traced_run(&t, run_long_texts, NULL, (const char *const[]){ "TRACE2_RAW_THREAD=off", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.lost + file.gaps, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data, "long"), LONG_TEXTS);
	assert_int_equal(raw_count(&file, TLG_STYLE_atexit, NULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_record_long_texts_are_whole_at_the_end),
		TRACED_TEST(test_record_literal_region_is_one_event_each),
		TRACED_TEST(test_record_more_than_a_chunk_is_all_stored),
		TRACED_TEST(test_record_long_text_is_whole),
		TRACED_TEST(test_record_text_beyond_limit_is_cut_and_counted),
		TRACED_TEST(test_record_full_scope_table_records_names_with_the_event),
		TRACED_TEST(test_record_errno_is_kept),
		TRACED_TEST(test_record_flood_accounts_for_every_event),
		TRACED_TEST(test_record_flushes_during_a_flood_lose_nothing),
		TRACED_TEST(test_record_thread_storm_is_all_stored),
		TRACED_TEST(test_record_threads_without_exit_leave_their_rings),
		TRACED_TEST(test_record_in_signal_handlers_accounts_for_every_event),
		TRACED_TEST(test_record_fork_gives_two_complete_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
