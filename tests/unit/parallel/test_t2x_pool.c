/* SPDX-License-Identifier: MIT */
/* Tasks and who does them; checkpoints that reach the model later. */
#include "t2test.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/t2x_memory.h"
#include "parallel/t2x_batch_queue.h"

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

static void take_stack(struct t2x_task *task)
{
	struct counter *counter = (struct counter *)task;
	volatile char memory[512 * 1024];

	t2x_pool_unlock(counter->pool);
	for (size_t i = sizeof(memory); i; i -= 4096)
		memory[i - 1] = 1;
	t2x_pool_lock(counter->pool);
	counter->done++;
}

/* Both what libdw takes and what a sanitizer takes before. */
static void test_pool_helpers_have_a_stack_for_libraries(void **state)
{
	struct t2x_pool *pool = t2x_pool_new(1);
	struct counter counter = { .task = { .is_ready = may_count, .work = take_stack }, .pool = pool, .allowed = 1 };
	unsigned done = 0;

	(void)state;
	assert_non_null(pool);
	t2x_pool_lock(pool);
	t2x_pool_add(pool, &counter.task);
	while (!done) {   /* by the helper, not here */
		t2x_pool_unlock(pool);
		usleep(1000);
		t2x_pool_lock(pool);
		done = counter.done;
	}
	t2x_pool_remove(pool, &counter.task);
	t2x_pool_unlock(pool);
	t2x_pool_free(pool);
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
	.unresolved = print_words, .print = { .start = print_words },
};

static void rename_thread(struct t2x_model *model, struct t2x_thread *thread)
{
	struct t2x_update update = {
		.kind = T2X_SET_THREAD, .thread = thread,
		.set_thread = { .process = thread->process, .name = "behind" },
	};

	t2x_model_update(model, &update);
	strcpy(update.set_thread.name, "gone");
}

/* More of them than a batch takes. */
static void repeat_regions(struct t2x_model *model, struct t2x_thread *thread)
{
	static struct t2x_open open[4096];
	struct t2x_update update = { .kind = T2X_OPEN_REGIONS, .thread = thread, .opens = { .open = open } };

	for (unsigned i = 0; i < 4096; i++)
		open[i] = (struct t2x_open){ .ns = i, .when = i + 1 };
	update.opens.count = 4096;
	t2x_model_update(model, &update);
	update.opens.count = 3;
	t2x_model_update(model, &update);
	memset(open, 0, sizeof(open));
}

static void release(struct t2x_model *model, void *memory, size_t bytes)
{
	const struct t2x_update update = { .kind = T2X_RELEASE, .release = { memory, bytes } };

	t2x_model_update(model, &update);
}

static void *make(const void *from, size_t bytes)
{
	void *memory = t2x_cache_line_new(bytes);

	assert_non_null(memory);
	return memcpy(memory, from, bytes);
}

static void forget(struct t2x_model *model, struct t2x_thread *thread, struct t2x_process *process)
{
	t2x_model_update(model, &(struct t2x_update){ .kind = T2X_FORGET_THREAD, .thread = thread });
	t2x_model_update(model, &(struct t2x_update){ .kind = T2X_FORGET_PROCESS, .process = process });
	release(model, thread, sizeof(*thread));
	release(model, process, sizeof(*process));
}

/*
 * 5000 checkpoints, ten of each scope, which is then released; every 100th has more text than a batch takes.  In the
 * middle the thread gets another name.
 */
static void give_hits(struct t2x_model *model)
{
	static char text[200000];
	struct t2x_process *process = make(&(struct t2x_process){ .start_ns = 1 }, sizeof(*process));
	struct t2x_thread *thread = make(&(struct t2x_thread){ .process = process, .name = "before" }, sizeof(*thread));
	struct t2x_scope *scope = NULL;

	memset(text, 'x', sizeof(text));
	for (unsigned i = 0; i < 5000; i++) {
		struct t2x_arg args[3] = {
			{ .type = TLG_ARG_TEXT, .text = text, .length = i % 300 },
			{ .type = TLG_ARG_TEXT, .text = "", .length = 0 },
			{ .type = TLG_ARG_TEXT, .text = text, .length = i % 100 ? i % 7 : (uint32_t)sizeof(text) - i },
		};
		struct t2x_hit hit = { .thread = thread, .ns = i, .nargs = i % 4, .args = args };

		if (i % 10 == 0)
			scope = make(&(struct t2x_scope){ .index = 1, .style = TLG_STYLE_start }, sizeof(*scope));
		hit.scope = scope;
		memcpy(text, "0123456", i % 8);
		if (i == 2500)
			rename_thread(model, thread);
		if (i == 3000)
			repeat_regions(model, thread);
		t2x_model_hit(model, &hit);
		memset(text, 'y', i % 8);
		if (i % 10 == 9)
			release(model, scope, i % 100 == 9 ? 100000 : i);
	}
	forget(model, thread, process);
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
		cmocka_unit_test(test_pool_helpers_have_a_stack_for_libraries),
		cmocka_unit_test(test_queue_model_sees_what_it_would_have_seen_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
