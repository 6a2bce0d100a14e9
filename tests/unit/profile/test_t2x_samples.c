/* SPDX-License-Identifier: MIT */
/* Profiles of samples: what the legacy text shows, what the message has in it, how sampled values are scaled. */
#include "t2test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "profile/t2x_samples.h"

static char written[64 * 1024];
static size_t nwritten;

static int collect(void *target, const char *bytes, size_t n)
{
	(void)target;
	assert_true(n <= sizeof(written) - nwritten);
	memcpy(written + nwritten, bytes, n);
	nwritten += n;
	return 0;
}

static int refuse(void *target, const char *bytes, size_t n)
{
	(void)target;
	(void)bytes;
	(void)n;
	return ENOSPC;
}

static void expect_text(struct t2x_samples *samples, const char *expected)
{
	nwritten = 0;
	assert_int_equal(t2x_samples_write_text(samples, collect, NULL), 0);
	written[nwritten] = 0;
	assert_string_equal(written, expected);
}

/* ---- a reader of messages ----------------------------------------------------------------------- */

static unsigned char message[64 * 1024];
static size_t nmessage;

static void unpack(struct t2x_samples *samples)
{
	z_stream stream = { .next_out = message, .avail_out = sizeof(message) };

	nwritten = 0;
	assert_int_equal(t2x_samples_write(samples, collect, NULL), 0);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = (unsigned char *)written;
	stream.avail_in = (unsigned)nwritten;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	nmessage = sizeof(message) - stream.avail_out;
	inflateEnd(&stream);
}

static uint64_t varint(const unsigned char **p)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		value |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return value;
	}
}

struct field { const unsigned char *bytes; uint64_t value; };

/* The i-th field of a number in a message: its bytes and how many, or its value. */
static struct field get(const unsigned char *bytes, size_t n, unsigned number, unsigned i)
{
	const unsigned char *p = bytes;

	while (p < bytes + n) {
		uint64_t key = varint(&p), value = varint(&p);
		const unsigned char *at = p;

		if ((key & 7) == 2)
			p += value;
		if (key >> 3 == number && !i--)
			return (struct field){ at, value };
	}
	return (struct field){ NULL, 0 };
}

static struct field in(struct field outer, unsigned number, unsigned i)
{
	return get(outer.bytes, (size_t)outer.value, number, i);
}

static struct field top(unsigned number, unsigned i)
{
	return get(message, nmessage, number, i);
}

static void expect_name(uint64_t number, const char *expected)
{
	struct field string = top(6, (unsigned)number);

	assert_int_equal(string.value, strlen(expected));
	assert_memory_equal(string.bytes, expected, strlen(expected));
}

static void expect_type(struct field type, const char *name, const char *unit)
{
	expect_name(in(type, 1, 0).value, name);
	expect_name(in(type, 2, 0).value, unit);
}

/* The i-th value of a sample. */
static int64_t value_of(unsigned sample, unsigned i)
{
	struct field values = in(top(2, sample), 2, 0);
	const unsigned char *p = values.bytes;

	while (i--)
		varint(&p);
	assert_true(p < values.bytes + values.value);
	return (int64_t)varint(&p);
}

/* ---- profiles ----------------------------------------------------------------------------------- */

static const struct t2x_samples_mapping program = {
	.start = 0x400000, .limit = 0x500000, .offset = 0x1000, .file = "/bin/program", .build_id = "c0ffee",
};

static void add(struct t2x_samples *samples, uint64_t address, int64_t count, int64_t value, int64_t period)
{
	uint32_t stack[] = { t2x_samples_location(samples, t2x_samples_mapping(samples, &program), address) };

	t2x_samples_add(samples, &(struct t2x_sample){
		.stack = stack, .depth = 1, .count = count, .value = value, .period = period,
	});
}

static void test_samples_of_a_stack_are_added_up(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("cpu");

	(void)state;
	add(samples, 0x400010, 1, 10000000, 10000000);
	add(samples, 0x400020, 1, 10000000, 10000000);
	add(samples, 0x400010, 3, 30000000, 10000000);
	expect_text(samples, "cpu profile: total 5\n4 @ 0x400011\n1 @ 0x400021\n\n"
		    "--- Memory map: ---\n400000-500000 r-xp 1000 00:00 0 /bin/program\n");
	t2x_samples_free(samples);
}

static void test_samples_message_has_types_mapping_and_period(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("cpu");
	struct field mapping;

	(void)state;
	add(samples, 0x400010, 2, 20000000, 10000000);
	t2x_samples_set_time(samples, 1000, 500);
	t2x_samples_comment(samples, "7 events lost");
	unpack(samples);
	expect_type(top(1, 0), "samples", "count");
	expect_type(top(1, 1), "cpu", "nanoseconds");
	expect_type(top(11, 0), "cpu", "nanoseconds");
	assert_int_equal(top(12, 0).value, 10000000);
	assert_int_equal(top(9, 0).value, 1000);
	assert_int_equal(top(10, 0).value, 500);
	expect_name(top(13, 0).value, "7 events lost");
	expect_name(top(14, 0).value, "cpu");
	assert_int_equal(value_of(0, 0), 2);
	assert_int_equal(value_of(0, 1), 20000000);
	mapping = top(3, 0);
	assert_int_equal(in(mapping, 2, 0).value, 0x400000);
	assert_int_equal(in(mapping, 3, 0).value, 0x500000);
	assert_int_equal(in(mapping, 4, 0).value, 0x1000);
	expect_name(in(mapping, 5, 0).value, "/bin/program");
	expect_name(in(mapping, 6, 0).value, "c0ffee");
	assert_int_equal(in(mapping, 7, 0).value, 0);
	assert_int_equal(in(top(4, 0), 2, 0).value, in(mapping, 1, 0).value);
	assert_int_equal(in(top(4, 0), 3, 0).value, 0x400010);
	t2x_samples_free(samples);
}

static void test_samples_mapping_of_the_program_is_the_first(void **state)
{
	static const struct t2x_samples_mapping library = {
		.start = 0x700000, .limit = 0x800000, .file = "/lib/libc.so.6",
	};
	struct t2x_samples *samples = t2x_samples_new("cpu");
	uint32_t stack[] = { t2x_samples_location(samples, t2x_samples_mapping(samples, &library), 0x700010) };

	(void)state;
	t2x_samples_add(samples, &(struct t2x_sample){
		.stack = stack, .depth = 1, .count = 1, .value = 1, .period = 1,
	});
	add(samples, 0x400010, 1, 1, 1);
	unpack(samples);
	expect_name(in(top(3, 0), 5, 0).value, "/bin/program");
	expect_name(in(top(3, 1), 5, 0).value, "/lib/libc.so.6");
	assert_int_equal(in(top(4, 0), 2, 0).value, in(top(3, 1), 1, 0).value);
	assert_int_equal(in(top(4, 1), 2, 0).value, in(top(3, 0), 1, 0).value);
	t2x_samples_free(samples);
}

/* 1 / (1 - exp(-1)) is 1.582: a hundred sampled ones are 158, and not a hundred times two. */
static void test_samples_heap_is_scaled_and_frees_take_off_what_is_in_use(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("heap");

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		add(samples, 0x400010, 1, 512, 512);
	for (unsigned i = 0; i < 40; i++)
		add(samples, 0x400010, -1, -512, 512);
	unpack(samples);
	expect_type(top(1, 3), "inuse_space", "bytes");
	expect_type(top(11, 0), "space", "bytes");
	expect_name(top(14, 0).value, "inuse_space");
	assert_int_equal(value_of(0, 0), 158);
	assert_int_equal(value_of(0, 1), 80997);
	assert_int_equal(value_of(0, 2), 95);
	assert_int_equal(value_of(0, 3), 48598);
	expect_text(samples, "heap profile: 60: 30720 [100: 51200] @ heap_v2/512\n"
		    "60: 30720 [100: 51200] @ 0x400011\n\n"
		    "--- Memory map: ---\n400000-500000 r-xp 1000 00:00 0 /bin/program\n");
	t2x_samples_free(samples);
}

/* What was there before the trace began, and is freed in it. */
static void test_samples_heap_in_use_may_be_less_than_none(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("allocs");

	(void)state;
	add(samples, 0x400010, -1, -64, 1);
	unpack(samples);
	expect_name(top(14, 0).value, "alloc_space");
	assert_int_equal(value_of(0, 0), 0);
	assert_int_equal(value_of(0, 3), -64);
	t2x_samples_free(samples);
}

static void test_samples_waits_stand_for_a_period(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("mutex");

	(void)state;
	add(samples, 0x400010, 2, 3000, 10);
	unpack(samples);
	expect_type(top(1, 1), "delay", "nanoseconds");
	assert_int_equal(value_of(0, 0), 20);
	assert_int_equal(value_of(0, 1), 30000);
	expect_text(samples, "--- contention:\ncycles/second=1000000000\nsampling period=10\n3000 2 @ 0x400011\n\n"
		    "--- Memory map: ---\n400000-500000 r-xp 1000 00:00 0 /bin/program\n");
	t2x_samples_free(samples);
}

static void test_samples_of_other_profiles_are_counts(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("open files");

	(void)state;
	add(samples, 0x400010, 1, 0, 1);
	add(samples, 0x400010, 1, 0, 1);
	add(samples, 0x400010, -1, 0, 1);
	t2x_samples_add(samples, &(struct t2x_sample){ .count = 1 });
	unpack(samples);
	expect_type(top(1, 0), "open files", "count");
	assert_int_equal(value_of(0, 0), 1);
	expect_text(samples, "open_files profile: total 2\n1 @ 0x400011\n1 @ 0x1\n\n"
		    "--- Memory map: ---\n400000-500000 r-xp 1000 00:00 0 /bin/program\n");
	t2x_samples_free(samples);
}

static void test_samples_text_has_the_largest_first(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("open files"), *heap = t2x_samples_new("heap");

	(void)state;
	add(samples, 0x400010, 1, 0, 1);
	add(samples, 0x400020, 3, 0, 1);
	add(samples, 0x400030, 3, 0, 1);
	expect_text(samples, "open_files profile: total 7\n3 @ 0x400021\n3 @ 0x400031\n1 @ 0x400011\n\n"
		    "--- Memory map: ---\n400000-500000 r-xp 1000 00:00 0 /bin/program\n");
	add(heap, 0x400010, 5, 500, 1);
	add(heap, 0x400010, -5, -500, 1);
	add(heap, 0x400020, 1, 100, 1);
	expect_text(heap, "heap profile: 1: 100 [6: 600] @ heap_v2/1\n1: 100 [1: 100] @ 0x400021\n"
		    "0: 0 [5: 500] @ 0x400011\n\n"
		    "--- Memory map: ---\n400000-500000 r-xp 1000 00:00 0 /bin/program\n");
	t2x_samples_free(heap);
	t2x_samples_free(samples);
}

static void test_samples_with_other_labels_are_apart(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("cpu");
	struct t2x_samples_label labels[] = { { .key = "path", .text = "/a" }, { .key = "pid", .number = 7 } };
	struct t2x_sample sample = { .count = 1, .value = 5, .labels = labels, .nlabels = 2 };
	struct field label;

	(void)state;
	t2x_samples_add(samples, &sample);
	labels[0].text = "/b";
	t2x_samples_add(samples, &sample);
	labels[0].text = "/a";
	t2x_samples_add(samples, &sample);
	unpack(samples);
	assert_int_equal(value_of(0, 0), 2);
	assert_int_equal(value_of(1, 0), 1);
	assert_null(top(2, 2).bytes);
	label = in(top(2, 1), 3, 0);
	expect_name(in(label, 1, 0).value, "path");
	expect_name(in(label, 2, 0).value, "/b");
	label = in(top(2, 1), 3, 1);
	assert_int_equal(in(label, 3, 0).value, 7);
	t2x_samples_free(samples);
}

static void test_samples_location_has_inlined_lines(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("cpu");
	struct t2x_samples_line lines[] = {
		{ .function = "f(int)", .system_name = "_Z1fi", .file = "a.cc", .line = 12, .start_line = 10 },
		{ .function = "main", .file = "a.cc", .line = 30, .start_line = 20 },
	};
	struct t2x_samples_mapping mapping;
	struct field location;

	(void)state;
	add(samples, 0x400010, 1, 1, 1);
	assert_int_equal(t2x_samples_locations(samples), 1);
	assert_int_equal(t2x_samples_address(samples, 1), 0x400010);
	assert_true(t2x_samples_mapping_of(samples, 1, &mapping));
	assert_string_equal(mapping.build_id, "c0ffee");
	t2x_samples_symbolize(samples, 1, lines, 2);
	unpack(samples);
	location = top(4, 0);
	assert_int_equal(in(in(location, 4, 0), 2, 0).value, 12);
	assert_int_equal(in(in(location, 4, 1), 2, 0).value, 30);
	expect_name(in(top(5, 0), 2, 0).value, "f(int)");
	expect_name(in(top(5, 0), 3, 0).value, "_Z1fi");
	expect_name(in(top(5, 1), 3, 0).value, "main");
	for (unsigned flag = 7; flag <= 10; flag++)
		assert_int_equal(in(top(3, 0), flag, 0).value, 1);
	expect_text(samples, "cpu profile: total 1\n1 @ 0x400011\n#\t0x400010\tf(int)\ta.cc:12\n"
		    "#\t0x400010\tmain\ta.cc:30\n\n"
		    "--- Memory map: ---\n400000-500000 r-xp 1000 00:00 0 /bin/program\n");
	t2x_samples_free(samples);
}

static void test_samples_many_stacks_are_told_apart(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("cpu");

	(void)state;
	for (unsigned i = 0; i < 2000; i++)
		add(samples, 0x400000 + i % 1000, 1, i % 1000, 1);
	unpack(samples);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(value_of(i, 0), 2);
		assert_int_equal(value_of(i, 1), 2 * i);
	}
	assert_null(top(2, 1000).bytes);
	t2x_samples_free(samples);
}

static void test_samples_folded_stacks_begin_with_the_outermost(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("heap");
	struct t2x_samples_line lines[] = { { .function = "f;g" }, { .function = "h(int)" } };
	uint32_t stack[] = { t2x_samples_location(samples, 0, 0x10), t2x_samples_location(samples, 0, 0x20) };

	(void)state;
	t2x_samples_symbolize(samples, 1, lines, 2);
	t2x_samples_add(samples, &(struct t2x_sample){ .stack = stack, .depth = 2, .count = 1, .value = 64 });
	t2x_samples_add(samples, &(struct t2x_sample){ .stack = stack, .depth = 1, .count = -1, .value = -64 });
	t2x_samples_add(samples, &(struct t2x_sample){ .count = 2, .value = 128 });
	nwritten = 0;
	assert_int_equal(t2x_samples_write_folded(samples, collect, NULL), 0);
	written[nwritten] = 0;
	assert_string_equal(written, "0x20;h(int);f:g 64\n? 128\n");
	t2x_samples_free(samples);
}

static void test_samples_folded_without_names_have_the_place_in_the_file(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("cpu");

	(void)state;
	add(samples, 0x400010, 1, 5, 1);
	nwritten = 0;
	assert_int_equal(t2x_samples_write_folded(samples, collect, NULL), 0);
	written[nwritten] = 0;
	assert_string_equal(written, "program+0x1010 5\n");
	t2x_samples_free(samples);
}

/* As FORMAT.md has it: a module that stands for no code. */
static const struct t2x_samples_mapping in_read = {
	.start = 0xffffd000, .limit = 0xffffd001, .file = "[off-CPU: read]",
}, in_none = {
	.start = 0xffffd3ff, .limit = 0xffffd400, .file = "[off-CPU]",
};

static void add_off_cpu(struct t2x_samples *samples, const struct t2x_samples_mapping *where, int64_t value)
{
	const uint32_t stack[] = {
		t2x_samples_location(samples, t2x_samples_mapping(samples, where), where->start),
		t2x_samples_location(samples, t2x_samples_mapping(samples, &program), 0x400010),
	};

	t2x_samples_add(samples, &(struct t2x_sample){ .stack = stack, .depth = 2, .count = 1, .value = value });
}

static void test_samples_off_the_cpu_are_named_by_their_module(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("wall");

	(void)state;
	add(samples, 0x400010, 1, 5, 1);
	add_off_cpu(samples, &in_read, 7);
	add_off_cpu(samples, &in_none, 9);
	nwritten = 0;
	assert_int_equal(t2x_samples_write_folded(samples, collect, NULL), 0);
	written[nwritten] = 0;
	assert_string_equal(written, "program+0x1010 5\nprogram+0x1010;[off-CPU: read] 7\n"
				     "program+0x1010;[off-CPU] 9\n");
	t2x_samples_free(samples);
}

static void expect_label(unsigned sample, unsigned i, const char *key, const char *text)
{
	const struct field label = in(top(2, sample), 3, i);

	expect_name(in(label, 1, 0).value, key);
	expect_name(in(label, 2, 0).value, text);
}

static void test_samples_off_the_cpu_have_labels(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("wall");

	(void)state;
	add(samples, 0x400010, 1, 5, 1);
	unpack(samples);
	assert_null(in(top(2, 0), 3, 0).bytes);      /* of an older library: nobody knows */
	add_off_cpu(samples, &in_read, 7);
	add_off_cpu(samples, &in_none, 9);
	unpack(samples);
	expect_label(0, 0, "state", "on-CPU");
	expect_label(1, 0, "state", "off-CPU");
	expect_label(1, 1, "syscall", "read");
	expect_label(2, 0, "state", "off-CPU");
	assert_null(in(top(2, 0), 3, 1).bytes);
	assert_null(in(top(2, 2), 3, 1).bytes);
	t2x_samples_free(samples);
}

static void test_samples_error_of_the_target_is_returned(void **state)
{
	struct t2x_samples *samples = t2x_samples_new("cpu");

	(void)state;
	add(samples, 0x400010, 1, 1, 1);
	assert_int_equal(t2x_samples_write(samples, refuse, NULL), ENOSPC);
	assert_int_equal(t2x_samples_write_text(samples, refuse, NULL), ENOSPC);
	t2x_samples_free(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_of_a_stack_are_added_up),
		cmocka_unit_test(test_samples_message_has_types_mapping_and_period),
		cmocka_unit_test(test_samples_mapping_of_the_program_is_the_first),
		cmocka_unit_test(test_samples_heap_is_scaled_and_frees_take_off_what_is_in_use),
		cmocka_unit_test(test_samples_heap_in_use_may_be_less_than_none),
		cmocka_unit_test(test_samples_waits_stand_for_a_period),
		cmocka_unit_test(test_samples_of_other_profiles_are_counts),
		cmocka_unit_test(test_samples_text_has_the_largest_first),
		cmocka_unit_test(test_samples_with_other_labels_are_apart),
		cmocka_unit_test(test_samples_location_has_inlined_lines),
		cmocka_unit_test(test_samples_many_stacks_are_told_apart),
		cmocka_unit_test(test_samples_folded_stacks_begin_with_the_outermost),
		cmocka_unit_test(test_samples_folded_without_names_have_the_place_in_the_file),
		cmocka_unit_test(test_samples_off_the_cpu_are_named_by_their_module),
		cmocka_unit_test(test_samples_off_the_cpu_have_labels),
		cmocka_unit_test(test_samples_error_of_the_target_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
