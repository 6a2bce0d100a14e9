/* SPDX-License-Identifier: MIT */
/* test_t2x_window.c - a window over bytes that come in pieces of any size. */
#include "t2test.h"

#include <errno.h>

#include "read/t2x_window.h"

/* A sequence in which byte i is i % 251, up to n, then an end or an error. */
struct source {
	size_t at, n, piece;
	int error;
};

static ssize_t fill(void *arg, unsigned char *to, size_t room)
{
	struct source *source = arg;
	size_t n = source->piece < room ? source->piece : room;

	assert_true(room >= 10);
	if (n > source->n - source->at)
		n = source->n - source->at;
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)((source->at + i) % 251);
	source->at += n;
	return n ? (ssize_t)n : -source->error;
}

static void test_window_shows_everything_once(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 70; piece += 4) {
		struct source source = { .n = 10000, .piece = piece };
		struct t2x_window window;
		const unsigned char *p;
		size_t at = 0, n;
		assert_int_equal(t2x_window_init(&window, 40, fill, &source, 10), 0);
		for (size_t step = 1; (n = t2x_window_peek(&window, 1 + step % 40, &p)); step += 7) {
			size_t used = n < 1 + step % 40 ? n : 1 + step % 40;
			assert_true(n >= 1 + step % 40 || at + n == source.n);
			for (size_t i = 0; i < used; i++)
				assert_int_equal(p[i], (at + i) % 251);
			t2x_window_skip(&window, used);
			at += used;
			assert_true(window.offset == at);
		}
		assert_int_equal(at, source.n);
		assert_int_equal(window.error, 0);
		t2x_window_free(&window);
	}
}

static void test_window_wish_beyond_its_size_is_cut(void **state)
{
	struct source source = { .n = 1000, .piece = 100 };
	struct t2x_window window;
	const unsigned char *p;

	(void)state;
	assert_int_equal(t2x_window_init(&window, 40, fill, &source, 10), 0);
	assert_in_range(t2x_window_peek(&window, SIZE_MAX, &p), 40, 50);
	assert_int_equal(t2x_window_resize(&window, 500), 0);
	assert_in_range(t2x_window_peek(&window, SIZE_MAX, &p), 500, 510);
	t2x_window_free(&window);
}

static void test_window_error_ends_it_and_stays(void **state)
{
	struct source source = { .n = 25, .piece = 10, .error = EIO };
	struct t2x_window window;
	const unsigned char *p;

	(void)state;
	assert_int_equal(t2x_window_init(&window, 40, fill, &source, 10), 0);
	assert_int_equal(t2x_window_peek(&window, 40, &p), 25);
	assert_int_equal(window.error, EIO);
	t2x_window_free(&window);
}

static void test_window_restart_reads_on_behind_what_is_dropped(void **state)
{
	struct source source = { .n = 25, .piece = 10 };
	struct t2x_window window;
	const unsigned char *p;

	(void)state;
	assert_int_equal(t2x_window_init(&window, 40, fill, &source, 10), 0);
	assert_int_equal(t2x_window_peek(&window, 40, &p), 25);
	source.n = 30;
	t2x_window_restart(&window);
	assert_int_equal(t2x_window_peek(&window, 40, &p), 5);
	assert_int_equal(p[0], 25);
	assert_true(window.offset == 25);
	t2x_window_free(&window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_shows_everything_once),
		cmocka_unit_test(test_window_wish_beyond_its_size_is_cut),
		cmocka_unit_test(test_window_error_ends_it_and_stays),
		cmocka_unit_test(test_window_restart_reads_on_behind_what_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
