/* SPDX-License-Identifier: MIT */
/* Many inputs, few of which are open: a parked one goes on where it stood. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tlg_crc.h"
#include "tlgmake.h"
#include "read/t2x_input.h"

enum { CYCLES = 60, MAX_BYTES = 256 * 1024, PLAIN = 0, SMALL_FRAMES = 2048, LARGE_FRAMES = TLG_FRAME_BYTES };

struct file { unsigned char bytes[MAX_BYTES]; size_t n; };
static struct file file;
static struct t2x_report report;

/* What the stream has made since the last time, as frames of so many bytes at most. */
static void append(struct tlgmake *make, size_t frame_bytes)
{
	size_t n = make->n;
	unsigned char *frames = frame_bytes ? tlgmake_lz4(make, frame_bytes, &n) : NULL;

	assert_true(file.n + n <= MAX_BYTES);
	memcpy(file.bytes + file.n, frames ? frames : make->bytes, n);
	file.n += n;
	free(frames);
	make->n = 0;
}

/* Blocks of several sizes, with something of the process in between. */
static void write_trace(size_t frame_bytes, unsigned streams)
{
	struct tlgmake makes[2];

	file.n = 0;
	for (unsigned i = 0; i < streams; i++) {
		tlgmake_init(&makes[i], 0x1234 + i, (uint16_t)(77 + i));
		makes[i].sid = "sid";
		tlgmake_cycle(&makes[i]);
	}
	for (unsigned k = 0; k < CYCLES; k++) {
		struct tlgmake *make = &makes[k % streams];

		tlgmake_begin(make, k % 3);
		tlgmake_scope(make, 1, TLG_STYLE_region_enter, 0, "region");
		for (unsigned n = 0; n < 1 + k * k % 97; n++)
			tlgmake_hit(make, 1000 * k + n, 1);
		tlgmake_seal(make);
		tlgmake_mark(make, 1000 * k + 500);
		if (k % 20 == 19)
			append(make, frame_bytes);
	}
	for (unsigned i = 0; i < streams; i++) {
		tlgmake_end(&makes[i]);
		append(&makes[i], frame_bytes);
		tlgmake_free(&makes[i]);
	}
}

/* The file under a name of its own, in the place of what had it before. */
static void write_file(char *name, size_t size)
{
	FILE *to;

	snprintf(name, size, "/tmp/test_t2x_open_files.%d", (int)getpid());
	unlink(name);
	to = fopen(name, "w");
	assert_non_null(to);
	assert_int_equal(fwrite(file.bytes, 1, file.n, to), file.n);
	assert_int_equal(fclose(to), 0);
}

static struct t2x_input input_of(const char *path, struct t2x_open_files *files)
{
	struct t2x_input input = { .path = path, .report = &report, .open_files = files };

	assert_true(t2x_input_check(&input, 1));
	return input;
}

static uint32_t add_up(uint32_t sum, const struct t2x_block *block)
{
	sum = tlg_crc32c(sum, &block->stream, sizeof(block->stream));
	sum = tlg_crc32c(sum, &block->number, sizeof(block->number));
	sum = tlg_crc32c(sum, &block->rest_ns, sizeof(block->rest_ns));
	return tlg_crc32c(sum, block->events, block->count * sizeof(block->events[0]));
}

/* All blocks of the file, and what is said of damage, by a reader that is never parked. */
static uint32_t read_alone(const char *path, uint64_t *damages)
{
	struct t2x_input input = input_of(path, NULL);
	struct t2x_block block;
	uint32_t sum = 0;

	report = (struct t2x_report){ .to = NULL };
	while (t2x_input_next(&input.blocks, &block))
		sum = add_up(sum, &block);
	assert_string_equal(input.fault, "");
	t2x_input_close(&input);
	*damages = report.damages;
	return sum;
}

/* Two readers take turns, and one of them may be open.  Return  how often the first was parked */
static unsigned read_in_turns(const char *path, uint32_t expected, uint64_t damages)
{
	struct t2x_open_files files = { .max = 1 };
	struct t2x_input inputs[2] = { input_of(path, &files), input_of(path, &files) };
	struct t2x_block block;
	uint32_t sums[2] = { 0, 0 };
	unsigned parked = 0, left = 2;

	report = (struct t2x_report){ .to = NULL };
	for (unsigned i = 0; left; i = !i) {
		if (inputs[i].is_done)
			continue;
		parked += (unsigned)inputs[0].is_parked;
		if (t2x_input_next(&inputs[i].blocks, &block))
			sums[i] = add_up(sums[i], &block);
		left -= (unsigned)inputs[i].is_done;
	}
	for (unsigned i = 0; i < 2; i++) {
		assert_string_equal(inputs[i].fault, "");
		assert_int_equal(sums[i], expected);
		t2x_input_close(&inputs[i]);
	}
	assert_int_equal(files.n, 0);
	assert_int_equal(report.damages, 2 * damages);
	return parked;
}

static void expect_same(unsigned times_parked, uint64_t least_damages)
{
	const char *path = tlgmake_path(file.bytes, file.n);
	uint64_t damages;
	uint32_t expected = read_alone(path, &damages);

	assert_true(damages >= least_damages);
	assert_true(read_in_turns(path, expected, damages) >= times_parked);
	tlgmake_close(path);
}

static void test_open_files_parked_plain_file_goes_on(void **state)
{
	(void)state;
	write_trace(PLAIN, 1);
	expect_same(2 * CYCLES, 0);
}

static void test_open_files_parked_lz4_file_goes_on_in_its_frame(void **state)
{
	(void)state;
	write_trace(SMALL_FRAMES, 1);
	expect_same(2 * CYCLES - 20, 0);
	write_trace(LARGE_FRAMES, 1);
	expect_same(2 * CYCLES, 0);
}

static void test_open_files_parked_file_of_two_processes_keeps_its_order(void **state)
{
	(void)state;
	write_trace(LARGE_FRAMES, 2);
	expect_same(2 * CYCLES, 0);
}

static void test_open_files_parked_damaged_file_goes_on_and_reports_it_once(void **state)
{
	static const size_t forms[] = { PLAIN, SMALL_FRAMES, LARGE_FRAMES };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		write_trace(forms[i], 1);
		memset(file.bytes + file.n / 2, 0x5a, 200);
		expect_same(20, 1);
		write_trace(forms[i], 1);
		file.n -= 40;
		/* a frame that is cut off is seen from the beginning, and keeps the file open */
		expect_same(forms[i] ? 0 : 20, 1);
	}
}

/* Frames without a size are given out in pieces, and cannot be entered in their middle. */
static void test_open_files_input_that_cannot_be_parked_stays_open(void **state)
{
	char name[64], packed[80], command[256];
	uint64_t damages;
	uint32_t expected;

	(void)state;
	if (system("command -v lz4 >/dev/null"))
		skip();
	write_trace(PLAIN, 1);
	write_file(name, sizeof(name));
	snprintf(packed, sizeof(packed), "%s.lz4", name);
	snprintf(command, sizeof(command), "lz4 -q %s %s", name, packed);
	assert_int_equal(system(command), 0);
	expected = read_alone(packed, &damages);
	read_in_turns(packed, expected, damages);
	unlink(name);
	unlink(packed);
}

static void test_open_files_parked_file_that_was_replaced_says_so(void **state)
{
	struct t2x_open_files files = { .max = 1 };
	struct t2x_input inputs[2];
	struct t2x_block block;
	char name[64];

	(void)state;
	write_trace(LARGE_FRAMES, 1);
	for (unsigned i = 0; i < 2; i++) {
		write_file(name, sizeof(name));
		inputs[i] = input_of(name, &files);
		for (unsigned k = 0; k < 4; k++)
			assert_true(t2x_input_next(&inputs[i].blocks, &block));
	}
	assert_true(inputs[0].is_parked);
	assert_false(t2x_input_next(&inputs[0].blocks, &block));
	assert_string_equal(inputs[0].fault, "replaced while it was read");
	assert_true(t2x_input_next(&inputs[1].blocks, &block));
	for (unsigned i = 0; i < 2; i++)
		t2x_input_close(&inputs[i]);
	unlink(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_files_parked_plain_file_goes_on),
		cmocka_unit_test(test_open_files_parked_lz4_file_goes_on_in_its_frame),
		cmocka_unit_test(test_open_files_parked_file_of_two_processes_keeps_its_order),
		cmocka_unit_test(test_open_files_parked_damaged_file_goes_on_and_reports_it_once),
		cmocka_unit_test(test_open_files_input_that_cannot_be_parked_stays_open),
		cmocka_unit_test(test_open_files_parked_file_that_was_replaced_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
