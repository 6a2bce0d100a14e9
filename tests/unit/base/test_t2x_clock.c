/* SPDX-License-Identifier: MIT */
/* test_t2x_clock.c - readings to nanoseconds, to the last one. */
#include "t2test.h"

#include "base/t2x_clock.h"

__extension__ typedef __int128 wide;

static struct t2x_clock make_clock(uint64_t rate, uint64_t raw, int64_t seconds)
{
	struct t2x_clock clock;

	t2x_clock_fallback(&clock);
	t2x_clock_set_rate(&clock, rate);
	t2x_clock_set_pair(&clock, raw, seconds);
	return clock;
}

/* The definition in FORMAT.md, rounded down. */
static uint64_t expected_ns(uint64_t rate, uint64_t raw0, int64_t seconds, uint64_t raw)
{
	wide ticks = (int64_t)(raw - raw0), ns = ticks * 1000000000 / (wide)rate;

	if (ticks < 0 && ns * (wide)rate != ticks * 1000000000)
		ns--;
	return (uint64_t)(ns + (wide)seconds * 1000000000);
}

static void test_clock_nanoseconds_are_taken_as_they_are(void **state)
{
	struct t2x_clock clock = make_clock(1000000000, 500, 3);

	(void)state;
	assert_true(t2x_clock_ns(&clock, 500) == 3000000000);
	assert_true(t2x_clock_ns(&clock, 1234) == 3000000734);
	assert_true(t2x_clock_ns(&clock, 499) == 2999999999);
}

static void test_clock_any_rate_is_exact(void **state)
{
	static const uint64_t rates[] = {
		1, 2, 3, 1000, 3579545, 24000000, 999999999, 2596138202, 4294967291, 4294967296, 8589934592, 8589934593,
		9223372036, 9223372037, 18446744073, 18446744074, UINT64_C(1) << 40
	};
	uint64_t random = 88172645463325252u;

	(void)state;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		const uint64_t raw0 = UINT64_C(987654321987654);
		struct t2x_clock clock = make_clock(rates[i], raw0, 1700000000);
		for (unsigned k = 0; k < 5000; k++) {
			uint64_t raw;
			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			/* within some ten seconds, in both directions, and sometimes near a full one */
			raw = raw0 + random % (20 * rates[i]) - 10 * rates[i];
			if (k % 4 == 0)
				raw = raw0 + (random % 7) * rates[i] + random / 7 % 3 - 1;
			assert_true(t2x_clock_ns(&clock, raw) ==
				    expected_ns(rates[i], raw0, 1700000000, raw));
		}
	}
}

static void test_clock_new_pair_holds_at_once(void **state)
{
	struct t2x_clock clock = make_clock(1000, 0, 10);

	(void)state;
	assert_true(t2x_clock_ns(&clock, 1500) == 11500000000);
	t2x_clock_set_pair(&clock, 0, 20);
	assert_true(t2x_clock_ns(&clock, 1500) == 21500000000);
	t2x_clock_set_rate(&clock, 500);
	assert_true(t2x_clock_ns(&clock, 1500) == 23000000000);
}

static void test_clock_hostile_values_are_bounded(void **state)
{
	struct t2x_clock clock = make_clock(0, 0, INT64_MAX);

	(void)state;
	assert_true(t2x_clock_ns(&clock, 5) == UINT64_MAX);
	t2x_clock_set_pair(&clock, 0, INT64_MIN);
	assert_true(t2x_clock_ns(&clock, 5) == 0);
	clock = make_clock(UINT64_MAX, UINT64_MAX, 0);
	assert_true(t2x_clock_ns(&clock, 0) == 0);
	clock = make_clock(1, 0, 0);
	assert_true(t2x_clock_ns(&clock, INT64_MAX) == UINT64_MAX);
	assert_true(t2x_clock_ns(&clock, UINT64_C(1) << 63) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_nanoseconds_are_taken_as_they_are),
		cmocka_unit_test(test_clock_any_rate_is_exact),
		cmocka_unit_test(test_clock_new_pair_holds_at_once),
		cmocka_unit_test(test_clock_hostile_values_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
