/* SPDX-License-Identifier: MIT */
/* A ring that the drain parks while its thread comes back: ThreadSanitizer judges how both look at where it was. */
#include "t2test.h"

#include <pthread.h>
#include <sched.h>

#include "ring/tr2_ring_read.h"
#include "ringfile.h"

static struct trace2_hot hot;
static struct tr2_ring ring = { .hot = &hot };
static struct tr2_reader reader = { .ring = &ring };
static int turn;                  /* relaxed: it orders nothing between the two threads */

static int setup(void **state)
{
	if (ringfile_create(state) || tr2_pool_init(0))
		return -1;
	ring.head = tr2_shm_ring(0);
	return tr2_shm_commit(ring.head, sizeof(*ring.head)) || tr2_ring_open_chunk(&ring, 0, TR2_WHOLE_PAGES);
}

static void await_turn(int mine)
{
	while (tr2_load_rlx(&turn) != mine)
		sched_yield();
}

static uintptr_t add(void)
{
	return tr2_local_add(&hot.cur, sizeof(struct tlg_event));
}

static void commit(uint32_t scope)
{
	struct tlg_event *event = (struct tlg_event *)add();

	event->u.hit = (struct tlg_hit){ 1, scope, 0 };
	tr2_ring_commit(event, TLG_HIT);
}

/* The scope of the next event, 0 if there is none now. */
static uint32_t read_hit(void)
{
	struct tr2_chain chain;

	while (tr2_ring_peek(&reader, 1, UINT64_MAX, &chain) == TR2_PEEK_CHUNK)
		tr2_ring_leave_chunk(&reader);
	if (tr2_ring_peek(&reader, 1, UINT64_MAX, &chain) != TR2_PEEK_CHAIN)
		return 0;
	tr2_ring_consume(&reader, chain.count);
	return chain.events->u.hit.scopeIndex;
}

static void *come_back_slowly(void *data)
{
	await_turn(1);
	add();
	tr2_ring_unpark(&ring);
	tr2_store_rlx(&turn, 2);
	await_turn(3);
	add();
	tr2_ring_unpark(&ring);
	commit(2);
	return data;
}

static void test_park_again_before_the_thread_goes_on_loses_nothing(void **state)
{
	uintptr_t before;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, come_back_slowly, NULL), 0);
	commit(1);
	assert_int_equal(read_hit(), 1);
	before = tr2_load_rlx(&hot.cur);
	tr2_ring_park(&reader);
	assert_true(tr2_ring_is_away(&reader));
	tr2_store_rlx(&turn, 1);
	await_turn(2);
	assert_int_equal(tr2_load_rlx(&hot.cur), before);
	tr2_ring_park(&reader);
	assert_true(tr2_ring_is_away(&reader));
	tr2_store_rlx(&turn, 3);
	pthread_join(thread, NULL);
	assert_int_equal(read_hit(), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_park_again_before_the_thread_goes_on_loses_nothing),
	};

	return cmocka_run_group_tests(tests, setup, ringfile_remove);
}
