/* SPDX-License-Identifier: MIT */
/* tr2p_wait.c - see tr2p_wait.h. */
#include "tr2p_wait.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "trace2_prof.h"
#include "tr2p_init.h"
#include "tr2p_room.h"
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

int tr2p_wait_block_is_on(void)
{
	return tr2_load_rlx(&g_block_rate) != 0; /* relaxed: a number by itself */
}

int tr2p_wait_mutex_is_on(void)
{
	return tr2_load_rlx(&g_mutex_fraction) != 0; /* relaxed: a number by itself */
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

/* The slot of who waits for this, or one for whom nobody waits.  Return  NULL: others have both */
static struct tr2p_waiters *find_slot(const void *lock)
{
	struct tr2p_waiters *waiters = tr2p_waiters_of(lock), *spare = NULL;

	for (unsigned i = 0; i < TR2P_WAITERS_WAYS; i++) {
		if (tr2p_are_of(&waiters[i], lock))
			return &waiters[i];
		/* relaxed: if another takes it at this moment, one is charged for the other, this time */
		if (!spare && !(tr2_load_rlx(&waiters[i].state) >> TR2P_WAITERS_TIME_BITS))
			spare = &waiters[i];
	}
	return spare;
}

/*
 * A thread is counted once: not again for a handler's wait, within the other one.
 *
 * A handler of the program may have left a wait by longjmp(): then it ends here.  It is over if its frame is deeper on
 * the stack than this one, or if it was on a signal's stack and the thread is on its own again.
 */
static int may_be_counted(struct tr2p_thread *thread, const struct tr2p_wait *wait)
{
	const uintptr_t here = (uintptr_t)wait, there = thread->among_at;

	if (!thread->among)
		return 1;
	if (here < thread->stack_low || here >= thread->stack_high ||
	    (there > here && there < thread->stack_high))
		return 0;
	count_waiter(thread->among, -1, wait->start_ns);
	return 1;
}

static void begin_waiting(struct tr2p_thread *thread, const struct tr2p_wait *wait)
{
	struct tr2p_waiters *waiters = may_be_counted(thread, wait) ? find_slot(wait->object) : NULL;
	uint64_t old;

	if (!waiters)
		return;
	tr2_store_rlx(&waiters->lock, wait->object); /* relaxed: whom it is charged to, about */
	old = count_waiter(waiters, 1, wait->start_ns);
	if (!(old >> TR2P_WAITERS_TIME_BITS))   /* what they had waited since the last release is nobody's */
		tr2_store_rlx(&waiters->charged, waited(old, 0)); /* relaxed: an estimate */
	thread->among = waiters;
	thread->among_at = (uintptr_t)wait;
}

static void end_waiting(struct tr2p_thread *thread, const struct tr2p_wait *wait, uint64_t now)
{
	if (!thread->among || thread->among_at != (uintptr_t)wait)
		return;
	count_waiter(thread->among, -1, now);
	thread->among = NULL;
}

static uint64_t take_charge(struct tr2p_waiters *waiters)
{
	uint64_t all = waited(tr2_load_rlx(&waiters->state), read_clock()); /* relaxed: in one piece */
	uint64_t ns = (all - tr2_exchange_rlx(&waiters->charged, all)) & TIME_MASK; /* relaxed: an estimate */

	/* Two that release at the same moment may overtake each other */
	return ns > TIME_MASK / 2 ? 0 : ns;
}

uint64_t tr2p_take_charge(const void *lock)
{
	struct tr2p_waiters *waiters = tr2p_waiters_of(lock);
	uint64_t ns = 0;

	for (unsigned i = 0; i < TR2P_WAITERS_WAYS; i++)
		ns += tr2p_are_of(&waiters[i], lock) ? take_charge(&waiters[i]) : 0;
	return ns;
}

void tr2p_put_back_charge(const void *lock, uint64_t ns)
{
	struct tr2p_waiters *waiters = find_slot(lock);

	if (waiters)
		tr2_add_rlx(&waiters->charged, -ns); /* relaxed: an estimate */
}

/* sem_post() and syscall() are for handlers, too, which may run on a small stack. */
void tr2p_charge(uint64_t ns, const void *caller)
{
	unsigned fraction = tr2_load_rlx(&g_mutex_fraction); /* relaxed: a number by itself */

	if (!ns || !fraction || tr2p_is_inside() || (fraction > 1 && tr2p_random() % fraction))
		return;
	if (tr2p_room_is_enough())
		take_sample(TR2P_MUTEX, caller, ns, fraction);
	else
		tr2p_bucket_drop(TR2P_MUTEX);
}

/* ---- waits ----------------------------------------------------------------------------------------- */

/* Nobody releases a barrier: all come.  Nor the end of a thread. */
static int is_released(enum tr2p_wait_kind kind)
{
	return kind != TR2P_WAIT_JOIN && kind != TR2P_WAIT_BARRIER;
}

void tr2p_wait_begin(struct tr2p_wait *wait, enum tr2p_wait_kind kind, const void *object, const void *caller)
{
	struct tr2p_thread *thread = &tr2p_g_thread;

	*wait = (struct tr2p_wait){ .kind = kind, .object = object, .caller = caller, .outer = thread->wait };
	wait->start_ns = read_clock();
	/* relaxed: a number by itself */
	if (is_released(kind) && tr2_load_rlx(&g_mutex_fraction))
		begin_waiting(thread, wait);
	tr2_fence_compiler();     /* a handler finds it whole */
	if (kind != TR2P_WAIT_FUTEX)
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

	if (wait->kind != TR2P_WAIT_FUTEX)
		tr2p_g_thread.wait = wait->outer;
	tr2_fence_compiler();
	end_waiting(&tr2p_g_thread, wait, now);
	if (!is_refusal(wait->error))
		note_block(wait->caller, now - wait->start_ns);
}
