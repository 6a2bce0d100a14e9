/* SPDX-License-Identifier: MIT */
/*
 * test_tlg_pack.c - whatever is packed comes out again bit for bit; whatever is unpacked harms nothing.  Random
 * blocks; T2_SEED repeats a run, T2_ROUNDS makes it longer.  The example of FORMAT.md is what it says.
 */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tlg_pack.h"
#include "read/t2x_layout.h"

enum { MOST_EVENTS = 600, MOST_BYTES = 27 * MOST_EVENTS + 64 };

static uint64_t g_seed;
static unsigned g_rounds = 300;
static const struct tlg_pack_key g_key = { 0x1234, 7 };

static uint64_t random_number(void)
{
	g_seed ^= g_seed << 13;
	g_seed ^= g_seed >> 7;
	g_seed ^= g_seed << 17;
	return g_seed * UINT64_C(0x2545f4914f6cdd1d);
}

static unsigned below(unsigned limit)
{
	return (unsigned)(random_number() >> 33) % limit;
}

/* Of any size, the ends of each size among them. */
static uint64_t random_size(void)
{
	uint64_t value = random_number() >> below(64);

	switch (below(8)) {
	case 0: return 0;
	case 1: return UINT64_C(1) << below(64);
	case 2: return (UINT64_C(1) << below(64)) - 1;
	case 3: return 0 - value;
	default: return value;
	}
}

/* ---- blocks -------------------------------------------------------------------------------------- */

static struct tlg_event head(unsigned flags, uint32_t sequence)
{
	struct tlg_event event;

	memset(&event, 0, sizeof(event));
	event.flags = (uint16_t)(flags | 0x5000);
	event.pid = (uint16_t)g_key.pid;
	event.sequence = sequence;
	return event;
}

static struct tlg_event random_argument(uint32_t sequence, unsigned end)
{
	struct tlg_event event;

	if (below(2)) {
		event = head(TLG_VALUE | end, sequence);
		event.u.value.value = (int64_t)random_size();
		event.u.value.argtype = 1 + below(6);
	} else {
		event = head(TLG_INFO | end, sequence);
		for (unsigned i = below(TLG_TEXT_SIZE + 1); i--;)
			event.u.payload[i] = (unsigned char)random_number();
	}
	return event;
}

/* What a drain writes: chains with arguments, context, steps, gaps. */
static unsigned make_usual(struct tlg_event *events)
{
	unsigned n = 0, wanted = 1 + below(MOST_EVENTS - 40);
	uint32_t sequence = (uint32_t)random_number();
	uint64_t when = random_number() >> 8;

	while (n < wanted) {
		unsigned arguments = below(3) ? 0 : 1 + below(6);
		uint32_t start = sequence;
		if (!below(10)) {
			events[n] = head(TLG_SLOC | TLG_HAS_INFO, sequence);
			events[n++].u.sourceloc.scopeIndex = below(300);
			events[n++] = random_argument(sequence, TLG_INFO_END);
		}
		events[n] = head((arguments ? TLG_HAS_INFO : 0) | (below(20) ? 0 : TLG_RENDERED) |
					 (below(30) ? TLG_HIT : TLG_MORE), start);
		when += random_size() >> 40;
		events[n++].u.hit = (struct tlg_hit){ below(9) ? when : 0, (uint32_t)random_size() >> below(32),
						      below(50) ? g_key.tid : 8 };
		for (unsigned i = 1; i <= arguments; i++)
			events[n++] = random_argument(start, i == arguments ? TLG_INFO_END : 0);
		sequence = start + 1 + arguments + (below(20) ? 0 : below(1000));
	}
	return n;
}

/* Anything, but often with types that are packed in special ways. */
static unsigned make_wild(struct tlg_event *events)
{
	static const uint16_t flags[] = { 0, 0x100, 0x900, 0x0a, 0x20a, 0xff, 0x2ff, 0x0e, 0x400, 0x5000, 0xf2ff };
	unsigned n = 1 + below(MOST_EVENTS);

	for (unsigned i = 0; i < n; i++) {
		uint64_t words[3] = { random_size(), random_size(), random_size() };
		memcpy(&events[i], words, sizeof(events[i]));
		if (below(4))
			events[i].flags = flags[below(sizeof(flags) / sizeof(flags[0]))];
		if (below(4))
			events[i].pid = (uint16_t)g_key.pid;
		if (below(4))
			events[i].sequence = below(3);
		if (below(2))
			events[i].u.hit.tid = below(2) ? g_key.tid : 0;
	}
	return n;
}

/* ---- there and back ------------------------------------------------------------------------------ */

/* In memory of exactly this size, so that a sanitizer sees every byte too far. */
static void *exactly(const void *bytes, size_t n)
{
	void *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	return copy;
}

static size_t check_both_ways(const struct tlg_event *events, unsigned n)
{
	struct tlg_event *from = exactly(events, n * sizeof(*from)), *back = malloc(n * sizeof(*back));
	unsigned char *packed = malloc(MOST_BYTES), *exact;
	size_t bytes = tlg_pack(&g_key, from, n, packed, MOST_BYTES);

	assert_true(bytes && bytes % TLG_EVENT_SIZE == 0 && bytes <= 27u * n + 23);
	exact = exactly(packed, bytes);
	memset(back, 0xa5, n * sizeof(*back));
	assert_true(tlg_unpack(&g_key, exact, bytes, 0, back, n));
	assert_memory_equal(back, events, n * sizeof(*back));
	free(from);
	free(back);
	free(packed);
	free(exact);
	return bytes;
}

static void test_pack_any_block_comes_back_bit_for_bit(void **state)
{
	static struct tlg_event events[MOST_EVENTS];

	(void)state;
	for (unsigned i = 0; i < g_rounds; i++) {
		check_both_ways(events, make_usual(events));
		check_both_ways(events, make_wild(events));
	}
}

/* Three events of a kind, one bit of the middle one turned over. */
static void check_bit(unsigned flags, unsigned bit)
{
	struct tlg_event events[3];

	for (unsigned i = 0; i < 3; i++) {
		events[i] = head(flags, i);
		if ((flags & TLG_TYPE_MASK) == TLG_HIT)
			events[i].u.hit.tid = g_key.tid;
	}
	((unsigned char *)&events[1])[bit / 8] ^= (unsigned char)(1 << bit % 8);
	check_both_ways(events, 3);
}

static void test_pack_every_single_bit_comes_back(void **state)
{
	static const uint16_t flags[] = { 0, 0x100, 0x900, 0x0a, 0x20a, 0xff, 0x2ff, 0x03, 0x0e };

	(void)state;
	for (unsigned f = 0; f < sizeof(flags) / sizeof(flags[0]); f++)
		for (unsigned bit = 0; bit < 8 * TLG_EVENT_SIZE; bit++)
			check_bit(flags[f], bit);
}

static void test_pack_regions_of_one_thread_take_few_bytes(void **state)
{
	static struct tlg_event events[512];

	(void)state;
	for (unsigned i = 0; i < 512; i++) {
		events[i] = head(TLG_HIT, 1000 + i);
		events[i].u.hit = (struct tlg_hit){ UINT64_C(123456789012345) + 300 * i, 1 + i % 20, g_key.tid };
	}
	assert_in_range(check_both_ways(events, 512), 1, 4 * 512 + 48);
}

static void test_pack_writes_no_more_than_its_size(void **state)
{
	static struct tlg_event events[MOST_EVENTS];
	static unsigned char whole[MOST_BYTES];
	unsigned n = make_wild(events);
	size_t bytes = tlg_pack(&g_key, events, n, whole, sizeof(whole));

	(void)state;
	for (size_t size = 0; size < bytes + 64; size++) {
		unsigned char *to = malloc(size ? size : 1);
		size_t got = tlg_pack(&g_key, events, n, to, size);
		assert_non_null(to);
		assert_true(got == bytes || (!got && size < bytes + 32));
		assert_true(!got || !memcmp(to, whole, bytes));
		free(to);
	}
}

/* ---- the other byte order ------------------------------------------------------------------------ */

/* A text that reads the same from both ends, so that its writer's byte order does not matter. */
static void make_symmetric(struct tlg_event *event)
{
	for (unsigned i = 0; i < TLG_PAYLOAD_SIZE; i++)
		event->u.payload[i] = 0x11;
}

static void test_unpack_swapped_gives_the_events_of_the_other_order(void **state)
{
	static struct tlg_event events[MOST_EVENTS], swapped[MOST_EVENTS], turned[MOST_EVENTS];
	static unsigned char packed[MOST_BYTES];
	const uint16_t probe = 1;
	struct t2x_layout layout;

	(void)state;
	assert_int_equal(t2x_layout_init(&layout, !*(const unsigned char *)&probe), 0);
	for (unsigned round = 0; round < g_rounds; round++) {
		unsigned n = make_usual(events);
		size_t bytes;
		for (unsigned i = 0; i < n; i++) {
			unsigned type = tlg_event_type(&events[i]);
			if (type != TLG_INFO && type != TLG_VALUE && (type != TLG_HIT || events[i].flags & 0x800 ||
								      events[i].u.hit.tid != g_key.tid))
				make_symmetric(&events[i]);
			if (type == TLG_HIT && (!i || events[i].sequence != events[i - 1].sequence + 1))
				make_symmetric(&events[i]);
			if (type == TLG_VALUE && events[i].u.value.argtype > TLG_ARG_TEXT)
				events[i].u.value.argtype = TLG_ARG_INT;
		}
		bytes = tlg_pack(&g_key, events, n, packed, sizeof(packed));
		assert_true(tlg_unpack(&g_key, packed, bytes, 1, swapped, n));
		for (unsigned i = 0; i < n; i++) {
			t2x_layout_decode(&layout, (const unsigned char *)&swapped[i], 1, turned);
			if (tlg_event_type(&events[i]) == TLG_SLOC)
				memcpy(turned->u.payload, events[i].u.payload, TLG_PAYLOAD_SIZE);
			assert_memory_equal(turned, &events[i], sizeof(*turned));
		}
	}
	t2x_layout_free(&layout);
}

/* ---- hostile bytes ------------------------------------------------------------------------------- */

/* Whatever is there: no more is read than that, and what is accepted has been understood to its end. */
static void check_hostile(const unsigned char *bytes, size_t n, unsigned count)
{
	unsigned char *exact = exactly(bytes, n);
	struct tlg_event *events = malloc(count * sizeof(*events));

	assert_non_null(events);
	for (int is_swapped = 0; is_swapped < 2; is_swapped++)
		if (tlg_unpack(&g_key, exact, n, is_swapped, events, count))
			assert_true(count <= n && n <= 27u * count + 23);
	free(exact);
	free(events);
}

static void test_unpack_noise_is_refused_or_harmless(void **state)
{
	static unsigned char noise[1024];

	(void)state;
	for (unsigned round = 0; round < 30 * g_rounds; round++) {
		size_t n = below(sizeof(noise));
		unsigned zeros = below(4);
		for (size_t i = 0; i < n; i++)
			noise[i] = below(4) < zeros ? 0 : (unsigned char)random_number();
		check_hostile(noise, n, 1 + below(MOST_EVENTS));
	}
}

static void test_unpack_damaged_block_is_refused_or_harmless(void **state)
{
	static struct tlg_event events[MOST_EVENTS];
	static unsigned char packed[MOST_BYTES];

	(void)state;
	for (unsigned round = 0; round < g_rounds; round++) {
		unsigned n = make_usual(events);
		size_t bytes = tlg_pack(&g_key, events, n, packed, sizeof(packed));
		for (unsigned i = 0; i < 20; i++) {
			packed[below((unsigned)bytes)] ^= (unsigned char)(1 << below(8));
			check_hostile(packed, bytes, n);
		}
	}
}

static void test_unpack_cut_or_longer_block_is_refused(void **state)
{
	static struct tlg_event events[MOST_EVENTS], back[MOST_EVENTS + 1];
	static unsigned char packed[MOST_BYTES + 64];
	unsigned n = make_usual(events);
	size_t bytes, end;

	(void)state;
	/* packed as zeros, which blocks are filled up with, it might be missing and nobody knew */
	memset(&events[n - 1], 0xff, sizeof(events[0]));
	bytes = end = tlg_pack(&g_key, events, n, packed, MOST_BYTES);
	while (!packed[end - 1])
		end--;
	for (size_t cut = 0; cut < end; cut++) {
		unsigned char *exact = exactly(packed, cut);
		assert_false(tlg_unpack(&g_key, exact, cut, 0, back, n));
		free(exact);
	}
	assert_true(tlg_unpack(&g_key, packed, bytes, 0, back, n));
	assert_false(tlg_unpack(&g_key, packed, bytes + TLG_EVENT_SIZE, 0, back, n));
	assert_false(tlg_unpack(&g_key, packed, bytes, 0, back, n - 1));
	packed[bytes] = 1;
	assert_false(tlg_unpack(&g_key, packed, bytes + 1, 0, back, n));
}

static void test_unpack_unused_tags_are_refused(void **state)
{
	unsigned char bytes[24] = { 0 };
	struct tlg_event event;

	(void)state;
	for (unsigned tag = 0; tag < 256; tag++) {
		unsigned kind = tag & 7, bits = tag >> 3;
		int is_used = kind == 7 ? bits < 4 : kind < 5 || bits <= TLG_TEXT_SIZE;
		bytes[0] = (unsigned char)tag;
		assert_int_equal(tlg_unpack(&g_key, bytes, sizeof(bytes), 0, &event, 1), is_used);
	}
}

/* ---- the example --------------------------------------------------------------------------------- */

/* One line: packed bytes in hex, then " | ", then the event as 24 bytes in hex.  Return  0: it is none */
static int parse_hex(const char **at, unsigned char *byte)
{
	int n = 0;
	unsigned value;

	if (sscanf(*at, " %2x%n", &value, &n) != 1)
		return 0;
	*at += n;
	*byte = (unsigned char)value;
	return 1;
}

static unsigned read_example(unsigned char *packed, size_t *bytes, struct tlg_event *events)
{
	FILE *file = fopen("FORMAT.md", "r");
	char line[512];
	unsigned n = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) && strcmp(line, "<!-- packed -->\n"))
		;
	for (*bytes = 0; fgets(line, sizeof(line), file) && strcmp(line, "<!-- /packed -->\n");) {
		const char *at = line, *bar = strchr(line, '|');
		unsigned char *event = (unsigned char *)&events[n];
		if (!bar)
			continue;
		while (at < bar && parse_hex(&at, &packed[*bytes]))
			++*bytes;
		at = bar + 1;
		for (unsigned i = 0; i < TLG_EVENT_SIZE; i++)
			assert_true(parse_hex(&at, &event[i]));
		n++;
	}
	fclose(file);
	return n;
}

static void test_pack_example_of_the_manual_is_right(void **state)
{
	static struct tlg_event events[64], back[64];
	unsigned char expected[1024] = { 0 }, packed[1024];
	size_t bytes = 0, whole;
	unsigned n = read_example(expected, &bytes, events);

	(void)state;
	assert_true(n > 4);
	whole = (bytes + TLG_EVENT_SIZE - 1) / TLG_EVENT_SIZE * TLG_EVENT_SIZE;
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
		assert_int_equal(tlg_pack(&g_key, events, n, packed, sizeof(packed)), whole);
		assert_memory_equal(packed, expected, whole);
	}
	assert_true(tlg_unpack(&g_key, expected, whole, __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__, back, n));
	assert_memory_equal(back, events, n * sizeof(*back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack_any_block_comes_back_bit_for_bit),
		cmocka_unit_test(test_pack_every_single_bit_comes_back),
		cmocka_unit_test(test_pack_regions_of_one_thread_take_few_bytes),
		cmocka_unit_test(test_pack_writes_no_more_than_its_size),
		cmocka_unit_test(test_unpack_swapped_gives_the_events_of_the_other_order),
		cmocka_unit_test(test_unpack_noise_is_refused_or_harmless),
		cmocka_unit_test(test_unpack_damaged_block_is_refused_or_harmless),
		cmocka_unit_test(test_unpack_cut_or_longer_block_is_refused),
		cmocka_unit_test(test_unpack_unused_tags_are_refused),
		cmocka_unit_test(test_pack_example_of_the_manual_is_right),
	};
	const char *rounds = getenv("T2_ROUNDS"), *given = getenv("T2_SEED");

	if (rounds)
		g_rounds = (unsigned)strtoul(rounds, NULL, 0);
	g_seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 2654435761u + 1;
	print_message("T2_SEED=%llu\n", (unsigned long long)g_seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
