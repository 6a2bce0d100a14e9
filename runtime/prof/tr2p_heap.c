/* SPDX-License-Identifier: MIT */
/* tr2p_heap.c - distances between samples, and samples. */
#include "tr2p_heap.h"

#include <errno.h>

#include "trace2_prof.h"
#include "tr2p_init.h"
#include "tr2p_malloc.h"
#include "tr2p_sample.h"
#include "tr2p_unwind.h"

static size_t g_rate;

/* ---- mathematics, without libm, which every process would have to load ----------------------------- */

/* -ln((n + 0.5) / 2^32): with n = m * 2^e, 1 <= m < 2, and ln(m) = 2 atanh((m - 1) / (m + 1)), a series. */
static double minus_log(uint32_t n)
{
	double m = (double)n + 0.5, z, sum = 0, power;
	int e = -32;

	while (m >= 2) {
		m /= 2;
		e++;
	}
	for (; m < 1; m *= 2)
		e--;
	z = (m - 1) / (m + 1);
	power = z;
	for (int i = 1; i < 18; i += 2) {
		sum += power / i;
		power *= z * z;
	}
	return -(2 * sum + e * 0.69314718055994530942);
}

/* 1 - exp(-x): the series for small x, and for twice x it is f * (2 - f). */
static double one_minus_exp(double x)
{
	double f;
	int halved = 0;

	if (x > 40)
		return 1;
	for (; x > 1.0 / 16; x /= 2)
		halved++;
	f = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6)))));
	while (halved--)
		f *= 2 - f;
	return f;
}

size_t tr2p_heap_draw(size_t rate)
{
	double distance;

	if (rate <= 1)
		return rate;
	distance = minus_log(tr2p_random()) * (double)rate + 1;   /* rounded up: whole bytes are as memoryless */
	return distance < (double)(SIZE_MAX / 2) ? (size_t)distance : SIZE_MAX / 2;
}

double tr2p_heap_scale(size_t size, size_t rate)
{
	return rate <= 1 ? 1 : 1 / one_minus_exp((double)tr2p_heap_weight(size) / (double)rate);
}

/* ---- samples --------------------------------------------------------------------------------------- */

/* Draw for this thread. */
static void begin_distance(struct tr2p_thread *thread)
{
	thread->heap_rate = tr2_load_rlx(&g_rate); /* relaxed: a number by itself */
	thread->heap_left = tr2p_heap_draw(thread->heap_rate);
}

/* Return  the rate at which this allocation is sampled; 0: it is not */
static size_t next_distance(size_t size)
{
	struct tr2p_thread *thread = &tr2p_g_thread;
	size_t rate;

	if (!thread->heap_rate) {
		begin_distance(thread);
		if (tr2p_heap_passes(size))
			return 0;
	}
	rate = thread->heap_rate;
	begin_distance(thread);
	return thread->heap_rate ? rate : 0;   /* 0: it was switched off just now */
}

static struct tr2p_amount amount_of(int64_t sign, size_t size, size_t rate)
{
	return (struct tr2p_amount){ sign, sign * (int64_t)tr2p_heap_weight(size), (int64_t)rate,
				     tr2p_heap_scale(size, rate) };
}

static __attribute__((noinline)) void take_sample(const void *address, size_t size, size_t rate, const void *caller)
{
	struct tr2p_amount amount = amount_of(1, size, rate);
	struct tr2p_live live = { .size = size, .rate = rate };
	struct tr2p_stack stack;

	if (tr2p_live_may_have(address))
		tr2p_heap_freed(address);   /* by a function that is not malloc's: else it could not be here again */
	tr2p_unwind_from(&stack, caller);
	live.bucket = tr2p_sample(TR2P_HEAP, &stack, &amount);
	if (live.bucket && tr2p_live_put(address, &live))
		return;
	/* Nobody will notice that it is freed: so it is not in use, but was allocated. */
	amount = amount_of(-1, size, rate);
	if (live.bucket)
		tr2p_sample_again(live.bucket, &amount);
	else
		tr2p_sample(TR2P_HEAP, &stack, &amount);
}

void tr2p_heap_allocated(void *address, size_t size, const void *caller)
{
	int saved = errno, is_inside = tr2p_is_inside();
	size_t rate;

	tr2p_enter();
	rate = next_distance(size);
	if (rate && address && !is_inside)
		take_sample(address, size, rate, caller);
	tr2p_leave();
	errno = saved;
}

void tr2p_heap_freed_sample(const struct tr2p_live *live)
{
	struct tr2p_amount amount = amount_of(-1, live->size, live->rate);

	tr2p_sample_again(live->bucket, &amount);
}

void tr2p_heap_freed(const void *address)
{
	struct tr2p_live live;

	if (tr2p_live_take(address, &live))
		tr2p_heap_freed_sample(&live);
}

/* ---- the rate -------------------------------------------------------------------------------------- */

int tr2p_heap_is_on(void)
{
	return tr2_load_rlx(&g_rate) != 0; /* relaxed: a number by itself */
}

size_t trace2_prof_set_heap_rate(size_t bytes)
{
	int saved = errno;
	size_t old = tr2_load_rlx(&g_rate); /* relaxed: a number by itself */

	tr2p_enter();
	if (!bytes || (!tr2p_init() && !tr2p_live_init())) {
		tr2_store_rlx(&g_rate, bytes); /* relaxed: as above */
		/* This thread goes by it at once, others from their next sample on. */
		tr2p_g_thread.heap_rate = tr2p_g_thread.heap_left = 0;
		tr2p_malloc_profile(bytes != 0);
	}
	tr2p_leave();
	errno = saved;
	return old;
}
