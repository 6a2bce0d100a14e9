/* SPDX-License-Identifier: MIT */
/*
 * Who releases what others wait for, without a lock: futexes, semaphores, condition variables.  Whose waits are added
 * up, also if a handler leaves a wait, or posts on a small stack.
 */
#include "t2test.h"

#ifdef TR2_IS_SANITIZED
int main(void)
{
	return 77;   /* sanitizers stand in front of these functions themselves */
}
#else
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "trace2_prof.h"
#include "base/tr2_atomic.h"
#include "prof/tr2p_bucket.h"
#include "prof/tr2p_thread.h"
#include "prof/tr2p_unwind.h"
#include "prof/tr2p_wait.h"

enum { HELD_NS = 3000000, FUNCTION_BYTES = 512 };

/* A function whose call is not its last instruction, so that it is in the stack, and that no other is near. */
#define ALONE __attribute__((noinline, aligned(FUNCTION_BYTES)))

static uint32_t word;
static sem_t sem, other_sem;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static mtx_t mtx;
static cnd_t cnd;
static int is_set;

static int setup(void **state)
{
	(void)state;
	tr2p_unwind_init(0, 0);
	tr2p_thread_begin();
	sem_init(&sem, 0, 0);
	sem_init(&other_sem, 0, 0);
	mtx_init(&mtx, mtx_plain);
	cnd_init(&cnd);
	return tr2p_bucket_init();
}

static int begin(void **state)
{
	(void)state;
	trace2_prof_set_block_rate(1);
	trace2_prof_set_mutex_fraction(1);
	tr2p_bucket_reset(TR2P_BLOCK);
	tr2p_bucket_reset(TR2P_MUTEX);
	return 0;
}

static int end(void **state)
{
	(void)state;
	trace2_prof_set_block_rate(0);
	trace2_prof_set_mutex_fraction(0);
	return 0;
}

static int64_t read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void hold(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = HELD_NS }, NULL);
}

/* ---- pairs ------------------------------------------------------------------------------------------- */

static ALONE int wait_futex(void)
{
	long result = 0;

	while (!tr2_load_rlx(&word) && (!result || errno == EAGAIN)) /* relaxed: the call orders it */
		result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return result && errno != EAGAIN;
}

static ALONE int wake_futex(void)
{
	long woken;

	tr2_store_rlx(&word, 1); /* relaxed: as above */
	woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return woken != 1;
}

static ALONE int wait_cond(void)
{
	pthread_mutex_lock(&mutex);
	while (!is_set)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return 0;
}

static ALONE int broadcast_cond(void)
{
	pthread_mutex_lock(&mutex);
	is_set = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	return 0;
}

static ALONE int wait_cnd(void)
{
	mtx_lock(&mtx);
	while (!is_set)
		cnd_wait(&cnd, &mtx);
	mtx_unlock(&mtx);
	return 0;
}

static ALONE int signal_cnd(void)
{
	mtx_lock(&mtx);
	is_set = 1;
	cnd_signal(&cnd);
	mtx_unlock(&mtx);
	return 0;
}

static const struct pair {
	int (*wait)(void);
	int (*release)(void);
} pairs[] = {
	{ wait_futex, wake_futex }, { wait_cond, broadcast_cond }, { wait_cnd, signal_cnd },
};

struct waiter {
	const struct pair *pair;
	struct tr2p_thread *thread;   /* of the one that waits; set by it */
	int64_t ns;                   /* that it measures itself */
	int error;
};

static void *wait_there(void *data)
{
	struct waiter *waiter = data;
	const int64_t before = read_clock();

	tr2_store_rel(&waiter->thread, &tr2p_g_thread); /* the thread's memory, before main() looks */
	waiter->error = waiter->pair->wait();
	waiter->ns = read_clock() - before;
	return NULL;
}

/* Return  that it is in its wait, and how long it stayed at least */
static int64_t hold_on(struct waiter *waiter)
{
	struct tr2p_thread *thread;
	int64_t before;

	while (!(thread = tr2_load_acq(&waiter->thread)) || /* as above */
	       !tr2_load_rlx(&thread->among)) /* relaxed: only whether */
		sched_yield();
	before = read_clock();
	hold();
	return read_clock() - before;
}

/* What a profile has of stacks that begin in this function. */
static int64_t value_in(unsigned profile, int (*function)(void))
{
	const uintptr_t start = (uintptr_t)function;
	int64_t value = 0;

	for (struct tr2p_bucket *b = tr2p_bucket_first(profile); b; b = b->next)
		if (b->n && b->at[0] >= start && b->at[0] < start + FUNCTION_BYTES)
			value += tr2p_bucket_totals(b).value;
	return value;
}

static int64_t samples_of(unsigned profile)
{
	int64_t count = 0;

	for (struct tr2p_bucket *b = tr2p_bucket_first(profile); b; b = b->next)
		count += tr2p_bucket_totals(b).count;
	return count;
}

static void test_release_is_charged_for_who_waited(void **state)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct waiter waiter = { .pair = &pairs[i] };
		pthread_t thread;
		int64_t held;

		begin(state);
		is_set = 0;
		assert_int_equal(pthread_create(&thread, NULL, wait_there, &waiter), 0);
		held = hold_on(&waiter);
		/* a futex's waiter is counted before the kernel has it asleep */
		while (pairs[i].release())
			sched_yield();
		tr2p_enter();
		assert_int_equal(pthread_join(thread, NULL), 0);
		tr2p_leave();
		assert_int_equal(waiter.error, 0);
		assert_in_range(value_in(TR2P_BLOCK, pairs[i].wait), held, waiter.ns);
		assert_in_range(value_in(TR2P_MUTEX, pairs[i].release), held, waiter.ns);
	}
}

/* A waiter is counted before the kernel has it asleep. */
static void test_futex_wake_of_nobody_leaves_the_charge_to_the_next(void **state)
{
	struct tr2p_wait wait;

	(void)state;
	tr2p_wait_begin(&wait, TR2P_WAIT_FUTEX, &word, NULL);
	hold();
	assert_int_equal(wake_futex(), 1);
	assert_int_equal(samples_of(TR2P_MUTEX), 0);
	assert_true(tr2p_take_charge(&word) >= HELD_NS);
	tr2p_wait_end(&wait);
}

static void test_release_of_nobody_is_not_charged(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(wake_futex(), 1);
		assert_int_equal(broadcast_cond() || signal_cnd() || sem_post(&sem) || sem_trywait(&sem), 0);
	}
	assert_int_equal(samples_of(TR2P_MUTEX), 0);
}

static void test_futex_call_that_does_not_wait_keeps_its_errno_and_is_no_wait(void **state)
{
	const struct timespec soon = { .tv_nsec = 1000 };

	(void)state;
	word = 1;
	errno = 0;
	assert_int_equal(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(syscall(SYS_futex, 1L, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(samples_of(TR2P_BLOCK), 0);
	assert_int_equal(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &soon, NULL, 0), -1);
	assert_int_equal(errno, ETIMEDOUT);
	assert_int_equal(samples_of(TR2P_BLOCK), 1);
	assert_null(tr2p_g_thread.wait);
}

/* ---- whose waits are added up ------------------------------------------------------------------------- */

/* Addresses whose waiters could have the same slots. */
static const void *find_like(const char *object, unsigned n)
{
	const char *like = object;

	while (n) {
		like += 8;
		n -= tr2p_waiters_of(like) == tr2p_waiters_of(object);
	}
	return like;
}

static void test_waiters_of_one_are_not_charged_to_another_in_its_slot(void **state)
{
	const char *object = (const char *)&word;
	const void *second = find_like(object, 1), *third = find_like(object, 2);
	struct tr2p_waiters *slots[2];
	struct tr2p_wait waits[3];
	uint64_t charge;

	(void)state;
	tr2p_wait_begin(&waits[0], TR2P_WAIT_COND, object, NULL);
	slots[0] = tr2p_g_thread.among;
	tr2p_g_thread.among = NULL;           /* as if the others were other threads */
	hold();
	tr2p_wait_begin(&waits[1], TR2P_WAIT_MUTEX, second, NULL);
	slots[1] = tr2p_g_thread.among;
	tr2p_g_thread.among = NULL;
	tr2p_wait_begin(&waits[2], TR2P_WAIT_MUTEX, third, NULL);
	assert_null(tr2p_g_thread.among);     /* there is no slot */
	assert_true(tr2p_is_awaited(object) && tr2p_is_awaited(second) && !tr2p_is_awaited(third));
	charge = tr2p_take_charge(second);
	assert_true(charge <= (uint64_t)read_clock() - waits[1].start_ns);
	assert_true(tr2p_take_charge(object) >= HELD_NS);
	assert_int_equal(tr2p_take_charge(third), 0);
	for (unsigned i = 3; i--;) {
		tr2p_g_thread.among = i < 2 ? slots[i] : NULL;
		tr2p_g_thread.among_at = (uintptr_t)&waits[i];
		tr2p_wait_end(&waits[i]);
	}
	assert_false(tr2p_is_awaited(object) || tr2p_is_awaited(second));
}

static sigjmp_buf out;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static void post_other(int signal)
{
	(void)signal;
	sem_post(&other_sem);
}

static __attribute__((noinline)) int wait_deep(unsigned depth)
{
	volatile char room[256];
	int result;

	room[0] = (char)depth;
	result = depth ? wait_deep(depth - 1) : sem_wait(&sem);
	return result + (room[0] != (char)depth);
}

/* The next is none with a timeout: on machines of 32 bits the profiler does not stand in front of these. */
static void test_wait_that_a_handler_has_left_ends_with_the_next(void **state)
{
	const struct itimerspec soon = { .it_value.tv_nsec = HELD_NS };
	struct sigaction action = { .sa_handler = leave }, before;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	if (!sigsetjmp(out, 1)) {
		timer_settime(timer, 0, &soon, NULL);
		wait_deep(4);
	}
	assert_true(tr2p_is_awaited(&sem));   /* nobody has noticed */
	action.sa_handler = post_other;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	timer_settime(timer, 0, &soon, NULL);
	while (sem_wait(&other_sem))
		continue;
	timer_delete(timer);
	assert_false(tr2p_is_awaited(&sem));
	assert_false(tr2p_is_awaited(&other_sem));
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

/* ---- handlers ---------------------------------------------------------------------------------------- */

static void *wait_sem(void *data)
{
	struct waiter *waiter = data;

	tr2_store_rel(&waiter->thread, &tr2p_g_thread); /* the thread's memory, before main() looks */
	while (sem_wait(&sem))
		continue;
	return NULL;
}

static void post(int signal)
{
	(void)signal;
	sem_post(&sem);
}

/* Return  samples of the post */
static int64_t post_on_a_stack_of(size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (bytes + page - 1) & ~(page - 1);
	char *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = memory + page + size - bytes, .ss_size = bytes }, before;
	struct sigaction action = { .sa_handler = post, .sa_flags = SA_ONSTACK }, old;
	struct waiter waiter = { 0 };
	pthread_t thread;

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory, page, PROT_NONE), 0);     /* who overflows it ends the test */
	assert_int_equal(sigaltstack(&stack, &before), 0);
	assert_int_equal(sigaction(SIGUSR2, &action, &old), 0);
	tr2p_bucket_reset(TR2P_MUTEX);
	assert_int_equal(pthread_create(&thread, NULL, wait_sem, &waiter), 0);
	hold_on(&waiter);
	assert_int_equal(raise(SIGUSR2), 0);
	tr2p_enter();
	assert_int_equal(pthread_join(thread, NULL), 0);
	tr2p_leave();
	assert_int_equal(sigaction(SIGUSR2, &old, NULL), 0);
	assert_int_equal(sigaltstack(&before, NULL), 0);
	munmap(memory, page + size);
	return samples_of(TR2P_MUTEX);
}

static void test_post_in_a_handler_on_a_small_stack_is_dropped_and_counted(void **state)
{
	const long needed = sysconf(_SC_MINSIGSTKSZ);
	const uint64_t dropped = tr2p_bucket_dropped(TR2P_MUTEX);

	(void)state;
	assert_int_equal(post_on_a_stack_of((size_t)(needed > 0 ? needed : MINSIGSTKSZ) + 1024), 0);
	assert_int_equal(tr2p_bucket_dropped(TR2P_MUTEX), dropped + 1);
	assert_int_equal(post_on_a_stack_of(1 << 17), 1);
	assert_int_equal(tr2p_bucket_dropped(TR2P_MUTEX), dropped + 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(test_release_is_charged_for_who_waited),
		TEST(test_futex_wake_of_nobody_leaves_the_charge_to_the_next),
		TEST(test_release_of_nobody_is_not_charged),
		TEST(test_futex_call_that_does_not_wait_keeps_its_errno_and_is_no_wait),
		TEST(test_waiters_of_one_are_not_charged_to_another_in_its_slot),
		TEST(test_wait_that_a_handler_has_left_ends_with_the_next),
		TEST(test_post_in_a_handler_on_a_small_stack_is_dropped_and_counted),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
#endif
