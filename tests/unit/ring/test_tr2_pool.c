/* SPDX-License-Identifier: MIT */
/* The pool of chunks, and the stack below it. */
#include "t2test.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "base/tr2_stack.h"
#include "ring/tr2_map.h"
#include "ring/tr2_pool.h"
#include "ringfile.h"

enum {
	POOL_PAGES = 256,
	WHOLES = POOL_PAGES / TR2_WHOLE_PAGES,
	THREADS = 4, THINGS = 8, TURNS = 50000,
};

static uint32_t taken[TLG_MAX_RINGS];

/* An empty pool; chunks that an earlier test has used lie behind it. */
static int setup(void **state)
{
	(void)state;
	return tr2_pool_init(POOL_PAGES * 4096);
}

static unsigned take_all(unsigned pages)
{
	unsigned n = 0;

	while ((taken[n] = tr2_pool_acquire(pages, 0)))
		n++;
	return n;
}

static void give_all(unsigned n)
{
	while (n)
		tr2_pool_release(taken[--n] - 1);
}

static void test_pool_gives_out_first_what_came_back_last(void **state)
{
	uint32_t a = tr2_pool_acquire(TR2_WHOLE_PAGES, 0), b = tr2_pool_acquire(TR2_WHOLE_PAGES, 0);

	(void)state;
	assert_true(a && b && a != b);
	tr2_pool_release(a - 1);
	tr2_pool_release(b - 1);
	assert_int_equal(tr2_pool_acquire(TR2_WHOLE_PAGES, 0), b);
	assert_int_equal(tr2_pool_acquire(TR2_WHOLE_PAGES, 0), a);
}

static void test_pool_is_bounded_in_pages_and_can_be_had_again(void **state)
{
	unsigned n = take_all(TR2_WHOLE_PAGES);

	(void)state;
	assert_int_equal(n, WHOLES);
	give_all(n);
	assert_int_equal(take_all(TR2_WHOLE_PAGES), WHOLES);
}

/* Whatever is free serves any size, and what is too much goes to others. */
static void test_pool_of_whole_chunks_can_be_had_as_short_ones(void **state)
{
	unsigned n = take_all(TR2_WHOLE_PAGES);

	(void)state;
	give_all(n);
	n = take_all(TR2_SHORT_PAGES);
	assert_int_equal(n, POOL_PAGES / TR2_SHORT_PAGES);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(tr2_pool_pages(taken[i] - 1), TR2_SHORT_PAGES);
	give_all(n);
	n = take_all(TR2_WHOLE_PAGES);
	assert_int_equal(n, POOL_PAGES / TR2_SHORT_PAGES);   /* as they are, for there is no more */
}

static void test_pool_every_page_of_a_chunk_can_be_written(void **state)
{
	static const unsigned sizes[] = { 2, 4, 8, 16 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		uint32_t at = tr2_pool_acquire(sizes[i], 0);
		struct tlg_chunk *chunk = tr2_shm_chunk(at - 1);
		uint32_t first = tlg_chunk_first(tr2_pool_pages(at - 1));
		assert_int_equal(tr2_pool_pages(at - 1), sizes[i]);
		assert_true((TLG_CHUNK_EVENTS - first) * sizeof(chunk->events[0]) <= sizes[i] * 4096);
		chunk->number = at;
		memset(&chunk->events[first], 1, (TLG_CHUNK_EVENTS - first) * sizeof(chunk->events[0]));
	}
}

/* Others may have all there is: a thread that begins finds two of the shortest chunks nevertheless. */
static void test_pool_each_thread_adds_what_it_needs(void **state)
{
	(void)state;
	take_all(TR2_WHOLE_PAGES);
	assert_int_equal(take_all(TR2_SHORT_PAGES), 0);
	tr2_pool_count_thread(1);
	assert_int_equal(take_all(TR2_SHORT_PAGES), 2);
	tr2_pool_count_thread(-1);
}

static void test_pool_idle_threads_leave_the_memory_of_all_to_who_records(void **state)
{
	enum { IDLE = POOL_PAGES / TR2_SHORT_PAGES };
	unsigned n = 0;

	(void)state;
	tr2_pool_count_thread(IDLE);
	for (unsigned i = 0; i < IDLE; i++)
		assert_true(taken[n++] = tr2_pool_acquire(TR2_SHORT_PAGES, 0));
	for (unsigned i = 0; i < WHOLES / 2; i++)
		assert_true(taken[n++] = tr2_pool_acquire(TR2_WHOLE_PAGES, 2 * TR2_SHORT_PAGES + i));
	give_all(n);
	tr2_pool_count_thread(-IDLE);
}

static void test_pool_who_has_much_leaves_the_last_to_others(void **state)
{
	unsigned n = 0;

	(void)state;
	while (tr2_pool_acquire(TR2_WHOLE_PAGES, n * TR2_WHOLE_PAGES))
		n++;
	assert_in_range(n, WHOLES / 2, WHOLES - 1);
	assert_true(tr2_pool_is_used_up());
	assert_int_not_equal(tr2_pool_acquire(TR2_SHORT_PAGES, 0), 0);
}

static void test_pool_share_shrinks_with_threads(void **state)
{
	(void)state;
	tr2_pool_count_thread(1);
	assert_int_equal(tr2_pool_share(), TR2_WHOLE_PAGES);
	tr2_pool_count_thread(3);
	assert_int_equal(tr2_pool_share(), 4);
	tr2_pool_count_thread(1000);
	assert_int_equal(tr2_pool_share(), TR2_SHORT_PAGES);
	assert_int_equal(tr2_pool_lasting_share(), 2 * TR2_SHORT_PAGES);
	tr2_pool_count_thread(-1004);
}

static int is_linked;

static void *look_at_link(void *data)
{
	while (!tr2_load_rlx(&is_linked))
		sched_yield();
	return (void *)(uintptr_t)tr2_pool_next((uint32_t)(uintptr_t)data);
}

/* As tr2_stack_pop() does that has found the chunk free before, and was slow: ThreadSanitizer judges that. */
static void test_pool_link_of_a_chunk_is_looked_at_by_who_does_not_have_it(void **state)
{
	uint32_t chunk = tr2_pool_acquire(TR2_WHOLE_PAGES, 0);
	pthread_t thread;
	void *found;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, look_at_link, (void *)(uintptr_t)(chunk - 1)), 0);
	tr2_pool_link(chunk - 1, 7);
	tr2_store_rlx(&is_linked, 1);
	pthread_join(thread, &found);
	assert_int_equal((uintptr_t)found, 7);
	tr2_pool_release(chunk - 1);
}

/* ---- the stack ------------------------------------------------------------------------------------- */

static uint32_t links[THINGS];
static struct tr2_stack stack = { .links = links };
static unsigned owner[THINGS];            /* plain memory: who holds the thing writes it */

static void *take_and_give(void *data)
{
	unsigned me = (unsigned)(uintptr_t)data, errors = 0;

	for (int i = 0; i < TURNS; i++) {
		uint32_t one = tr2_stack_pop(&stack), other = tr2_stack_pop(&stack);
		if (one)
			owner[one - 1] = me;
		if (other)
			owner[other - 1] = me;
		errors += (one && owner[one - 1] != me) || (other && owner[other - 1] != me) || (one && one == other);
		if (one)
			tr2_stack_push(&stack, one - 1);
		if (other)
			tr2_stack_push(&stack, other - 1);
	}
	return (void *)(uintptr_t)errors;
}

/* Taking two and giving them back in the other order is what a stack without generations does not survive. */
static void test_stack_gives_each_thing_to_one_at_a_time(void **state)
{
	pthread_t threads[THREADS];
	unsigned seen = 0;
	void *errors;

	(void)state;
	for (uint32_t i = 0; i < THINGS; i++)
		tr2_stack_push(&stack, i);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &errors);
		assert_null(errors);
	}
	for (uint32_t i = tr2_stack_pop(&stack); i; i = tr2_stack_pop(&stack))
		seen |= 1u << (i - 1);
	assert_int_equal(seen, (1u << THINGS) - 1);
}

static void test_pool_chunks_lie_where_positions_show_that_they_are_chunks(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct tlg_chunk *chunk = tr2_shm_chunk(i);
		assert_int_equal((uintptr_t)chunk % TLG_CHUNK_STRIDE, TLG_CHUNK_BYTES);
		assert_int_equal(tr2_shm_chunk_index(chunk), i);
		assert_ptr_equal((const unsigned char *)chunk - tr2_g_shm.base, tlg_chunk_at(tr2_g_shm.head, i));
	}
}

static int is_in_memory(const void *address)
{
	unsigned char is = 0;

	assert_int_equal(mincore((void *)((uintptr_t)address & ~(uintptr_t)4095), 4096, &is), 0);
	return is & 1;
}

/* The other parts of the file begin behind it, and it has the memory that a short process needs. */
static void test_pool_first_chunk_is_close_to_the_head_and_in_memory(void **state)
{
	const unsigned char *chunk = (const unsigned char *)tr2_shm_chunk(0), *head = tr2_g_shm.base;

	(void)state;
	assert_in_range(chunk - head, TR2_MAP_FIRST_CHUNK_AT, TR2_MAP_FIRST_CHUNK_AT + TLG_CHUNK_STRIDE);
	assert_true((size_t)(chunk - head) + TLG_CHUNK_BYTES <= tr2_g_shm.tables_at);
	assert_true(is_in_memory(chunk));
	assert_true(is_in_memory(chunk + TLG_CHUNK_BYTES - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool_first_chunk_is_close_to_the_head_and_in_memory),   /* before it is used */
		cmocka_unit_test(test_pool_chunks_lie_where_positions_show_that_they_are_chunks),
		cmocka_unit_test_setup(test_pool_gives_out_first_what_came_back_last, setup),
		cmocka_unit_test_setup(test_pool_is_bounded_in_pages_and_can_be_had_again, setup),
		cmocka_unit_test_setup(test_pool_of_whole_chunks_can_be_had_as_short_ones, setup),
		cmocka_unit_test_setup(test_pool_every_page_of_a_chunk_can_be_written, setup),
		cmocka_unit_test_setup(test_pool_each_thread_adds_what_it_needs, setup),
		cmocka_unit_test_setup(test_pool_idle_threads_leave_the_memory_of_all_to_who_records, setup),
		cmocka_unit_test_setup(test_pool_who_has_much_leaves_the_last_to_others, setup),
		cmocka_unit_test_setup(test_pool_share_shrinks_with_threads, setup),
		cmocka_unit_test_setup(test_pool_link_of_a_chunk_is_looked_at_by_who_does_not_have_it, setup),
		cmocka_unit_test(test_stack_gives_each_thing_to_one_at_a_time),
	};

	return cmocka_run_group_tests(tests, ringfile_create, ringfile_remove);
}
