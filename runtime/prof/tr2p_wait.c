/* SPDX-License-Identifier: MIT */
/* tr2p_wait.c - see tr2p_wait.h. */
#include "tr2p_wait.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "trace2_prof.h"
#include "tr2p_init.h"
#include "tr2p_sample.h"
#include "tr2p_thread.h"
#include "tr2p_unwind.h"
#include "record/tr2_sample.h"

static const uint64_t TIME_MASK = (UINT64_C(1) << TR2P_WAITERS_TIME_BITS) - 1;

unsigned tr2p_g_waits;
struct tr2p_waiters tr2p_g_waiters[TR2P_WAITERS_SLOTS];

static uint64_t g_block_rate;         /* ns; 0: off */
static unsigned g_mutex_fraction;     /* 0: off */

static uint64_t read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- rates ----------------------------------------------------------------------------------------- */

/* Nobody waits in the child of a fork but its one thread, which does not. */
static void forget_waiters(void)
{
	memset(tr2p_g_waiters, 0, sizeof(tr2p_g_waiters));
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_waiters);
}

static void note_rates(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int saved = errno;
	/* relaxed: numbers by themselves */
	unsigned on = tr2_load_rlx(&g_block_rate) || tr2_load_rlx(&g_mutex_fraction);

	if (on) {
		tr2p_init();      /* without memory samples go into the trace only */
		pthread_once(&once, watch_forks);
	}
	tr2_store_rlx(&tr2p_g_waits, on); /* relaxed: a flag by itself */
	errno = saved;
}

uint64_t trace2_prof_set_block_rate(uint64_t ns)
{
	uint64_t before = tr2_exchange_rlx(&g_block_rate, ns); /* relaxed: a number by itself */

	note_rates();
	return before;
}

unsigned trace2_prof_set_mutex_fraction(unsigned n)
{
	unsigned before = tr2_exchange_rlx(&g_mutex_fraction, n); /* relaxed: a number by itself */

	note_rates();
	return before;
}

/* ---- samples --------------------------------------------------------------------------------------- */

static void take_sample(unsigned profile, const void *caller, uint64_t ns, uint64_t period)
{
	const struct tr2p_amount amount = { 1, (int64_t)ns, (int64_t)period, (double)period };
	struct tr2p_stack stack;
	int saved = errno;

	if (tr2_sample_is_inside_v1())
		return;
	tr2p_enter();
	tr2p_unwind_from(&stack, caller);
	tr2p_sample(profile, &stack, &amount);
	tr2p_leave();
	errno = saved;
}

static uint64_t random64(void)
{
	return (uint64_t)tr2p_random() << 32 | tr2p_random();
}

/*
 * A shorter wait is taken with probability ns / rate, and stands for rate / ns of them; for a whole number, which is as
 * much on the average.
 */
static void note_block(const void *caller, uint64_t ns)
{
	uint64_t rate = tr2_load_rlx(&g_block_rate), period = 1; /* relaxed: a number by itself */

	if (!rate)
		return;
	if (ns < rate) {
		if (random64() % rate >= ns)
			return;
		period = rate / ns + (random64() % ns < rate % ns);
	}
	take_sample(TR2P_BLOCK, caller, ns, period);
}

/* ---- waiters of a lock ------------------------------------------------------------------------------ */

static uint64_t waited(uint64_t state, uint64_t now)
{
	return ((state >> TR2P_WAITERS_TIME_BITS) * now - state) & TIME_MASK;
}

/* One more waits since now, or one less.  Return  the state before */
static uint64_t count_waiter(struct tr2p_waiters *waiters, int one, uint64_t now)
{
	uint64_t old, count, time;

	do {
		old = tr2_load_rlx(&waiters->state); /* relaxed: a number by itself, in one piece */
		if (one < 0 && !(old >> TR2P_WAITERS_TIME_BITS))
			return old;      /* forgotten: a child that was forked by a handler in this wait */
		count = (old >> TR2P_WAITERS_TIME_BITS) + (uint64_t)(int64_t)one;
		time = (old + (uint64_t)(int64_t)one * now) & TIME_MASK;
	} while (!tr2_cas_rlx(&waiters->state, old, count << TR2P_WAITERS_TIME_BITS | time)); /* relaxed: as above */
	return old;
}

static void begin_waiting(struct tr2p_wait *wait)
{
	struct tr2p_waiters *waiters = tr2p_waiters_of(wait->object);
	uint64_t old;

	tr2_store_rlx(&waiters->lock, wait->object); /* relaxed: whom it is charged to, about */
	old = count_waiter(waiters, 1, wait->start_ns);
	if (!(old >> TR2P_WAITERS_TIME_BITS))   /* what they had waited since it was last unlocked is nobody's */
		tr2_store_rlx(&waiters->charged, waited(old, 0)); /* relaxed: an estimate */
	wait->is_counted = 1;
}

uint64_t tr2p_take_charge(const void *lock)
{
	struct tr2p_waiters *waiters = tr2p_waiters_of(lock);
	unsigned fraction = tr2_load_rlx(&g_mutex_fraction); /* relaxed: a number by itself */
	uint64_t all = waited(tr2_load_rlx(&waiters->state), read_clock()); /* relaxed: in one piece */
	uint64_t ns = (all - tr2_exchange_rlx(&waiters->charged, all)) & TIME_MASK; /* relaxed: an estimate */

	/* Two that share a slot may overtake each other */
	if (!fraction || tr2p_is_inside() || ns > TIME_MASK / 2)
		return 0;
	return fraction == 1 || tr2p_random() % fraction == 0 ? ns : 0;
}

void tr2p_charge(uint64_t ns, const void *caller)
{
	unsigned fraction = tr2_load_rlx(&g_mutex_fraction); /* relaxed: a number by itself */

	if (ns && fraction)
		take_sample(TR2P_MUTEX, caller, ns, fraction);
}

/* ---- waits ----------------------------------------------------------------------------------------- */

void tr2p_wait_begin(struct tr2p_wait *wait, enum tr2p_wait_kind kind, const void *object, const void *caller)
{
	struct tr2p_thread *thread = &tr2p_g_thread;

	*wait = (struct tr2p_wait){ .kind = kind, .object = object, .caller = caller, .outer = thread->wait };
	wait->start_ns = read_clock();
	/* relaxed: a number by itself */
	if (kind <= TR2P_WAIT_SPIN && tr2_load_rlx(&g_mutex_fraction))
		begin_waiting(wait);
	tr2_fence_compiler();     /* a handler finds it whole */
	thread->wait = wait;
}

/* These say that nothing was waited for. */
static int is_refusal(int error)
{
	return error == EDEADLK || error == EINVAL || error == EPERM || error == ESRCH;
}

void tr2p_wait_end(struct tr2p_wait *wait)
{
	uint64_t now = read_clock();

	tr2p_g_thread.wait = wait->outer;
	tr2_fence_compiler();
	if (wait->is_counted)
		count_waiter(tr2p_waiters_of(wait->object), -1, now);
	if (!is_refusal(wait->error))
		note_block(wait->caller, now - wait->start_ns);
}
