/* SPDX-License-Identifier: MIT */
/* What each setting does, what a value that means nothing does, and what becomes of a failing destination. */
#include "t2test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tlg_ring.h"
#include "trace2.h"
#include "traced.h"
#include "settings/tr2_env.h"

enum { WRONG = 44, SMALLEST_RING = 2 * TLG_CHUNK_BYTES };

/* A program that has no privileges, unless the test says so: then the C library hides its environment. */
static int g_privileged;

char *__wrap_secure_getenv(const char *name);
char *__real_secure_getenv(const char *name);

char *__wrap_secure_getenv(const char *name)
{
	return g_privileged ? NULL : __real_secure_getenv(name);
}

static int was_traced(void)
{
	return trace2_is_enabled() ? TRACED : UNTRACED;
}

static int run_plain(void *data)
{
	(void)data;
	trace2_initialize();
	return was_traced();
}

/* Run with these settings; the program must end by itself, with this status. */
static void run(int (*program)(void *), void *data, int expected, const char *const *settings)
{
	traced_run(&t, program, data, settings);
	assert_true(WIFEXITED(t.status));
	assert_int_equal(WEXITSTATUS(t.status), expected);
}

/* ---- prefix ------------------------------------------------------------------------------------- */

static int run_prefixed(void *data)
{
	trace2_set_env_prefix(data);
	return run_plain(NULL);
}

static void test_prefix_selects_the_only_variables_that_are_read(void **state)
{
	(void)state;
	run(run_prefixed, (void *)(intptr_t)"MY", TRACED, (const char *const[]){ "MY=2", "TRACE2_BRIEF=1", NULL });
	assert_null(strstr(t.said, "\nversion"));
	assert_int_equal(access(t.raw, F_OK), -1);
	run(run_prefixed, (void *)(intptr_t)"MY", TRACED, (const char *const[]){ "MY=2", "MY_BRIEF=1", NULL });
	assert_int_equal(strncmp(t.said, "version ", 8), 0);
}

static void test_prefix_that_is_empty_changes_nothing(void **state)
{
	(void)state;
	run(run_prefixed, NULL, TRACED, NULL);
	run(run_prefixed, (void *)(intptr_t)"", TRACED, NULL);
}

static void test_prefix_is_cut_to_31_bytes(void **state)
{
	(void)state;
	run(run_prefixed, (void *)(intptr_t)"A23456789B23456789C23456789D23456789", TRACED,
	    (const char *const[]){ "A23456789B23456789C23456789D234=2", NULL });
}

static void test_settings_of_a_privileged_program_are_ignored(void **state)
{
	(void)state;
	g_privileged = 1;
	run(run_plain, NULL, UNTRACED, (const char *const[]){ "TRACE2=2", "TRACE2_DST_DEBUG=1", NULL });
	g_privileged = 0;
	assert_string_equal(t.said, "");
	assert_int_equal(access(t.raw, F_OK), -1);
}

/* ---- destinations ------------------------------------------------------------------------------- */

static void test_destination_closed_descriptor_does_not_disturb_the_program(void **state)
{
	(void)state;
	close(8);   /* whatever the tests were started with */
	close(9);
	run(run_plain, NULL, UNTRACED, (const char *const[]){ "TRACE2_RAW=9", "TRACE2=9", "TRACE2_PERF=8", NULL });
	assert_string_equal(t.said, "");
	run(run_plain, NULL, UNTRACED, (const char *const[]){ "TRACE2_RAW=9", "TRACE2_DST_DEBUG=1", NULL });
	assert_string_equal(t.said, "warning: unable to write trace to 'TRACE2_RAW': Bad file descriptor\n");
}

static void test_destination_one_and_true_are_stderr(void **state)
{
	static const char *const values[] = { "TRACE2_RAW=1", "TRACE2_RAW=true", "TRACE2_RAW=TRUE", "TRACE2_RAW=2" };
	char path[160];

	(void)state;
	snprintf(path, sizeof(path), "%s/stderr", t.dir);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		run(run_plain, NULL, TRACED, (const char *const[]){ values[i], NULL });
		assert_int_equal(raw_read(path, &file), 0);
		assert_int_equal(file.hits, 2);
		raw_free(&file);
	}
}

/* Take the names that the process would give its file, so many of them; then begin. */
static int run_taken(void *data)
{
	const char *dir = getenv("TRACE2_RAW"), *own = strrchr(trace2_session_id(), '/');
	char path[256], number[24] = "";

	own = own ? own + 1 : trace2_session_id();
	for (long i = 0; i < (long)data; i++) {
		if (i)
			snprintf(number, sizeof(number), ".%ld", i);
		snprintf(path, sizeof(path), "%s/%s%s.tlg", dir, own, number);
		if (close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)))
			return 1;
	}
	return run_plain(NULL);
}

static void run_with_taken_names(long taken, int expected)
{
	char setting[192];

	snprintf(setting, sizeof(setting), "TRACE2_RAW=%s", t.dir);
	run(run_taken, (void *)taken, expected, (const char *const[]){ setting, "TRACE2_DST_DEBUG=1", NULL });
}

static void test_destination_taken_name_gets_a_number_up_to_nine(void **state)
{
	(void)state;
	run_with_taken_names(9, TRACED);
	assert_string_equal(t.said, "");
	run_with_taken_names(10, UNTRACED);
	assert_int_equal(traced_count("\n"), 1);
	assert_non_null(strstr(t.said, ".tlg' for 'TRACE2_RAW' tracing: File exists\n"));
	assert_null(strstr(t.said, ".9.tlg'"));
}

static void test_destination_failing_leaves_the_others_on(void **state)
{
	(void)state;
	run(run_plain, NULL, TRACED, (const char *const[]){
		"TRACE2=/nonexistent/x", "TRACE2_PERF=relative", "TRACE2_EVENT=af_unix:/nonexistent/x", NULL });
	assert_string_equal(t.said, "warning: trace2: unknown value for 'TRACE2_PERF': 'relative'\n");
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.hits, 2);
}

/* ---- the raw file ------------------------------------------------------------------------------- */

static int is_compressed(void)
{
	unsigned char bytes[4] = { 0 };
	FILE *in = fopen(t.raw, "r");

	assert_non_null(in);
	assert_int_equal(fread(bytes, 1, 4, in), 4);
	fclose(in);
	unlink(t.raw);
	return ((uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0]) ==
	       TLG_SKIP_MAGIC;
}

static void test_raw_lz4_is_on_unless_switched_off(void **state)
{
	static const struct { const char *setting; int compressed; } rows[] = {
		{ "TRACE2_RAW_LZ4=", 1 }, { "TRACE2_RAW_LZ4=1", 1 }, { "TRACE2_RAW_LZ4=maybe", 1 },
		{ "TRACE2_RAW_LZ4=0", 0 }, { "TRACE2_RAW_LZ4=No", 0 }, { "TRACE2_RAW_LZ4=0x0", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run(run_plain, NULL, TRACED, (const char *const[]){ rows[i].setting, NULL });
		assert_int_equal(is_compressed(), rows[i].compressed);
	}
}

/* The encoding of the first block of a thread. */
static unsigned encoding_of_file(void)
{
	FILE *in = fopen(t.raw, "r");
	struct tlg_event head;

	assert_non_null(in);
	do {
		assert_int_equal(fread(&head, sizeof(head), 1, in), 1);
		assert_int_equal(tlg_event_type(&head), TLG_BLOCK);
		fseek(in, head.u.block.size * (long)sizeof(head), SEEK_CUR);
	} while (head.u.block.tid == TLG_NO_THREAD);
	fclose(in);
	return head.u.block.encoding;
}

static void test_raw_encoding_is_packed_unless_plain(void **state)
{
	static const struct { const char *setting; unsigned encoding; } rows[] = {
		{ "TRACE2_RAW_ENCODING=", TLG_PACKED }, { "TRACE2_RAW_ENCODING=packed", TLG_PACKED },
		{ "TRACE2_RAW_ENCODING=else", TLG_PACKED }, { "TRACE2_RAW_ENCODING=plain", TLG_PLAIN },
		{ "TRACE2_RAW_ENCODING=Plain", TLG_PLAIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run(run_plain, NULL, TRACED, (const char *const[]){ rows[i].setting, "TRACE2_RAW_LZ4=0", NULL });
		assert_int_equal(encoding_of_file(), rows[i].encoding);
		unlink(t.raw);
	}
}

static int run_text(void *data)
{
	static char text[200001];
	const size_t *ring_bytes = data;

	memset(text, 'x', sizeof(text) - 1);
	trace2_initialize();
	trace2_data_string("test", NULL, "long", text);
	return tr2_g_settings.ring_bytes == *ring_bytes ? was_traced() : WRONG;
}

/* A text that fits into no ring of 128 KiB may get through one: the drain can be as fast as its thread. */
static void test_raw_ring_limits_what_a_thread_holds(void **state)
{
	static const struct { const char *setting; size_t bytes; } rows[] = {
		{ "TRACE2_RAW_RING=", 0 }, { "TRACE2_RAW_RING=1m", 1 << 20 },
		{ "TRACE2_RAW_RING=99g", TR2_MAX_MEMORY },
		{ "TRACE2_RAW_RING=0", 0 }, { "TRACE2_RAW_RING=-1", 0 }, { "TRACE2_RAW_RING=64q", 0 },
		{ "TRACE2_RAW_RING=64k", SMALLEST_RING }, { "TRACE2_RAW_RING=1", SMALLEST_RING },
		{ "TRACE2_RAW_RING=0x10000", SMALLEST_RING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t bytes = rows[i].bytes;

		unlink(t.raw);
		run(run_text, &bytes, TRACED, (const char *const[]){ rows[i].setting, NULL });
		assert_int_equal(raw_read(t.raw, &file), 0);
		if (bytes != SMALLEST_RING)
			assert_int_equal(file.lost, 0);
		raw_free(&file);
	}
}

static int run_flushing(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i++) {
		trace2_data_intmax("test", NULL, "i", i);
		if (i % 500 == 0)
			trace2_flush();
	}
	return was_traced();
}

/* The reader stands in one chunk, so a ring of a single one would never be free again. */
static void test_raw_ring_of_the_smallest_size_never_gets_stuck(void **state)
{
	(void)state;
	run(run_flushing, (void *)20000, TRACED, (const char *const[]){ "TRACE2_RAW_RING=64k", NULL });
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.lost, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), 20000);
}

static int run_many(void *data)
{
	trace2_initialize();
	for (long i = 0; i < (long)data; i++)
		trace2_data_intmax("test", NULL, "i", i);
	return was_traced();
}

static void test_raw_cycle_bad_values_keep_the_default(void **state)
{
	static const struct { const char *setting; size_t least, most; } rows[] = {
		{ "TRACE2_RAW_CYCLE=", 1, 1 }, { "TRACE2_RAW_CYCLE=x", 1, 1 }, { "TRACE2_RAW_CYCLE=0", 1, 1 },
		{ "TRACE2_RAW_CYCLE=1", 4, 100 }, { "TRACE2_RAW_CYCLE=4k", 4, 100 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unlink(t.raw);
		run(run_many, (void *)1000, TRACED, (const char *const[]){ rows[i].setting, NULL });
		assert_int_equal(raw_read(t.raw, &file), 0);
		assert_in_range(file.cycles, rows[i].least, rows[i].most);
		raw_free(&file);
	}
}

/* ---- texts -------------------------------------------------------------------------------------- */

static int run_nested(void *data)
{
	(void)data;
	trace2_initialize();
	for (int i = 0; i < 4; i++)
		trace2_region_enter("test", "nested", NULL);
	return was_traced();
}

static void test_nesting_that_is_no_positive_number_is_two(void **state)
{
	static const struct { const char *setting; size_t shown; } rows[] = {
		{ "TRACE2_EVENT_NESTING=", 2 }, { "TRACE2_EVENT_NESTING=0", 2 }, { "TRACE2_EVENT_NESTING=-3", 2 },
		{ "TRACE2_EVENT_NESTING=x", 2 }, { "TRACE2_EVENT_NESTING=1", 1 }, { "TRACE2_EVENT_NESTING=3x", 3 },
		{ "TRACE2_EVENT_NESTING=1000", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run(run_nested, NULL, TRACED, (const char *const[]){ "TRACE2_EVENT=2", rows[i].setting, NULL });
		assert_int_equal(traced_count("\"region_enter\""), rows[i].shown);
	}
}

static int run_secrets(void *data)
{
	const char *argv[] = { "p", "https://u:secret@h", NULL };
	struct trace2_child child = { .argv = argv };

	(void)data;
	trace2_initialize();
	trace2_cmd_start(argv);
	trace2_child_start(&child);
	trace2_exec("x", argv);
	trace2_def_param("p", argv[1], NULL);
	return was_traced();
}

static void test_redact_hides_passwords_unless_switched_off(void **state)
{
	static const struct { const char *setting; size_t shown; } rows[] = {
		{ "TRACE2_REDACT=", 0 }, { "TRACE2_REDACT=1", 0 }, { "TRACE2_REDACT=bad", 0 },
		{ "TRACE2_REDACT=0", 4 }, { "TRACE2_REDACT=false", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run(run_secrets, NULL, TRACED, (const char *const[]){ "TRACE2=2", rows[i].setting, NULL });
		assert_int_equal(traced_count("secret"), rows[i].shown);
		assert_int_equal(traced_count("<REDACTED>"), 4 - rows[i].shown);
	}
}

/* ---- signals ------------------------------------------------------------------------------------ */

static int run_kill(void *data)
{
	trace2_initialize();
	kill(getpid(), (int)(long)data);
	return was_traced();
}

static void test_signals_that_are_unknown_are_skipped(void **state)
{
	(void)state;
	traced_run(&t, run_kill, (void *)SIGTERM, (const char *const[]){
		"TRACE2_SIGNALS=none,,99 -1,KILL, 15,a-name-of-more-than-16-bytes", NULL });
	assert_true(WIFSIGNALED(t.status));
	assert_int_equal(WTERMSIG(t.status), SIGTERM);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_signal, NULL), 1);
	assert_int_equal(file.ends, 1);
}

static void test_signals_are_in_the_texts(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();   /* it takes every allocation in a handler for a mistake */
#endif
	traced_run(&t, run_kill, (void *)SIGPIPE, (const char *const[]){ "TRACE2=2", "TRACE2_BRIEF=1", NULL });
	assert_int_equal(WTERMSIG(t.status), SIGPIPE);
	assert_non_null(strstr(t.said, "\nsignal elapsed:"));
	traced_run(&t, run_kill, (void *)SIGTERM, (const char *const[]){
		"TRACE2=2", "TRACE2_BRIEF=1", "TRACE2_SIGNALS=TERM", NULL });
	assert_int_equal(WTERMSIG(t.status), SIGTERM);
	assert_non_null(strstr(t.said, "\nsignal elapsed:"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_prefix_selects_the_only_variables_that_are_read),
		TRACED_TEST(test_prefix_that_is_empty_changes_nothing),
		TRACED_TEST(test_prefix_is_cut_to_31_bytes),
		TRACED_TEST(test_settings_of_a_privileged_program_are_ignored),
		TRACED_TEST(test_destination_closed_descriptor_does_not_disturb_the_program),
		TRACED_TEST(test_destination_one_and_true_are_stderr),
		TRACED_TEST(test_destination_taken_name_gets_a_number_up_to_nine),
		TRACED_TEST(test_destination_failing_leaves_the_others_on),
		TRACED_TEST(test_raw_lz4_is_on_unless_switched_off),
		TRACED_TEST(test_raw_encoding_is_packed_unless_plain),
		TRACED_TEST(test_raw_ring_limits_what_a_thread_holds),
		TRACED_TEST(test_raw_ring_of_the_smallest_size_never_gets_stuck),
		TRACED_TEST(test_raw_cycle_bad_values_keep_the_default),
		TRACED_TEST(test_nesting_that_is_no_positive_number_is_two),
		TRACED_TEST(test_redact_hides_passwords_unless_switched_off),
		TRACED_TEST(test_signals_that_are_unknown_are_skipped),
		TRACED_TEST(test_signals_are_in_the_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
