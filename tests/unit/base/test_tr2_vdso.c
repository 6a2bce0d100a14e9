/* SPDX-License-Identifier: MIT */
/* Which clock the kernel computes its time from: the library believes its numbers only if the time agrees. */
#include "t2test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/tr2_vdso.h"

#if defined(__x86_64__)
enum { MULT_AT = 24, SHIFT = 20, MODE_TSC = 1, MODE_OTHER = 2, UPTIME_S = 1000 };

/* The order that Linux 5.6 has. */
struct numbers {
	uint32_t sequence;
	int32_t mode;
	uint64_t cycles, mask;
	uint32_t mult, shift;
	struct { uint64_t sec, ns; } time[4];
};

static uint64_t begun;
static uint64_t uptime_s;

/* A clock that makes 1 ns of 2 ticks, and began at uptime_s. */
static int read_clock(clockid_t clock, struct timespec *now)
{
	uint64_t ns = uptime_s * 1000000000 + (__builtin_ia32_rdtsc() - begun) / 2;

	assert_int_equal(clock, CLOCK_MONOTONIC);
	*now = (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	return 0;
}

/* The numbers of that clock. */
static struct numbers make_numbers(void)
{
	begun = __builtin_ia32_rdtsc();
	uptime_s = UPTIME_S;
	return (struct numbers){
		.sequence = 8, .mode = MODE_TSC, .cycles = begun, .mult = 1U << (SHIFT - 1), .shift = SHIFT,
		.time[CLOCK_MONOTONIC].sec = UPTIME_S,
	};
}

static void test_vdso_numbers_that_give_the_time_are_believed(void **state)
{
	struct numbers numbers = make_numbers();

	(void)state;
	assert_int_equal(tr2_vdso_agrees(&numbers, MULT_AT, read_clock), 1);
}

static void test_vdso_numbers_that_give_another_time_are_not_believed(void **state)
{
	struct numbers numbers = make_numbers();

	(void)state;
	numbers.time[CLOCK_MONOTONIC].ns = UINT64_C(100000) << SHIFT;
	assert_int_equal(tr2_vdso_agrees(&numbers, MULT_AT, read_clock), 0);
	numbers = make_numbers();
	numbers.cycles -= 1000000;
	assert_int_equal(tr2_vdso_agrees(&numbers, MULT_AT, read_clock), 0);
	numbers = make_numbers();
	assert_int_equal(tr2_vdso_agrees(&numbers, MULT_AT + 8, read_clock), 0);
}

static void test_vdso_numbers_of_another_clock_are_not_believed(void **state)
{
	struct numbers numbers = make_numbers();

	(void)state;
	numbers.mode = MODE_OTHER;
	assert_int_equal(tr2_vdso_agrees(&numbers, MULT_AT, read_clock), 0);
}

static void test_vdso_numbers_that_are_being_changed_are_not_believed(void **state)
{
	struct numbers numbers = make_numbers();

	(void)state;
	numbers.sequence++;
	assert_int_equal(tr2_vdso_agrees(&numbers, MULT_AT, read_clock), 0);
}

static void test_vdso_numbers_while_the_kernel_starts_are_not_believed(void **state)
{
	struct numbers numbers = make_numbers();

	(void)state;
	uptime_s = numbers.time[CLOCK_MONOTONIC].sec = 10;
	assert_int_equal(tr2_vdso_agrees(&numbers, MULT_AT, read_clock), 0);
}

static int is_readable(const void *word)
{
	int pipes[2], is;

	assert_int_equal(pipe(pipes), 0);
	is = write(pipes[1], word, 4) == 4;
	close(pipes[0]);
	close(pipes[1]);
	return is;
}

static int is_not_readable(const void *word)
{
	(void)word;
	return 0;
}

/* The kernel says its choice in a file, too. */
static void test_vdso_says_no_clock_that_the_kernel_does_not_have(void **state)
{
	char name[16] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY);

	(void)state;
	if (fd < 0)
		skip();
	assert_true(read(fd, name, sizeof(name) - 1) > 0);
	close(fd);
	if (strcmp(name, "tsc\n"))
		assert_int_equal(tr2_vdso_trusts_counter(tr2_vdso_find_clock(), is_readable), 0);
}

static void test_vdso_that_is_not_in_memory_is_not_read(void **state)
{
	(void)state;
	assert_int_equal(tr2_vdso_trusts_counter(tr2_vdso_find_clock(), is_not_readable), 0);
}

static void test_vdso_without_a_clock_is_not_asked(void **state)
{
	(void)state;
	assert_int_equal(tr2_vdso_trusts_counter(NULL, is_readable), 0);
}
#else
static void test_vdso_of_other_processors_is_not_asked(void **state)
{
	(void)state;
	assert_int_equal(tr2_vdso_trusts_counter(tr2_vdso_find_clock(), NULL), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(test_vdso_numbers_that_give_the_time_are_believed),
		cmocka_unit_test(test_vdso_numbers_that_give_another_time_are_not_believed),
		cmocka_unit_test(test_vdso_numbers_of_another_clock_are_not_believed),
		cmocka_unit_test(test_vdso_numbers_that_are_being_changed_are_not_believed),
		cmocka_unit_test(test_vdso_numbers_while_the_kernel_starts_are_not_believed),
		cmocka_unit_test(test_vdso_says_no_clock_that_the_kernel_does_not_have),
		cmocka_unit_test(test_vdso_that_is_not_in_memory_is_not_read),
		cmocka_unit_test(test_vdso_without_a_clock_is_not_asked),
#else
		cmocka_unit_test(test_vdso_of_other_processors_is_not_asked),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
