/* SPDX-License-Identifier: MIT */
/* test_t2x_merge.c - streams, threads and inputs in the order of time. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "tlgmake.h"

enum { SCOPE = 1, STYLE = TLG_STYLE_step };

static void setup_stream(struct tlgmake *make, uint32_t id, unsigned pid)
{
	tlgmake_init(make, id, pid);
	tlgmake_cycle(make);
}

/* Open a block of the thread with all that its first HIT needs. */
static void begin_thread(struct tlgmake *make, uint32_t tid, const char *name)
{
	tlgmake_begin(make, tid);
	tlgmake_thread(make, name, 1);
	tlgmake_scope(make, SCOPE, STYLE, 0, "step");
}

/* The line behind this one. */
static const char *next_line(const char *line)
{
	return strchr(line, '\n') + 1;
}

static void expect(struct tlgmake *make, const char *text)
{
	struct record record = { .text = NULL };

	record_bytes(&record, make->bytes, make->n);
	assert_string_equal(record.text, text);
	assert_int_equal(record.report.damages, 0);
	assert_int_equal(record.context.used_bytes, 0);
	record_free(&record);
	tlgmake_free(make);
}

static void test_merge_two_threads_come_in_order_of_time(void **state)
{
	struct tlgmake make;

	(void)state;
	setup_stream(&make, 77, 1234);
	begin_thread(&make, 1, "th01:a");
	tlgmake_hit(&make, 20, SCOPE);
	tlgmake_hit(&make, 40, SCOPE);
	tlgmake_seal(&make);
	begin_thread(&make, 0, "main");
	tlgmake_hit(&make, 10, SCOPE);
	tlgmake_hit(&make, 30, SCOPE);
	tlgmake_hit(&make, 40, SCOPE);
	tlgmake_seal(&make);
	tlgmake_end(&make);
	/* at equal times the lower thread is first */
	expect(&make, "open th01:a\nopen main\nhit main 10 step\nhit th01:a 20 step\nhit main 30 step\n"
		      "hit main 40 step\nhit th01:a 40 step\n");
}

static void test_merge_definition_behind_older_event_resolves_it(void **state)
{
	struct tlgmake make;

	(void)state;
	setup_stream(&make, 77, 1234);
	begin_thread(&make, 1, "th01:a");
	tlgmake_hit(&make, 20, SCOPE);
	tlgmake_seal(&make);
	tlgmake_begin(&make, 0);
	tlgmake_hit(&make, 10, SCOPE);
	tlgmake_seal(&make);
	tlgmake_end(&make);
	expect(&make, "open th01:a\nhit ? 10 step\nhit th01:a 20 step\n");
}

static void test_merge_mark_releases_what_is_not_newer(void **state)
{
	struct tlgmake make;
	struct record record = { .text = NULL };
	char expected[65536] = "open main\n";
	size_t at = strlen(expected);

	(void)state;
	setup_stream(&make, 77, 1234);
	for (unsigned i = 1; i <= 100; i++) {
		if (i == 1)
			begin_thread(&make, 0, "main");
		else
			tlgmake_begin(&make, 0);
		tlgmake_hit(&make, 10 * i, SCOPE);
		tlgmake_seal(&make);
		tlgmake_mark(&make, 10 * i);
		at += (size_t)sprintf(expected + at, "hit main %u step\n", 10 * i);
	}
	record_bytes(&record, make.bytes, make.n);
	assert_string_equal(record.text, expected);
	assert_int_equal(record.open_streams, 1);
	record_free(&record);
	tlgmake_free(&make);
}

static void test_merge_steps_take_time_of_predecessor(void **state)
{
	struct tlgmake make;

	(void)state;
	setup_stream(&make, 77, 1234);
	begin_thread(&make, 0, "main");
	tlgmake_hit(&make, 10, SCOPE);
	tlgmake_hit(&make, 0, SCOPE);
	tlgmake_hit(&make, 30, SCOPE);
	tlgmake_seal(&make);
	begin_thread(&make, 2, "two");
	tlgmake_hit(&make, 20, SCOPE);
	tlgmake_seal(&make);
	tlgmake_end(&make);
	expect(&make, "open main\nopen two\nhit main 10 step\nhit main 10 step\nhit two 20 step\nhit main "
		      "30 step\n");
}

static void test_merge_time_going_back_in_thread_stands_still(void **state)
{
	struct tlgmake make;

	(void)state;
	setup_stream(&make, 77, 1234);
	begin_thread(&make, 0, "main");
	tlgmake_hit(&make, 50, SCOPE);
	tlgmake_hit(&make, 20, SCOPE);
	tlgmake_hit(&make, 60, SCOPE);
	tlgmake_seal(&make);
	tlgmake_end(&make);
	expect(&make, "open main\nhit main 50 step\nhit main 50 step\nhit main 60 step\n");
}

static void test_merge_sequence_gap_is_reported(void **state)
{
	struct tlgmake make;

	(void)state;
	setup_stream(&make, 77, 1234);
	tlgmake_lose(&make, 0, 2);
	begin_thread(&make, 0, "main");
	tlgmake_hit(&make, 10, SCOPE);
	tlgmake_hit_with(&make, 20, SCOPE, "is", INT64_C(5), "text");
	tlgmake_lose(&make, 0, 7);
	tlgmake_hit(&make, 30, SCOPE);
	tlgmake_seal(&make);
	tlgmake_loss(&make, 0, TLG_LOSS_FULL, 9);
	tlgmake_end(&make);
	expect(&make, "open main\ndrop 0 1 9\ngap main 2 -0 +0\nhit main 10 step\nhit main 20 step 5 "
		      "\"text\"\ngap main 7\n"
		      "hit main 30 step\nend 30\n");
}

/* A stream with a loss and two checkpoints; end: is there an END, for this reason? */
static void make_loser(struct tlgmake *make, unsigned end)
{
	setup_stream(make, 77, 1234);
	tlgmake_loss(make, TLG_NO_THREAD, TLG_LOSS_NORING, 4);
	begin_thread(make, 0, "main");
	tlgmake_hit(make, 10, SCOPE);
	tlgmake_hit(make, 40, SCOPE);
	tlgmake_seal(make);
	if (!end)
		return;
	tlgmake_begin(make, TLG_NO_THREAD);
	tlgmake_add(make, TLG_END, 0)->u.end = (struct tlg_end){ .stored = 2, .reason = (uint16_t)end };
	tlgmake_seal(make);
}

static void test_merge_process_ends_behind_its_last_event_also_without_end(void **state)
{
	static const unsigned reasons[] = { TLG_END_EXIT, TLG_END_SIGNAL, 0 };
	struct tlgmake make;

	(void)state;
	for (int i = 0; i < 3; i++) {
		make_loser(&make, reasons[i]);
		expect(&make, "drop 4294967295 4 4\nopen main\nhit main 10 step\nhit main 40 step\nend 40\n");
	}
}

static void test_merge_process_ends_behind_a_checkpoint_that_was_cut_short(void **state)
{
	struct tlgmake make;

	(void)state;
	setup_stream(&make, 77, 1234);
	begin_thread(&make, 0, "main");
	tlgmake_hit(&make, 10, SCOPE);
	make.block[make.count].flags |= TLG_HAS_MORE;
	tlgmake_seal(&make);
	tlgmake_loss(&make, 0, TLG_LOSS_CUT, 1);
	tlgmake_end(&make);
	expect(&make, "open main\ndrop 0 5 1\nhit main 10 step\nend 10\n");
}

static void test_merge_process_does_not_end_with_a_file_that_was_rotated(void **state)
{
	struct tlgmake make;

	(void)state;
	make_loser(&make, TLG_END_ROTATE);
	expect(&make, "drop 4294967295 4 4\nopen main\nhit main 10 step\nhit main 40 step\n");
}

/* Two processes in one file, their blocks in turn. */
static void test_merge_two_streams_in_one_file_are_kept_apart(void **state)
{
	struct tlgmake a, b;
	struct record record = { .text = NULL };
	unsigned char *both;
	size_t n, part;

	(void)state;
	setup_stream(&a, 77, 0x10001);
	setup_stream(&b, 78, 0x20001);   /* the same low 16 bits */
	part = a.n;
	begin_thread(&a, 0, "a");
	tlgmake_hit(&a, 10, SCOPE);
	tlgmake_hit(&a, 30, SCOPE);
	tlgmake_seal(&a);
	begin_thread(&b, 0, "b");
	tlgmake_hit(&b, 20, SCOPE);
	tlgmake_seal(&b);
	tlgmake_end(&b);
	tlgmake_end(&a);
	n = a.n + b.n;
	both = malloc(n);
	assert_non_null(both);
	memcpy(both, a.bytes, part);
	memcpy(both + part, b.bytes, b.n);
	memcpy(both + part + b.n, a.bytes + part, a.n - part);
	record_bytes(&record, both, n);
	assert_string_equal(record.text, "open b\nopen a\nhit a 10 step\nhit b 20 step\nhit a 30 step\n");
	record_free(&record);
	free(both);
	tlgmake_free(&a);
	tlgmake_free(&b);
}

static void test_merge_two_inputs_are_merged_by_time(void **state)
{
	struct tlgmake a, b;
	struct record record = { .text = NULL };
	const char *paths[2];

	(void)state;
	setup_stream(&a, 77, 1);
	setup_stream(&b, 78, 2);
	for (unsigned i = 0; i < 3; i++) {
		begin_thread(&a, 0, "a");
		tlgmake_hit(&a, 10 + 100 * i, SCOPE);
		tlgmake_seal(&a);
		tlgmake_mark(&a, 15 + 100 * i);
		begin_thread(&b, 0, "b");
		tlgmake_hit(&b, 20 + 100 * i, SCOPE);
		tlgmake_seal(&b);
		tlgmake_mark(&b, 25 + 100 * i);
	}
	tlgmake_end(&a);
	tlgmake_end(&b);
	paths[0] = tlgmake_path(b.bytes, b.n);
	paths[1] = tlgmake_path(a.bytes, a.n);
	record_run(&record, paths, 2, NULL);
	assert_string_equal(
		record.text,
		"open b\nopen a\nhit a 10 step\nhit b 20 step\nhit a 110 step\nhit b 120 step\nhit a 210 step\n"
		"hit b 220 step\n");
	assert_int_equal(record.forgotten_processes, 2);
	assert_int_equal(record.forgotten_threads, 2);
	record_free(&record);
	tlgmake_close(paths[0]);
	tlgmake_close(paths[1]);
	tlgmake_free(&a);
	tlgmake_free(&b);
}

/* A thread that records much while another, which holds everything back, says nothing. */
static void test_merge_full_pool_releases_oldest_and_keeps_threads_in_order(void **state)
{
	struct tlgmake make;
	struct record record = { .text = NULL };
	uint64_t last = 0;
	unsigned hits = 0;

	(void)state;
	setup_stream(&make, 77, 1234);
	for (unsigned i = 0; i < 10000; i++) {
		if (i == 0)
			begin_thread(&make, 0, "main");
		else
			tlgmake_begin(&make, 0);
		for (unsigned k = 0; k < 100; k++)
			tlgmake_hit(&make, 1 + 100 * i + k, SCOPE);
		tlgmake_seal(&make);
	}
	record_bytes(&record, make.bytes, make.n);
	for (const char *line = record.text; *line; line = strchr(line, '\n') + 1) {
		if (strncmp(line, "hit main ", 9))
			continue;
		assert_true(strtoull(line + 9, NULL, 10) == ++last);
		hits++;
	}
	assert_int_equal(hits, 1000000);
	record_free(&record);
	tlgmake_free(&make);
}

static void test_merge_process_is_known_from_procinfo(void **state)
{
	struct tlgmake make;
	struct record record = { .text = NULL };

	(void)state;
	tlgmake_init(&make, 77, 0x54321);
	make.sid = "parent/child/me";
	make.hierarchy = "git/log";
	tlgmake_cycle(&make);
	begin_thread(&make, 0, "main");
	tlgmake_hit(&make, 10, SCOPE);
	tlgmake_seal(&make);
	tlgmake_end(&make);
	record_bytes(&record, make.bytes, make.n);
	assert_int_equal(record.process.pid, 0x54321);
	assert_int_equal(record.process.stream, 77);
	assert_int_equal(record.process.depth, 2);
	assert_int_equal(record.process.utcoff, 3600);
	assert_true(record.process.start_ns == (uint64_t)TLGMAKE_SECOND * 1000000000);
	assert_string_equal(record.sid, "parent/child/me");
	assert_int_equal(record.open_streams, 0);
	record_free(&record);
	tlgmake_free(&make);
}

/* Read late: the blocks before the first cycle have no clock of their own. */
static void test_merge_events_before_first_clock_use_it(void **state)
{
	struct tlgmake make;
	struct record record = { .text = NULL };
	size_t cut;

	(void)state;
	setup_stream(&make, 77, 1234);
	cut = make.n;
	begin_thread(&make, 0, "main");
	tlgmake_hit(&make, 10, SCOPE);
	tlgmake_seal(&make);
	tlgmake_cycle(&make);
	tlgmake_begin(&make, 0);
	tlgmake_hit(&make, 20, SCOPE);
	tlgmake_seal(&make);
	tlgmake_end(&make);
	record_bytes(&record, make.bytes + cut, make.n - cut);
	assert_string_equal(record.text, "open main\nhit main 10 step\nhit main 20 step\n");
	record_free(&record);
	tlgmake_free(&make);
}

/* More processes than are kept at once, none of which has an end. */
static void test_merge_many_unended_streams_are_retired(void **state)
{
	enum { STREAMS = 6000 };
	unsigned char *bytes = malloc(STREAMS * 1000);
	struct record record = { .text = NULL };
	unsigned hits = 0;
	size_t n = 0;

	(void)state;
	assert_non_null(bytes);
	for (unsigned i = 0; i < STREAMS; i++) {
		struct tlgmake make;
		setup_stream(&make, 1000 + i, 1 + i);
		begin_thread(&make, 0, "main");
		tlgmake_hit(&make, 10 + i, SCOPE);
		tlgmake_seal(&make);
		memcpy(bytes + n, make.bytes, make.n);
		n += make.n;
		tlgmake_free(&make);
	}
	record_bytes(&record, bytes, n);
	for (const char *line = record.text; *line; line = next_line(line))
		hits += !strncmp(line, "hit", 3);
	assert_int_equal(hits, STREAMS);
	assert_int_equal(record.open_streams, STREAMS);
	assert_int_equal(record.forgotten_processes, STREAMS);
	assert_int_equal(record.context.used_bytes, 0);
	record_free(&record);
	free(bytes);
}

/* Streams that begin, go on and end in any order, in one file: a checkpoint comes with the mark of a later time. */
static void test_merge_marks_of_many_streams_hold_back_what_is_newer(void **state)
{
	enum { STREAMS = 40, TURNS = 4000 };
	static struct tlgmake make[STREAMS];
	static char is_there[2 * TURNS + 1], bytes[TURNS * 600], expected[TURNS * 20], *line = expected;
	struct record record = { .text = NULL };
	unsigned seed = 1, marked[STREAMS];
	size_t n = 0;

	(void)state;
	for (unsigned turn = 1; turn <= TURNS; turn++) {
		unsigned which = (seed = seed * 1103515245 + 12345) / 65536 % STREAMS;
		struct tlgmake *m = &make[which];
		unsigned at = m->bytes ? 2 * marked[which] + 1 : 2 * turn;
		if (!m->bytes)
			setup_stream(m, turn, turn);
		tlgmake_begin(m, 0);
		tlgmake_hit(m, at, SCOPE);
		tlgmake_seal(m);
		tlgmake_mark(m, 2 * turn);
		is_there[at] = 1;
		marked[which] = turn;
		if (turn % 7 == 0)
			tlgmake_end(m);
		memcpy(bytes + n, m->bytes, m->n);
		n += m->n;
		m->n = 0;
		if (turn % 7 == 0)
			tlgmake_free(m);
	}
	record_bytes(&record, bytes, n);
	for (unsigned at = 1; at <= 2 * TURNS; at++)
		line += is_there[at] ? sprintf(line, "hit ? %u ?1\n", at) : 0;
	assert_string_equal(record.text, expected);
	record_free(&record);
	for (unsigned i = 0; i < STREAMS; i++)
		tlgmake_free(&make[i]);
}

/* The end counts what its stream holds: also what is missing behind a thread's last event is reported. */
static void test_merge_missing_checkpoints_are_counted(void **state)
{
	struct record record = { .text = NULL };
	struct tlgmake make;
	size_t from, to;

	(void)state;
	tlgmake_init(&make, 7, 42);
	tlgmake_cycle(&make);
	tlgmake_begin(&make, 0);
	tlgmake_hit(&make, 10, 1);
	tlgmake_seal(&make);
	from = make.n;
	tlgmake_begin(&make, 0);
	for (unsigned i = 0; i < 3; i++)
		tlgmake_hit(&make, 20 + i, 1);
	tlgmake_seal(&make);
	to = make.n;
	tlgmake_end(&make);
	record_bytes(&record, make.bytes, make.n);
	assert_int_equal(record.context.missing, 0);
	memmove(make.bytes + from, make.bytes + to, make.n - to);
	record_bytes(&record, make.bytes, make.n - (to - from));
	assert_int_equal(record.context.missing, 3);
	record_free(&record);
	tlgmake_free(&make);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge_two_threads_come_in_order_of_time),
		cmocka_unit_test(test_merge_definition_behind_older_event_resolves_it),
		cmocka_unit_test(test_merge_mark_releases_what_is_not_newer),
		cmocka_unit_test(test_merge_steps_take_time_of_predecessor),
		cmocka_unit_test(test_merge_time_going_back_in_thread_stands_still),
		cmocka_unit_test(test_merge_sequence_gap_is_reported),
		cmocka_unit_test(test_merge_process_ends_behind_its_last_event_also_without_end),
		cmocka_unit_test(test_merge_process_ends_behind_a_checkpoint_that_was_cut_short),
		cmocka_unit_test(test_merge_process_does_not_end_with_a_file_that_was_rotated),
		cmocka_unit_test(test_merge_two_streams_in_one_file_are_kept_apart),
		cmocka_unit_test(test_merge_two_inputs_are_merged_by_time),
		cmocka_unit_test(test_merge_full_pool_releases_oldest_and_keeps_threads_in_order),
		cmocka_unit_test(test_merge_process_is_known_from_procinfo),
		cmocka_unit_test(test_merge_events_before_first_clock_use_it),
		cmocka_unit_test(test_merge_many_unended_streams_are_retired),
		cmocka_unit_test(test_merge_marks_of_many_streams_hold_back_what_is_newer),
		cmocka_unit_test(test_merge_missing_checkpoints_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
