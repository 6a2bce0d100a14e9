/* SPDX-License-Identifier: MIT */
/* A ring of the kernel's stacks, as it writes one: which are found, in which order, and what is not there any more. */
#include "t2test.h"

#if __SIZEOF_POINTER__ < 8
int main(void)
{
	return 77;   /* addresses of the kernel are longer than the program's there */
}
#else
#include <linux/perf_event.h>
#include <string.h>

#include "prof/tr2p_chains.h"

enum { SIZE = 1024, WORD = 8 };

static struct perf_event_mmap_page page;
static uint64_t data[SIZE / WORD];
static struct tr2p_chains chains;

static const struct tr2p_chains_place here = { 0x401000, 0x7ffe0010 }, there = { 0x402000, 0x7ffe0010 };

static int begin(void **state)
{
	(void)state;
	memset(data, 0, sizeof(data));
	memset(&page, 0, sizeof(page));
	chains = (struct tr2p_chains){ .page = &page, .data = (const unsigned char *)data, .size = SIZE };
	return 0;
}

/* Words in front of all that is there, as the kernel does: the oldest is overwritten. */
static void put(const uint64_t *words, unsigned n)
{
	page.data_head -= n * WORD;
	for (unsigned i = 0; i < n; i++)
		data[(page.data_head / WORD + i) % (SIZE / WORD)] = words[i];
}

static uint64_t head_of(uint32_t type, unsigned words)
{
	const struct perf_event_header header = { .type = type, .size = (uint16_t)(words * WORD) };
	uint64_t word;

	memcpy(&word, &header, sizeof(word));
	return word;
}

/* Addresses first, first + 0x100, ... behind a word that says whose they are. */
static void put_sample(const struct tr2p_chains_place *place, uint64_t first, unsigned n)
{
	uint64_t words[64] = { head_of(PERF_RECORD_SAMPLE, n + 6), n + 1, (uint64_t)PERF_CONTEXT_KERNEL };

	for (unsigned i = 0; i < n; i++)
		words[3 + i] = first + 0x100 * i;
	words[3 + n] = 2;             /* registers of 64 bits */
	words[4 + n] = place->sp;
	words[5 + n] = place->pc;
	put(words, n + 6);
}

static unsigned count(const struct tr2p_chains_place *place, unsigned *all)
{
	return tr2p_chains_count(&chains, tr2p_chains_head(&chains), place, all);
}

static unsigned copy(const struct tr2p_chains_place *place, unsigned nth, uintptr_t *to, unsigned max)
{
	return tr2p_chains_copy(&chains, tr2p_chains_head(&chains), place, nth, to, max);
}

static void test_chains_of_a_place_come_newest_first(void **state)
{
	uintptr_t at[8];
	unsigned all;

	(void)state;
	assert_int_equal(count(&here, &all), 0);
	assert_int_equal(all, 0);
	put_sample(&here, 0xffffffff81001000, 2);
	put_sample(&there, 0xffffffff81002000, 1);
	put_sample(&here, 0xffffffff81003000, 3);
	assert_int_equal(count(&here, &all), 2);
	assert_int_equal(all, 3);
	assert_int_equal(copy(&here, 0, at, 8), 3);
	assert_int_equal(at[0], 0xffffffff81003000);        /* where it was; the others in the calls */
	assert_int_equal(at[1], 0xffffffff810030ff);
	assert_int_equal(at[2], 0xffffffff810031ff);
	assert_int_equal(copy(&here, 1, at, 8), 2);
	assert_int_equal(at[0], 0xffffffff81001000);
	assert_int_equal(copy(&here, 2, at, 8), 0);
	assert_int_equal(copy(&here, 0, at, 2), 2);
	assert_int_equal(copy(&there, 0, at, 8), 1);
}

static void test_chains_that_were_seen_do_not_come_again(void **state)
{
	unsigned all;

	(void)state;
	put_sample(&here, 0xffffffff81001000, 2);
	chains.seen = tr2p_chains_head(&chains);
	assert_int_equal(count(&here, &all), 0);
	put_sample(&here, 0xffffffff81002000, 2);
	assert_int_equal(count(&here, &all), 1);
	assert_int_equal(all, 1);
}

/* Also where a record is in two parts, at the end of the ring and at its beginning. */
static void test_chains_that_are_overwritten_are_left_out(void **state)
{
	enum { EACH = 10 * WORD };
	uintptr_t at[8];
	unsigned all;

	(void)state;
	for (unsigned i = 1; i <= 100; i++) {
		put_sample(&here, 0xffffffff81000000 + 0x10000 * (uint64_t)i, 4);
		assert_int_equal(count(&here, &all), i < SIZE / EACH ? i : SIZE / EACH);
		assert_int_equal(copy(&here, 0, at, 8), 4);
		assert_int_equal(at[0], 0xffffffff81000000 + 0x10000 * (uint64_t)i);
		assert_int_equal(at[3], at[0] + 0x2ff);
	}
}

/* The kernel writes while somebody looks: what he looks for is gone. */
static void test_chains_that_go_meanwhile_are_not_returned(void **state)
{
	uintptr_t at[8];
	uint64_t head;

	(void)state;
	put_sample(&here, 0xffffffff81001000, 4);
	head = tr2p_chains_head(&chains);
	assert_int_equal(tr2p_chains_copy(&chains, head, &here, 0, at, 8), 4);
	page.data_head -= SIZE;
	assert_int_equal(tr2p_chains_copy(&chains, head, &here, 0, at, 8), 0);
}

static void test_chains_of_other_records_and_of_none_end_nothing(void **state)
{
	const uint64_t lost[] = { head_of(PERF_RECORD_LOST, 3), 1, 2 };
	/* a thread of the kernel has no registers of a program: only which kind, none */
	const uint64_t bare[] = { head_of(PERF_RECORD_SAMPLE, 5), 2, (uint64_t)PERF_CONTEXT_KERNEL,
				  0xffffffff81000000, 0 };
	const uint64_t wrong[] = { head_of(PERF_RECORD_SAMPLE, 3), UINT64_MAX, 7 };
	unsigned all;

	(void)state;
	put_sample(&here, 0xffffffff81001000, 2);
	put(lost, 3);
	put(bare, 5);
	put(wrong, 3);
	put_sample(&here, 0xffffffff81001000, 2);
	assert_int_equal(count(&here, &all), 2);
	assert_int_equal(all, 2);
}

/* Whatever is in the ring: sizes that are none end the walk. */
static void test_chains_in_a_damaged_ring_end(void **state)
{
	const uint16_t sizes[] = { 0, 4, 12, 0xfff8, 0xffff };
	uintptr_t at[8];
	unsigned all;

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = sizes[i] };
		uint64_t word;

		begin(NULL);
		put_sample(&here, 0xffffffff81001000, 2);
		memcpy(&word, &header, sizeof(word));
		put(&word, 1);
		assert_int_equal(count(&here, &all), 0);
		assert_int_equal(copy(&here, 0, at, 8), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_chains_of_a_place_come_newest_first, begin),
		cmocka_unit_test_setup(test_chains_that_were_seen_do_not_come_again, begin),
		cmocka_unit_test_setup(test_chains_that_are_overwritten_are_left_out, begin),
		cmocka_unit_test_setup(test_chains_that_go_meanwhile_are_not_returned, begin),
		cmocka_unit_test_setup(test_chains_of_other_records_and_of_none_end_nothing, begin),
		cmocka_unit_test_setup(test_chains_in_a_damaged_ring_end, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
