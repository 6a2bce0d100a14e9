/* SPDX-License-Identifier: MIT */
/* The ctf format: the archive is one, packets say what is in them.  babeltrace2 reads it in check_exports.sh. */
#include "t2test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feed.h"
#include "text/t2x_formats.h"

enum { TAR_BLOCK = 512, ARCHIVE_BYTES = 64 * 1024 };

struct file {
	char name[100];
	size_t size;
	const unsigned char *bytes;
};

static unsigned char archive[ARCHIVE_BYTES];

/* In place of libc's: one of the next calls has no memory. */
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
static unsigned calls_left;

void *__wrap_calloc(size_t n, size_t bytes)
{
	if (calls_left && !--calls_left)
		return NULL;
	return __real_calloc(n, bytes);
}

static uint64_t number_at(const unsigned char *p)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < sizeof(number); i++)
		number |= (uint64_t)p[i] << 8 * i;
	return number;
}

/* What the feed has printed, file by file.  Return  how many there are */
static unsigned read_archive(struct feed *f, struct file *files, unsigned max)
{
	unsigned n = 0;
	size_t at = 0;

	assert_int_equal(t2x_model_finish(f->model), 0);
	assert_true(pread(f->fd, archive, sizeof(archive), 0) > 2 * TAR_BLOCK);
	for (; archive[at]; n++) {
		unsigned long sum = 8 * ' ', said = strtoul((char *)archive + at + 148, NULL, 8);

		for (unsigned i = 0; i < TAR_BLOCK; i++)
			sum += i < 148 || i >= 156 ? archive[at + i] : 0;
		assert_int_equal(sum, said);
		assert_true(n < max);
		files[n].size = strtoul((char *)archive + at + 124, NULL, 8);
		files[n].bytes = archive + at + TAR_BLOCK;
		snprintf(files[n].name, sizeof(files[n].name), "%s", (char *)archive + at);
		at += TAR_BLOCK + (files[n].size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
	}
	for (unsigned i = 0; i < FEED_THREADS; i++)
		t2x_model_update(f->model, &(struct t2x_update){
			.kind = T2X_FORGET_THREAD, .thread = &f->thread[i],
		});
	t2x_model_free(f->model);
	t2x_out_free(&f->out);
	close(f->fd);
	return n;
}

static void test_ctf_every_kind_is_in_a_packet_of_its_thread(void **state)
{
	struct file files[4];
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_ctf, 0, 0);
	feed_commands(&f);
	feed_regions(&f);
	assert_int_equal(read_archive(&f, files, 4), 3);
	assert_string_equal(files[2].name, "metadata");
	assert_memory_equal(files[2].bytes, "/* CTF 1.8 */", 13);
	assert_string_equal(files[0].name, "packet-00000001");   /* of the thread that exits */
	assert_int_equal(number_at(files[0].bytes + 8), 2);
	assert_int_equal(number_at(files[0].bytes + 16), FEED_START_NS + 1000 * 1000 + 999);
	assert_int_equal(number_at(files[0].bytes + 24), FEED_START_NS + 1250 * 1000 + 999);
	assert_int_equal(number_at(files[0].bytes + 32), 8 * files[0].size);
	assert_int_equal(number_at(files[1].bytes + 8), 1);
}

static void test_ctf_gap_lies_between_two_packets(void **state)
{
	struct file files[4];
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_ctf, 0, 0);
	feed_gap(&f, 5, (struct t2x_gap){ .events = 7 });
	feed(&f, step, 10, "");
	assert_int_equal(read_archive(&f, files, 4), 3);
	assert_int_equal(number_at(files[0].bytes + 24 + 24), 0);
	assert_int_equal(number_at(files[1].bytes + 24 + 24), 7);
	assert_int_equal(number_at(files[1].bytes + 16), FEED_START_NS + 5000);
}

/* Readers sort packets by their first times: with two that are equal, the discarded events would go back. */
static void test_ctf_packets_around_a_gap_at_one_time_begin_at_two(void **state)
{
	struct file files[4];
	struct feed f;

	(void)state;
	feed_open(&f, &t2x_writer_ctf, 0, 0);
	feed_gap(&f, 5, (struct t2x_gap){ .events = 7 });
	feed(&f, step, 5, "");
	assert_int_equal(read_archive(&f, files, 4), 3);
	assert_true(number_at(files[0].bytes + 16) < number_at(files[1].bytes + 16));
	assert_true(number_at(files[0].bytes + 24) <= number_at(files[1].bytes + 16));
}

/* Many threads have a packet that is not full.  What is not in memory is in the archive already. */
static void test_ctf_packets_of_many_threads_are_bounded(void **state)
{
	enum { THREADS = 200, EVENTS = 1000, TEXT = 100, HELD = 9 << 20 };
	char text[TEXT + 1];
	struct feed f;
	struct t2x_scope *scope;
	long written;

	(void)state;
	memset(text, 'x', TEXT);
	text[TEXT] = '\0';
	feed_open(&f, &t2x_writer_ctf, 0, 0);
	scope = feed_scope(&f, TLG_STYLE_error, NULL, NULL, "%s");
	for (uint32_t i = 0; i < THREADS; i++) {
		f.thread[0].tid = 100 + i;
		f.thread[0].number = 1000 + i;
		for (unsigned k = 0; k < EVENTS; k++)
			feed_hit(&f, scope, 10 + k, "s", text);
	}
	written = (long)lseek(f.fd, 0, SEEK_END);
	assert_in_range(written, THREADS * EVENTS * TEXT - HELD, 2 * THREADS * EVENTS * TEXT);
	free(feed_finish(&f));
}

/* An event, while the call-th allocation from there on fails.  Return  bytes of the archive, or -errno */
static long print_step(unsigned call)
{
	struct feed f;
	long result;

	feed_open(&f, &t2x_writer_ctf, 0, 0);
	calls_left = call;
	feed(&f, step, 10, "");
	calls_left = 0;
	t2x_model_finish(f.model);
	t2x_out_flush(&f.out);
	result = f.out.error ? -f.out.error : (long)lseek(f.fd, 0, SEEK_END);
	t2x_model_update(f.model, &(struct t2x_update){ .kind = T2X_FORGET_THREAD, .thread = &f.thread[0] });
	t2x_model_free(f.model);
	t2x_out_free(&f.out);
	close(f.fd);
	return result;
}

static void test_ctf_no_memory_for_a_stream_is_an_error(void **state)
{
	long whole = print_step(0);
	unsigned failed = 0;

	(void)state;
	assert_true(whole > 0);
	for (unsigned call = 1; call < 12; call++) {
		long result = print_step(call);
		if (result != whole)
			assert_int_equal(result, -ENOMEM);
		failed += result == -ENOMEM;
	}
	assert_in_range(failed, 3, 8);      /* a process, a track, its spans, a stream, tables */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ctf_every_kind_is_in_a_packet_of_its_thread),
		cmocka_unit_test(test_ctf_gap_lies_between_two_packets),
		cmocka_unit_test(test_ctf_packets_around_a_gap_at_one_time_begin_at_two),
		cmocka_unit_test(test_ctf_packets_of_many_threads_are_bounded),
		cmocka_unit_test(test_ctf_no_memory_for_a_stream_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
