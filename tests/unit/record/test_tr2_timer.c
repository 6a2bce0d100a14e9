/* SPDX-License-Identifier: MIT */
/*
 * Timers and counters in a handler: wherever it interrupts a call for the same one, sums and extremes are those of the
 * intervals that there were.  The process is stopped at each instruction of the call, and gets the signal there.
 */
#include "t2test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stepper.h"
#include "trace2.h"
#include "traced.h"
#include "base/tr2_clock.h"
#include "ring/tr2_thread.h"

enum { TIMER = TRACE2_TIMER_ID_TEST1, COUNTER = TRACE2_COUNTER_ID_TEST1, MOST_STEPS = 4000 };

/* Of one stop at each instruction; shared with the process that is stepped. */
static struct told {
	int is_over;                      /* the call has returned */
	unsigned wrong;                   /* sums that are none of the intervals' */
	unsigned handled, apart;          /* calls of the handler; intervals of its own */
} *told;

static void handle(int signo)
{
	(void)signo;
	trace2_timer_start(TIMER);
	trace2_timer_stop(TIMER);
	trace2_counter_add(COUNTER, 1);
	told->handled++;
}

static void spin(uint64_t ticks)
{
	uint64_t begun = tr2_clock_raw();

	while (tr2_clock_raw() - begun < ticks)
		;
}

/* The interval outside is the longest; the handler's is another one, or within it, and not counted. */
static int is_right(const struct tr2_timer *timer, uint64_t at_least)
{
	uint64_t min = ~timer->not_min;

	if (timer->depth || timer->max < at_least || timer->intervals < 1 || timer->intervals > 2)
		return 0;
	if (timer->intervals == 1)
		return timer->total == timer->max && min == timer->max;
	return timer->total == min + timer->max;
}

static void run_stepped(void)
{
	struct sigaction action = { .sa_handler = handle };
	uint64_t longest;

	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	longest = tr2_clock_ticks(20000);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(1);
	for (;;) {
		tr2_self->timers[TIMER] = (struct tr2_timer){ .depth = 0 };
		tr2_self->counters[COUNTER] = 0;
		told->handled = 0;
		trace2_timer_start(TIMER);
		spin(longest);
		raise(SIGSTOP);
		trace2_counter_add(COUNTER, 1);
		trace2_timer_stop(TIMER);
		told->is_over = 1;
		told->apart += tr2_self->timers[TIMER].intervals == 2;
		told->wrong += !is_right(&tr2_self->timers[TIMER], longest);
		told->wrong += tr2_self->counters[COUNTER] != 1 + told->handled;
		raise(SIGSTOP);
	}
}

/* From one stop to the next, with the signal behind so many instructions.  Return  0: the call is over before */
static int interrupt_after(pid_t process, int steps)
{
	int stop = SIGTRAP;

	told->is_over = 0;
	for (int i = 0; i < steps && stop == SIGTRAP && !told->is_over; i++)
		stop = stepper_step(process, 0);
	assert_int_equal(stop, SIGTRAP);
	if (told->is_over)
		return 0;
	assert_int_equal(stepper_go_on(process, SIGUSR1), SIGSTOP);
	assert_int_equal(told->handled, 1);
	assert_int_equal(stepper_go_on(process, 0), SIGSTOP);
	return 1;
}

static void test_timer_interrupted_anywhere_keeps_its_sums(void **state)
{
	int steps = 1, status;
	pid_t process;

	(void)state;
#ifdef TR2_IS_SANITIZED
	skip();   /* they count, and step, differently */
#endif
	if (getenv("T2_EMULATED"))
		skip();   /* an emulator does not trace */
	told = traced_shared(sizeof(*told));
	traced_into(&t);
	process = fork();
	if (!process)
		run_stepped();
	assert_int_equal(waitpid(process, &status, 0), process);
	assert_true(WIFSTOPPED(status));
	while (steps < MOST_STEPS && interrupt_after(process, steps))
		steps++;
	stepper_kill(process);
	assert_true(steps > 30 && steps < MOST_STEPS);
	assert_true(told->apart > 3);
	assert_int_equal(told->wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_timer_interrupted_anywhere_keeps_its_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
