/* SPDX-License-Identifier: MIT */
/* A program that closes all descriptors and gives up its rights, as daemons do: nothing of what it records is lost. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect.h"
#include "flood.h"
#include "trace2.h"
#include "traced.h"

enum { FEW = 10, MANY = 100000, NOBODY = 65534, DESCRIPTORS = 1024, FIRST = 3 };

/* ---- the programs -------------------------------------------------------------------------------- */

static void close_all(void)
{
	for (int fd = FIRST; fd < DESCRIPTORS; fd++)
		close(fd);
}

/* The trace cannot be opened again: as root we become nobody, others close the way to it. */
static int lose_rights(void)
{
	return geteuid() ? chmod(t.dir, 0) : seteuid(NOBODY);
}

static int regain_rights(void)
{
	return getuid() ? chmod(t.dir, 0700) : seteuid(0);
}

static int become_another(void)
{
	return geteuid() ? chmod(t.dir, 0) : setgid(NOBODY) || setuid(NOBODY);
}

static int becomes_a_daemon(void *unused)
{
	(void)unused;
	trace2_initialize();
	flood(1, FEW);
	trace2_flush();
	close_all();
	if (become_another())
		return 1;
	flood(FEW, MANY);
	trace2_flush();
	flood(MANY, MANY + FEW);
	return 0;
}

static int is_another_for_a_while(void *unused)
{
	(void)unused;
	trace2_initialize();
	flood(0, FEW);
	close_all();
	if (lose_rights())
		return 1;
	trace2_flush();
	flood(FEW, MANY);
	if (regain_rights())
		return 2;
	trace2_flush();
	flood(MANY, MANY + FEW);
	return 0;
}

/* It may make new files. */
static int rotates_as_a_daemon(void *unused)
{
	(void)unused;
	trace2_initialize();
	flood(0, FEW);
	trace2_flush();
	close_all();
	if (geteuid() ? chmod(t.raw, 0) : chmod(t.raw, 0600) || chmod(t.dir, 0777) || become_another())
		return 1;
	flood(FEW, 2 * FEW);
	trace2_flush();
	trace2_rotate();
	flood(2 * FEW, MANY);
	return 0;
}

/* More than there is memory for. */
static int records_too_much_as_a_daemon(void *unused)
{
	(void)unused;
	trace2_initialize();
	close_all();
	if (become_another())
		return 1;
	flood(0, MANY);
	return 0;
}

static int has_lost_its_file(void *unused)
{
	(void)unused;
	trace2_initialize();
	flood(0, FEW);
	close_all();
	if (unlink(t.raw) || become_another())
		return 1;
	flood(FEW, MANY);
	return 0;
}

/* ---- tests -------------------------------------------------------------------------------------- */

static unsigned char g_seen[MANY + FEW];     /* how often each value was found, in the trace and in the ring file */

static void count_values(void *unused, const struct t2x_block *block)
{
	(void)unused;
	for (unsigned i = 0; i + 1u < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		int64_t value = event[1].u.value.value;

		if (tlg_event_type(event) == TLG_HIT && event->flags & TLG_HAS_INFO &&
		    tlg_event_type(&event[1]) == TLG_VALUE && value >= 0 && value < MANY + FEW)
			g_seen[value]++;
	}
}

static void run(int (*program)(void *), const char *const *settings)
{
	setenv("XDG_RUNTIME_DIR", t.dir, 1);
	traced_run(&t, program, NULL, settings);
	chmod(t.dir, 0700);
	assert_int_equal(t.status, 0);
}

static struct t2x_salvage_totals read_ring(void)
{
	struct t2x_salvage_totals sum;
	char ring[256] = "";

	memset(g_seen, 0, sizeof(g_seen));
	assert_true(collect_find(0, ring, sizeof(ring)));
	sum = collect(ring, 0, count_values, NULL);
	assert_true(sum.hits != UINT64_MAX);
	return sum;
}

static void test_daemon_has_in_its_ring_file_what_its_trace_lacks(void **state)
{
	static const char *const threads[] = { "TRACE2_RAW_THREAD=auto", "TRACE2_RAW_THREAD=init",
					       "TRACE2_RAW_THREAD=off" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		char ring[256];

		run(becomes_a_daemon, (const char *const[]){ threads[i], NULL });
		read_ring();
		for (int value = 1; value < MANY + FEW; value++)   /* 0 is the exit code, too */
			assert_int_equal(g_seen[value], 1);
		assert_true(collect_find(0, ring, sizeof(ring)));
		assert_int_equal(unlink(ring) || unlink(t.raw), 0);
	}
}

static void test_program_that_gets_its_rights_back_has_all_in_its_trace(void **state)
{
	(void)state;
	run(is_another_for_a_while, NULL);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.lost, 0);
	assert_int_equal(file.ends, 1);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "i", MANY + FEW), 0);
}

static void test_daemon_that_may_make_a_new_file_goes_on_in_it(void **state)
{
	(void)state;
	run(rotates_as_a_daemon, NULL);
	assert_int_equal(raw_read(traced_path("raw.1.tlg"), &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.ends, 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), MANY - 2 * FEW);
}

static void test_daemon_that_records_more_than_its_memory_holds_goes_on(void **state)
{
	struct t2x_salvage_totals sum;

	(void)state;
	run(records_too_much_as_a_daemon,
	    (const char *const[]){ "TRACE2_RAW_MEMORY=1m", "TRACE2_RAW_POLICY=block", NULL });
	sum = read_ring();
	assert_true(sum.hits > FEW);
	assert_true(sum.hits < MANY);
}

/* Somebody has removed the trace: nobody wants it.  The ring file is empty, if it stays. */
static void test_program_whose_trace_was_removed_leaves_no_events_in_memory(void **state)
{
	char ring[256] = "";

	(void)state;
	if (geteuid())
		skip();   /* the way to the trace is closed, too */
	assert_int_equal(chmod(t.dir, 0755), 0);
	run(has_lost_its_file, NULL);
	if (collect_find(0, ring, sizeof(ring)))
		assert_true(collect(ring, 0, count_values, NULL).hits + 1 <= 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TRACED_TEST(test_daemon_has_in_its_ring_file_what_its_trace_lacks),
		TRACED_TEST(test_program_that_gets_its_rights_back_has_all_in_its_trace),
		TRACED_TEST(test_daemon_that_may_make_a_new_file_goes_on_in_it),
		TRACED_TEST(test_daemon_that_records_more_than_its_memory_holds_goes_on),
		TRACED_TEST(test_program_whose_trace_was_removed_leaves_no_events_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
