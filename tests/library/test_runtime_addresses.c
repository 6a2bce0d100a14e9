/* SPDX-License-Identifier: MIT */
/* The addresses that recording takes from the program: few at first, and a limit on them costs events at most. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flood.h"
#include "stuck.h"
#include "trace2.h"
#include "traced.h"
#include "ring/tr2_map.h"
#include "ring/tr2_shm.h"

enum { FEW = 1000, FLOOD = 200000, FEW_BYTES = 40 << 20, LIMIT_ABOVE = 4 << 20 };

/* A sanitizer's own memory takes more addresses than the limits here leave. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_IF_SANITIZED() skip()
#else
#define SKIP_IF_SANITIZED() ((void)0)
#endif

static size_t count_addresses(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (!statm || fscanf(statm, "%lu", &pages) != 1)
		abort();
	fclose(statm);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void read_back(void)
{
	assert_int_equal(t.status, 0);
	assert_int_equal(stuck_await(), 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
}

/* In a forked child the parent's are still there. */
static int takes_few(void *forks)
{
	const size_t before = count_addresses();
	int status = 0;

	trace2_initialize();
	flood(0, FEW);
	if (count_addresses() - before > FEW_BYTES)
		return 1;
	if (!*(int *)forks)
		return 0;
	--*(int *)forks;
	if (!fork())
		exit(takes_few(forks));
	return wait(&status) < 0 || status;
}

static void test_recording_takes_few_addresses_in_each_process(void **state)
{
	int forks = 4;

	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, takes_few, &forks, NULL);
	read_back();
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), 5 * FEW);
	assert_int_equal(file.lost, 0);
}

static int uses_what_there_is(void *unused)
{
	size_t before;

	(void)unused;
	stuck_begin();
	trace2_initialize();
	before = tr2_map_parts().chunks;
	flood(0, FLOOD);
	stuck_release();
	return tr2_map_parts().chunks < 4 * before;
}

static void test_addresses_grow_with_the_events_in_memory(void **state)
{
	(void)state;
	traced_run(&t, uses_what_there_is, NULL, (const char *const[]){ "TRACE2_RAW=9", NULL });
	read_back();
	assert_int_equal(file.lost, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), FLOOD);
}

/* As vsftpd does.  What the program may take is left to it. */
static int is_limited_while_recorded(void *unused)
{
	void *memory;
	size_t now;

	(void)unused;
	stuck_begin();
	trace2_initialize();
	flood(0, FEW);
	now = count_addresses() + LIMIT_ABOVE;
	if (setrlimit(RLIMIT_AS, &(const struct rlimit){ now, now }))
		return 1;
	memory = mmap(NULL, LIMIT_ABOVE / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	flood(FEW, FLOOD);
	stuck_release();
	return memory == MAP_FAILED;
}

static void assert_all_are_recorded_or_counted(void)
{
	read_back();
	assert_true(file.lost > 0);
	assert_int_equal(raw_stored(&file, 0) + file.lost, FLOOD + 2);
}

static void test_a_limit_on_addresses_later_costs_counted_events(void **state)
{
	(void)state;
	SKIP_IF_SANITIZED();
	traced_run(&t, is_limited_while_recorded, NULL, (const char *const[]){ "TRACE2_RAW=9", NULL });
	assert_all_are_recorded_or_counted();
}

/* The program's own mapping is where the chunks would go on. */
static int is_in_the_way(void *unused)
{
	unsigned char *end, *taken;

	(void)unused;
	stuck_begin();
	trace2_initialize();
	end = tr2_g_shm.chunks + tr2_map_parts().chunks;
	taken = tr2_map_parts().is_mapped ? NULL : mmap(end, 4096, PROT_READ | PROT_WRITE,
							MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (taken != end)
		return 77;
	flood(0, FLOOD);
	stuck_release();
	for (int i = 0; i < 4096; i++)
		if (taken[i])
			return 1;
	return 0;
}

static void test_a_mapping_in_the_way_stays_and_costs_counted_events(void **state)
{
	(void)state;
	traced_run(&t, is_in_the_way, NULL, (const char *const[]){ "TRACE2_RAW=9", NULL });
	if (t.status == 77 << 8)
		skip();   /* the kernel had no place where a mapping can grow */
	assert_all_are_recorded_or_counted();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		STUCK_TEST(test_recording_takes_few_addresses_in_each_process),
		STUCK_TEST(test_addresses_grow_with_the_events_in_memory),
		STUCK_TEST(test_a_limit_on_addresses_later_costs_counted_events),
		STUCK_TEST(test_a_mapping_in_the_way_stays_and_costs_counted_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
