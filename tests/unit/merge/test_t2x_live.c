/* SPDX-License-Identifier: MIT */
/* test_t2x_live.c - which threads of a stream are forgotten when there are too many. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "tlgmake.h"

enum { SCOPE = 1, EXIT_SCOPE = 2, LIVING = 300, OTHERS = 70000 };

static unsigned count_lines(const struct record *record, const char *begin)
{
	unsigned n = 0;

	for (const char *line = record->text; *line; line = strchr(line, '\n') + 1)
		n += !strncmp(line, begin, strlen(begin));
	return n;
}

static void make_scopes(struct tlgmake *make)
{
	tlgmake_begin(make, 0);
	tlgmake_scope(make, SCOPE, TLG_STYLE_step, 0, "step");
	tlgmake_scope(make, EXIT_SCOPE, TLG_STYLE_thread_exit, 0, "exit");
	tlgmake_hit(make, 10, SCOPE);
	tlgmake_seal(make);
}

/* Each of the living has a checkpoint; only the first time its block says its name. */
static void make_living(struct tlgmake *make, uint64_t ns, int has_name)
{
	for (uint32_t tid = 1; tid <= LIVING; tid++) {
		tlgmake_begin(make, tid);
		if (has_name)
			tlgmake_thread(make, "living", 1);
		tlgmake_hit(make, ns, SCOPE);
		tlgmake_seal(make);
	}
	tlgmake_mark(make, ns);
}

/* Among the living, other threads have one checkpoint each. */
static void record_threads(struct record *record, uint32_t scope)
{
	struct tlgmake make;

	tlgmake_init(&make, 77, 1234);
	tlgmake_cycle(&make);
	make_scopes(&make);
	make_living(&make, 20, 1);
	for (uint32_t i = 0; i < OTHERS; i++) {
		tlgmake_begin(&make, 1 + LIVING + i);
		tlgmake_hit(&make, 30 + i, scope);
		tlgmake_seal(&make);
		if (i % 100 == 0)
			tlgmake_mark(&make, 30 + i);
	}
	make_living(&make, 30 + OTHERS, 0);
	tlgmake_end(&make);
	record_bytes(record, make.bytes, make.n);
	tlgmake_free(&make);
	assert_int_equal(count_lines(record, "hit "), 1 + 2 * LIVING + OTHERS);
	assert_int_equal(record->context.ignored, 0);
	assert_int_equal(record->context.used_bytes, 0);
}

static void test_live_threads_that_have_exited_are_forgotten_first(void **state)
{
	struct record record = { .text = NULL };

	(void)state;
	record_threads(&record, EXIT_SCOPE);
	assert_int_equal(count_lines(&record, "hit living "), 2 * LIVING);
	record_free(&record);
}

static void test_live_idle_threads_are_forgotten_where_none_has_exited(void **state)
{
	struct record record = { .text = NULL };

	(void)state;
	record_threads(&record, SCOPE);
	assert_int_equal(count_lines(&record, "hit living "), LIVING);
	record_free(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_threads_that_have_exited_are_forgotten_first),
		cmocka_unit_test(test_live_idle_threads_are_forgotten_where_none_has_exited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
