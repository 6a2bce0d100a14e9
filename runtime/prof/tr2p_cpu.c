/* SPDX-License-Identifier: MIT */
/* tr2p_cpu.c - starting and stopping the two clocks, and the handler of their ticks. */
#include "tr2p_cpu.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "trace2_prof.h"
#include "tr2p_bucket.h"
#include "tr2p_init.h"
#include "tr2p_kernel.h"
#include "tr2p_mutex.h"
#include "tr2p_profile.h"
#include "tr2p_room.h"
#include "tr2p_sample.h"
#include "tr2p_scratch.h"
#include "tr2p_settings.h"
#include "tr2p_signal.h"
#include "tr2p_thread.h"
#include "tr2p_timers.h"
#include "tr2p_unwind.h"
#include "tr2p_wall.h"
#include "base/tr2_atomic.h"

enum { HZ_MAX = 10000, STARTS = 16 };

/* A start of a clock; its address is the cookie of its ticks.  Those of earlier starts are ignored. */
struct start {
	uint64_t period_ns;
};

static struct clock {
	struct start starts[STARTS];      /* one after the other */
	unsigned count;
	const struct start *now;          /* NULL: it does not run.  Read by handlers */
} clocks[TR2P_CLOCKS];

static const unsigned profiles[TR2P_CLOCKS] = { TR2P_CPU, TR2P_WALL };

static struct tr2p_mutex lock = TR2P_MUTEX_INIT;   /* of starting and stopping */

/* ---- ticks ----------------------------------------------------------------------------------------- */

/* What ticks are charged to that come while the thread is in the profiler: a name in the profile. */
static __attribute__((noinline, used)) void in_the_profiler(void)
{
	__asm__ volatile("");
}

/* Where a tick found the thread: interrupted, or, without a context, in a function that was called from caller. */
struct place {
	const void *context, *caller;
};

static void unwind(struct tr2p_stack *stack, const struct place *place)
{
	if (tr2p_is_inside()) {
		stack->n = 1;
		stack->at[0] = (uintptr_t)in_the_profiler;
		return;
	}
	tr2p_enter();
	tr2p_unwind_either(stack, place->context, place->caller);
	tr2p_leave();
}

static void take_by(struct tr2p_stack *stack, enum tr2p_clock clock, const struct tr2p_amount *amount,
		    const struct place *place)
{
	const void *context = tr2p_is_inside() ? NULL : place->context;

	unwind(stack, place);
	if (clock == TR2P_CLOCK_CPU)
		tr2p_kernel_sample(stack, amount, context);
	else
		tr2p_sample(profiles[clock], stack, amount);
}

/* noinline: only here the stack has a buffer of its own. */
static __attribute__((noinline)) void take_here(enum tr2p_clock clock, const struct tr2p_amount *amount,
						const struct place *place)
{
	struct tr2p_stack stack;

	take_by(&stack, clock, amount, place);
}

static void take(enum tr2p_clock clock, uint64_t period_ns, int64_t ticks, const struct place *place)
{
	const struct tr2p_amount amount = {
		.count = ticks, .value = ticks * (int64_t)period_ns, .period = (int64_t)period_ns, .scale = 1
	};
	struct tr2p_stack *stack;

	if (place->context && tr2p_room(place->context) == TR2P_ROOM_NONE) {
		tr2p_bucket_drop(profiles[clock]);
		return;
	}
	stack = tr2p_scratch_acquire();
	if (stack)
		take_by(stack, clock, &amount, place);
	else
		take_here(clock, &amount, place);
	tr2p_scratch_release(stack);
}

/* The wall clock says how much is due to the thread.  Return  0: this is none of its ticks */
static int take_wall_tick(const siginfo_t *info, const struct place *place)
{
	uint64_t period_ns;
	const int64_t ns = tr2p_wall_claim(info->si_value.sival_ptr, &period_ns);

	/* relaxed: as in take_tick() */
	if (ns > 0 && tr2_load_rlx(&clocks[TR2P_CLOCK_WALL].now))
		take(TR2P_CLOCK_WALL, period_ns, ns / (int64_t)period_ns, place);
	return ns >= 0;
}

/* Return  0: it is none of ours */
static int take_tick(const siginfo_t *info, const struct place *place)
{
	const struct clock *cpu = &clocks[TR2P_CLOCK_CPU];
	const struct start *start = info->si_value.sival_ptr;

	if (info->si_code != SI_TIMER)
		return 0;
	if (start < cpu->starts || start >= cpu->starts + STARTS)
		return take_wall_tick(info, place);
	/* relaxed: only compared; a tick comes from a timer that was made after the start's period */
	if (tr2_load_rlx(&cpu->now) == start)
		take(TR2P_CLOCK_CPU, tr2_load_rlx(&start->period_ns), /* relaxed: as above */
		     1 + (int64_t)(info->si_overrun > 0 ? info->si_overrun : 0), place);
	return 1;
}

static void on_tick(int signo, siginfo_t *info, void *context)
{
	int saved = errno;

	if (!take_tick(info, &(struct place){ .context = context }))
		tr2p_signal_pass_on(signo, info, context);
	errno = saved;
}

int tr2p_cpu_take_waited(const siginfo_t *info, const void *caller)
{
	return info->si_signo == SIGPROF && take_tick(info, &(struct place){ .caller = caller });
}

/* ---- starting -------------------------------------------------------------------------------------- */

void tr2p_cpu_lock(void)
{
	tr2p_mutex_lock(&lock);
}

void tr2p_cpu_unlock(void)
{
	tr2p_mutex_unlock(&lock);
}

/* The kernel looks at clocks of CPU time when it ticks: ticks of ours come at its, with a weight. */
static void warn_of_tick(enum tr2p_clock clock, unsigned hz)
{
	struct timespec tick;
	char kernel[24], wanted[24];
	long rate;

	if (!tr2p_g_is_first || clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || !tick.tv_nsec)
		return;
	rate = (1000000000 + tick.tv_nsec / 2) / tick.tv_nsec;
	if ((long)hz <= rate)
		return;
	snprintf(kernel, sizeof(kernel), "%ld", rate);
	snprintf(wanted, sizeof(wanted), "%u", hz);
	tr2p_warning("the kernel ticks at ", kernel, " Hz: of '", tr2p_profile_name(profiles[clock]), "' at ", wanted,
		     " Hz samples of who runs come in groups, as one");
}

static int start_locked(enum tr2p_clock clock, unsigned hz)
{
	struct clock *mine = &clocks[clock];
	struct start *start = &mine->starts[mine->count % STARTS];
	int error;

	if (tr2_load_rlx(&mine->now)) /* relaxed: only changed under the lock */
		return EALREADY;
	error = tr2p_signal_install(SIGPROF, on_tick);
	if (error)
		return error;
	mine->count++;
	tr2_store_rlx(&start->period_ns, UINT64_C(1000000000) / hz); /* relaxed: see take_tick() */
	tr2p_bucket_reset(profiles[clock]);
	tr2_store_rlx(&mine->now, start);   /* relaxed: see take_tick() */
	error = tr2p_timers_start(clock, UINT64_C(1000000000) / hz, start);
	if (error)
		tr2_store_rlx(&mine->now, NULL); /* relaxed: as above */
	return error;
}

static int start_clock(enum tr2p_clock clock, unsigned hz)
{
	int saved = errno, error = hz < 1 || hz > HZ_MAX ? EINVAL : tr2p_init();

	if (error)
		return error;
	tr2p_enter();
	tr2p_cpu_lock();
	error = start_locked(clock, hz);
	tr2p_cpu_unlock();
	if (!error)
		warn_of_tick(clock, hz);
	tr2p_leave();
	errno = saved;
	return error;
}

static void stop_clock(enum tr2p_clock clock)
{
	int saved = errno;

	tr2p_cpu_lock();
	if (tr2_exchange_rlx(&clocks[clock].now, NULL)) /* relaxed: ticks under way are as good as those before */
		tr2p_timers_stop(clock);
	tr2p_cpu_unlock();
	errno = saved;
}

int trace2_prof_start_cpu(unsigned hz)
{
	return start_clock(TR2P_CLOCK_CPU, hz);
}

int trace2_prof_start_wall(unsigned hz)
{
	return start_clock(TR2P_CLOCK_WALL, hz);
}

void trace2_prof_stop_cpu(void)
{
	stop_clock(TR2P_CLOCK_CPU);
}

void trace2_prof_stop_wall(void)
{
	stop_clock(TR2P_CLOCK_WALL);
}

int tr2p_cpu_is_on(enum tr2p_clock clock)
{
	return tr2_load_rlx(&clocks[clock].now) != NULL; /* relaxed: it may change at any time */
}

void tr2p_cpu_end(void)
{
	tr2p_wall_flush();
	for (unsigned i = 0; i < TR2P_CLOCKS; i++)
		tr2_store_rlx(&clocks[i].now, NULL); /* relaxed: a flag, which orders nothing */
}
