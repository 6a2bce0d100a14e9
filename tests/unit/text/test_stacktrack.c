/* SPDX-License-Identifier: MIT */
/*
 * test_stacktrack.c - the listing in StackTrack's own document, from a file with the layout of its platform:
 * 2-byte scope indices and thread ids, a 4-byte calendar time.
 *
 * The expected text is the document's, with the hexadecimal numbers right that it pads on the wrong side.
 */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "record.h"
#include "tlgmake.h"
#include "read/t2x_layout.h"

enum { EVENTS = 16, ENTRY = 24, PID = 0x060c, TID = 0x04c8, TICKS_PER_S = 3579545, START = 1000000 };

/* A file in the making. */
struct maker {
	unsigned char bytes[EVENTS * ENTRY];
	unsigned n;               /* events */
	int big_endian;
};

/* A number at an offset of the latest event. */
static void put(struct maker *maker, unsigned at, unsigned size, uint64_t value)
{
	unsigned char *p = maker->bytes + (maker->n - 1) * ENTRY + at;

	for (unsigned i = 0; i < size; i++)
		p[maker->big_endian ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

static void add(struct maker *maker, unsigned flags, unsigned sequence)
{
	maker->n++;
	put(maker, 0, 2, flags);
	put(maker, 2, 2, PID);
	put(maker, 4, 4, sequence);
}

static void add_text(struct maker *maker, unsigned sequence, const char *text)
{
	for (size_t left = strlen(text); left;) {
		size_t part = left < 16 ? left : 16;
		add(maker, part == left ? 0x02ff : 0x00ff, sequence);
		memcpy(maker->bytes + (maker->n - 1) * ENTRY + 8, text, part);
		text += part;
		left -= part;
	}
}

static void add_scope(struct maker *maker, unsigned sequence, unsigned index, unsigned style, unsigned line)
{
	add(maker, 0x0103, sequence);
	put(maker, 8, 2, index);
	put(maker, 10, 2, style);
	put(maker, 12, 2, line);
	put(maker, 16, 2, 2);
}

static void add_hit(struct maker *maker, unsigned flags, unsigned sequence, unsigned ticks, unsigned scope)
{
	add(maker, flags, sequence);
	put(maker, 8, 8, START + ticks);
	put(maker, 16, 2, scope);
	put(maker, 18, 2, TID);
}

static void make_prologue(struct maker *maker)
{
	add(maker, 4, 0);
	put(maker, 8, 4, 0x12345678);
	put(maker, 12, 4, 0x100);
	put(maker, 16, 1, 16);
	put(maker, 17, 1, 24);
	put(maker, 18, 1, 8);
	add(maker, 5, 0);
	put(maker, 8, 2, PID);
	put(maker, 10, 2, 1);
	add(maker, 7, 0);
	put(maker, 8, 8, TICKS_PER_S);
	put(maker, 16, 2, 2);
	add(maker, 6, 0);
	put(maker, 8, 8, START);
	put(maker, 16, 4, 1111756865);
}

static void make_file(struct maker *maker, int big_endian)
{
	memset(maker, 0, sizeof(*maker));
	maker->big_endian = big_endian;
	make_prologue(maker);
	add(maker, 0x0101, 1);
	put(maker, 8, 2, 2);
	add_text(maker, 1, "..\\..\\..\\libs\\stacktrack\\src\\filesink.cpp");
	add_scope(maker, 1, 1, 3, 98);
	add_text(maker, 1, "file_sink_impl::open");
	add_hit(maker, 0, 1, 2291, 1);
	add_scope(maker, 2, 2, 6, 99);
	add_text(maker, 2, "name");
	add_hit(maker, 0x0100, 2, 2452, 2);
	add_text(maker, 2, "bar");
	assert_int_equal(maker->n, EVENTS);
}

static void load_layout(struct t2x_layout *layout, int big_endian)
{
	char *xml = listing_read("tests/data/stacktrack.layout.xml");
	const char *why;

	if (big_endian)
		memcpy(strstr(xml, "0x78563412"), "0x12345678", 10);
	assert_int_equal(t2x_layout_parse(layout, xml, strlen(xml), &why), 0);
	free(xml);
}

static void check_listing(int big_endian)
{
	char *expected = listing_read("tests/data/stacktrack.xml"), *xml;
	struct t2x_layout layout;
	struct maker maker;

	load_layout(&layout, big_endian);
	make_file(&maker, big_endian);
	xml = listing_xml(maker.bytes, sizeof(maker.bytes), &layout);
	assert_string_equal(xml, expected);
	free(xml);
	free(expected);
	t2x_layout_free(&layout);
}

static void test_stacktrack_sample_gives_the_documents_listing(void **state)
{
	(void)state;
	check_listing(0);
}

static void test_stacktrack_big_endian_sample_gives_the_same(void **state)
{
	(void)state;
	check_listing(1);
}

static void test_stacktrack_scopes_are_steps(void **state)
{
	struct record record = { .text = NULL };
	struct t2x_layout layout;
	struct maker maker;
	const char *path;

	(void)state;
	load_layout(&layout, 0);
	make_file(&maker, 0);
	path = tlgmake_path(maker.bytes, sizeof(maker.bytes));
	record_run(&record, &path, 1, &layout);
	tlgmake_close(path);
	/* 1111756865.000640025 and .000685003, from TLGMAKE_SECOND */
	assert_string_equal(record.text, "hit ? -588243134999359975 file_sink_impl::open\n"
					 "hit ? -588243134999314997 name\n");
	assert_int_equal(record.report.damages, 0);
	record_free(&record);
	t2x_layout_free(&layout);
}

/* Nothing tells such files' checkpoints of one time apart but the file: one after the other, none is held up. */
static void test_stacktrack_two_files_of_equal_times_are_merged(void **state)
{
	struct record record = { .text = NULL };
	struct t2x_layout layout;
	struct maker maker;
	const char *paths[2];

	(void)state;
	load_layout(&layout, 0);
	make_file(&maker, 0);
	paths[0] = paths[1] = tlgmake_path(maker.bytes, sizeof(maker.bytes));
	record_run(&record, paths, 2, &layout);
	tlgmake_close(paths[0]);
	assert_string_equal(record.text, "hit ? -588243134999359975 file_sink_impl::open\n"
					 "hit ? -588243134999359975 file_sink_impl::open\n"
					 "hit ? -588243134999314997 name\n"
					 "hit ? -588243134999314997 name\n");
	record_free(&record);
	t2x_layout_free(&layout);
}

static void test_stacktrack_raw_turns_events_into_ours(void **state)
{
	struct t2x_layout layout;
	struct maker maker;
	struct tlg_event *events;
	unsigned char *raw;
	size_t n;

	(void)state;
	load_layout(&layout, 1);
	make_file(&maker, 1);
	raw = listing_raw(maker.bytes, sizeof(maker.bytes), &layout, &n);
	assert_int_equal(n, EVENTS * sizeof(*events));
	events = (struct tlg_event *)(void *)raw;
	assert_int_equal(events[0].u.prologue._12345678, TLG_MAGIC);
	assert_int_equal(events[3].u.timeinfo.start, 1111756865);
	assert_int_equal(events[8].u.sourceloc.linenum, 98);
	assert_int_equal(events[8].u.sourceloc.filenum, 2);
	assert_int_equal(events[11].u.hit.when, START + 2291);
	assert_int_equal(events[11].u.hit.tid, TID);
	assert_memory_equal(events[15].u.info.text.c, "bar\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	free(raw);
	t2x_layout_free(&layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacktrack_sample_gives_the_documents_listing),
		cmocka_unit_test(test_stacktrack_big_endian_sample_gives_the_same),
		cmocka_unit_test(test_stacktrack_scopes_are_steps),
		cmocka_unit_test(test_stacktrack_two_files_of_equal_times_are_merged),
		cmocka_unit_test(test_stacktrack_raw_turns_events_into_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
