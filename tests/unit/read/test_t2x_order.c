/* SPDX-License-Identifier: MIT */
/* The order in which the frames of several processes are read. */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>

#include "tlgmake.h"
#include "read/t2x_input.h"

enum { SECOND = 1000000000, STREAMS = 40 };
#define NS(seconds) (((uint64_t)TLGMAKE_SECOND + (seconds)) * SECOND)

static struct { unsigned char *bytes; size_t n; } file;
static struct t2x_report report;

static int teardown(void **state)
{
	(void)state;
	free(file.bytes);
	file.bytes = NULL;
	file.n = 0;
	return 0;
}

/* What the stream has made since the last time, as frames. */
static void append(struct tlgmake *make)
{
	size_t n;
	unsigned char *frames = tlgmake_lz4(make, 4096, &n);

	file.bytes = realloc(file.bytes, file.n + n);
	assert_non_null(file.bytes);
	memcpy(file.bytes + file.n, frames, n);
	file.n += n;
	free(frames);
	make->n = 0;
}

static void begin_process(struct tlgmake *make, uint32_t stream, unsigned second)
{
	tlgmake_init(make, stream, (uint16_t)stream);
	make->sid = "sid";
	make->start_ns = make->cycle_ns = (uint64_t)second * SECOND;
	tlgmake_cycle(make);
}

static void do_something(struct tlgmake *make, unsigned second)
{
	tlgmake_begin(make, 0);
	tlgmake_thread(make, "main", 0);
	tlgmake_scope(make, 1, TLG_STYLE_region_enter, 0, "region");
	tlgmake_hit(make, (uint64_t)second * SECOND, 1);
	tlgmake_seal(make);
	tlgmake_mark(make, (uint64_t)second * SECOND);
}

/* The streams of the blocks, as they come; those of one behind the other count once.  *n: of these */
static void read_streams(uint32_t *streams, unsigned *n, unsigned max, uint64_t *rests)
{
	const char *path = tlgmake_path(file.bytes, file.n);
	struct t2x_input input = { .path = path, .report = &report };
	struct t2x_block block;

	*n = 0;
	report = (struct t2x_report){ .to = NULL };
	assert_true(t2x_input_check(&input, 1));
	while (t2x_input_next(&input.blocks, &block)) {
		if (*n && streams[*n - 1] == block.stream)
			continue;
		assert_true(*n < max);
		rests[*n] = block.rest_ns;
		streams[(*n)++] = block.stream;
	}
	assert_string_equal(input.fault, "");
	t2x_input_close(&input);
	tlgmake_close(path);
}

/* As a child that ends writes before its parent, which has begun earlier and writes at its end. */
static void test_order_of_a_child_in_front_of_its_parent_is_that_of_time(void **state)
{
	struct tlgmake parent, child;
	uint32_t streams[8];
	uint64_t rests[8];
	unsigned n;

	(void)state;
	begin_process(&child, 2, 20);
	do_something(&child, 21);
	tlgmake_end(&child);
	append(&child);
	begin_process(&parent, 1, 10);
	do_something(&parent, 15);
	append(&parent);
	do_something(&parent, 25);
	append(&parent);
	do_something(&parent, 30);
	tlgmake_end(&parent);
	append(&parent);
	read_streams(streams, &n, 8, rests);
	assert_int_equal(n, 3);
	assert_int_equal(streams[0], 1);
	assert_int_equal(rests[0], NS(20));
	assert_int_equal(streams[1], 2);
	assert_int_equal(rests[1], UINT64_MAX);
	assert_int_equal(streams[2], 1);
	assert_int_equal(report.damages, 0);
	tlgmake_free(&parent);
	tlgmake_free(&child);
}

/* Each process has begun before the one in front of it, and goes on while the others do. */
static void test_order_of_many_streams_is_that_of_their_marks(void **state)
{
	static struct tlgmake makes[STREAMS];
	uint32_t streams[4 * STREAMS];
	uint64_t rests[4 * STREAMS];
	unsigned n;

	(void)state;
	for (unsigned i = 0; i < STREAMS; i++) {
		begin_process(&makes[i], i + 1, 1000 - i);
		do_something(&makes[i], 2000 - i);
		append(&makes[i]);
	}
	for (unsigned i = 0; i < STREAMS; i++) {
		do_something(&makes[i], 3000);
		append(&makes[i]);
	}
	read_streams(streams, &n, 4 * STREAMS, rests);
	/* the last stream's two frames are not back to back, nor are any others */
	assert_int_equal(n, 2 * STREAMS);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(streams[i], STREAMS - i % STREAMS);
	for (unsigned i = 0; i < STREAMS; i++) {
		assert_int_equal(rests[i], i + 1 < STREAMS ? NS(1000 - STREAMS + 2 + i) : UINT64_MAX);
		tlgmake_free(&makes[i]);
	}
}

/* What is behind the frames that are known is not lost: it comes last, and its damage is reported. */
static void test_order_of_a_damaged_file_has_all_that_is_good(void **state)
{
	struct tlgmake makes[4];
	uint32_t streams[16];
	uint64_t rests[16];
	size_t cut = 0;
	unsigned n;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		begin_process(&makes[i], i + 1, 100 - i);
		do_something(&makes[i], 200);
		append(&makes[i]);
		if (i == 1)
			cut = file.n;
	}
	for (unsigned i = 0; i < 4; i++) {
		do_something(&makes[i], 300);
		append(&makes[i]);
		tlgmake_free(&makes[i]);
	}
	file.bytes[cut] ^= 0x55;                  /* the mark of the third stream's first frame */
	read_streams(streams, &n, 16, rests);
	assert_true(n >= 6);
	assert_int_equal(streams[0], 2);
	assert_int_equal(streams[1], 1);
	assert_int_equal(report.damages, 1);
	for (uint32_t stream = 1; stream <= 4; stream++) {
		unsigned found = 0;
		for (unsigned i = 2; i < n; i++)
			found += streams[i] == stream;
		assert_true(found > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_order_of_a_child_in_front_of_its_parent_is_that_of_time, teardown),
		cmocka_unit_test_teardown(test_order_of_many_streams_is_that_of_their_marks, teardown),
		cmocka_unit_test_teardown(test_order_of_a_damaged_file_has_all_that_is_good, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
