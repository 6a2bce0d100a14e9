/* SPDX-License-Identifier: MIT */
/* Duties and who does them; checkpoints that reach the model later. */
#include "t2test.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/t2x_batch_queue.h"

/* ---- tasks ------------------------------------------------------------------------------------- */

enum { PIECES = 2000 };

/* Counts up, in pieces, while somebody else might be at it. */
struct counter {
	struct t2x_task task;
	struct t2x_pool *pool;
	unsigned done, allowed;           /* guarded by the lock */
	int inside;                       /* not guarded: nobody else may be there */
	int clashes;
};

static int may_count(const struct t2x_task *task)
{
	const struct counter *counter = (const struct counter *)task;

	return counter->done < counter->allowed;
}

static void count(struct t2x_task *task)
{
	struct counter *counter = (struct counter *)task;

	t2x_pool_unlock(counter->pool);
	counter->clashes += counter->inside++ != 0;
	sched_yield();
	counter->inside--;
	t2x_pool_lock(counter->pool);
	counter->done++;
}

static void check_tasks(unsigned helpers)
{
	struct t2x_pool *pool = t2x_pool_new(helpers);
	struct counter counters[2];

	assert_non_null(pool);
	t2x_pool_lock(pool);
	for (unsigned i = 0; i < 2; i++) {
		counters[i] = (struct counter){ .task = { .is_ready = may_count, .work = count }, .pool = pool };
		t2x_pool_add(pool, &counters[i].task);
	}
	for (unsigned n = 1; n <= PIECES; n++) {
		counters[n % 2].allowed++;
		t2x_pool_changed(pool);
		/* as a user of one task does: wait for it, and meanwhile do whatever there is */
		while (n % 7 == 0 && counters[n % 2].done < counters[n % 2].allowed)
			t2x_pool_wait(pool);
	}
	for (unsigned i = 0; i < 2; i++) {
		while (counters[i].done < counters[i].allowed)
			t2x_pool_wait(pool);
		t2x_pool_remove(pool, &counters[i].task);
		assert_int_equal(counters[i].done, PIECES / 2);
		assert_int_equal(counters[i].clashes, 0);
	}
	t2x_pool_unlock(pool);
	t2x_pool_free(pool);
}

static void test_pool_tasks_are_done_by_one_at_a_time(void **state)
{
	(void)state;
	check_tasks(1);
	check_tasks(3);
}

static void test_pool_without_helpers_works(void **state)
{
	(void)state;
	check_tasks(0);
}

/* ---- checkpoints -------------------------------------------------------------------------------- */

static void print_words(struct t2x_printer *printer, const struct t2x_event *ev)
{
	t2x_out_string(printer->out, ev->thread->name);
	for (unsigned i = 0; i < ev->nargs; i++) {
		t2x_out_char(printer->out, ' ');
		t2x_out_bytes(printer->out, ev->args[i].text, ev->args[i].length);
	}
	t2x_out_end_line(printer->out);
}

static const struct t2x_writer words_writer = {
	.name = "words", .unresolved = print_words, .print = { .start = print_words },
};

/* 5000 checkpoints; every 100th has more text than a batch takes; in the middle the thread gets another name. */
static void give_hits(struct t2x_model *model)
{
	static char text[200000];
	struct t2x_process process = { .start_ns = 1 };
	struct t2x_thread thread = { .process = &process, .name = "before" };
	struct t2x_scope scope = { .index = 1, .style = TLG_STYLE_start };

	memset(text, 'x', sizeof(text));
	for (unsigned i = 0; i < 5000; i++) {
		struct t2x_arg args[3] = {
			{ .type = TLG_ARG_TEXT, .text = text, .length = i % 300 },
			{ .type = TLG_ARG_TEXT, .text = "", .length = 0 },
			{ .type = TLG_ARG_TEXT, .text = text, .length = i % 100 ? i % 7 : (uint32_t)sizeof(text) - i },
		};
		struct t2x_hit hit = { .thread = &thread, .scope = &scope, .ns = i, .nargs = i % 4, .args = args };

		memcpy(text, "0123456", i % 8);
		if (i == 2500) {
			t2x_model_sync(model);
			strcpy(thread.name, "behind");
		}
		t2x_model_hit(model, &hit);
		memset(text, 'y', i % 8);
	}
	t2x_model_forget_thread(model, &thread);
	t2x_model_forget_process(model, &process);
}

static void check_queue(unsigned helpers)
{
	const struct t2x_options options = { .brief = 0 };
	int fds[2] = { memfd_create("straight", 0), memfd_create("queue", 0) };
	struct t2x_pool *pool = t2x_pool_new(helpers);
	off_t bytes[2];
	char *text[2];

	for (unsigned i = 0; i < 2; i++) {
		struct t2x_batch_queue *queue = NULL;
		struct t2x_model *model;
		struct t2x_out out;

		assert_int_equal(t2x_out_init(&out, fds[i]), 0);
		model = t2x_model_new(&words_writer, &out, &options);
		assert_non_null(model);
		if (i)
			assert_non_null(queue = t2x_batch_queue_new(pool, model));
		give_hits(model);
		t2x_batch_queue_free(queue);
		assert_int_equal(t2x_model_finish(model), 0);
		assert_true(t2x_model_summary(model)->checkpoints == 5000);
		t2x_model_free(model);
		t2x_out_free(&out);
		bytes[i] = lseek(fds[i], 0, SEEK_END);
		text[i] = mmap(NULL, (size_t)bytes[i], PROT_READ, MAP_PRIVATE, fds[i], 0);
		assert_true(text[i] != MAP_FAILED);
	}
	assert_int_equal(bytes[0], bytes[1]);
	assert_memory_equal(text[0], text[1], (size_t)bytes[0]);
	for (unsigned i = 0; i < 2; i++) {
		munmap(text[i], (size_t)bytes[i]);
		close(fds[i]);
	}
	t2x_pool_free(pool);
}

static void test_queue_model_sees_what_it_would_have_seen_at_once(void **state)
{
	(void)state;
	check_queue(0);
	check_queue(1);
	check_queue(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool_tasks_are_done_by_one_at_a_time),
		cmocka_unit_test(test_pool_without_helpers_works),
		cmocka_unit_test(test_queue_model_sees_what_it_would_have_seen_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
