/* SPDX-License-Identifier: MIT */
/*
 * threads.c - a user's program with threads that uses all of the library at once, for tools that look for mistakes:
 * check_sanitizers.sh compiles it with sanitizers, against the library as it is.
 *
 * usage: threads ROUNDS CALLS
 *        In each round threads begin, record so often, and end, some without a word, and then a child is forked.
 *        (Not while they record: what a sanitizer itself does in such a child may wait for ever.)
 */
#include <trace2.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, LONG = 9000 };   /* bytes of a text that needs more than one chain */

static int calls;

static void handle(int signo)
{
	trace2_data_intmax("threads", NULL, "handler", signo);
	trace2_counter_add(TRACE2_COUNTER_ID_TEST2, 1);
}

/* Names that change, so that all threads look up, and add, the same ones; and literal ones. */
static void record(int i)
{
	char name[32], text[LONG];

	snprintf(name, sizeof(name), "name %d", i % 100);
	memset(text, 'x', sizeof(text));
	text[i % 50 ? i % 300 : LONG - 1] = '\0';
	trace2_timer_start(TRACE2_TIMER_ID_TEST2);
	trace2_region_enter("threads", "literal", NULL);
	trace2_region_enter("threads", name, NULL);
	trace2_region_enter_printf("threads", "message", NULL, "%s %d %f", name, i, 1.5);
	trace2_data_string("threads", NULL, "text", text);
	trace2_data_intmax("threads", NULL, name, i);
	trace2_printf("%s of %d", text, i);
	trace2_step("threads", "step");
	trace2_region_leave_printf("threads", "message", NULL, "%d", i);
	trace2_region_leave("threads", name, NULL);
	trace2_region_leave("threads", "literal", NULL);
	trace2_timer_stop(TRACE2_TIMER_ID_TEST2);
	trace2_counter_add(TRACE2_COUNTER_ID_TEST2, 1);
}

static void *work(void *number)
{
	int n = *(int *)number;

	trace2_thread_start("worker");
	for (int i = 0; i < calls; i++) {
		record(i);
		switch (i % 100 - 20 * n) {
		case 1:
			trace2_flush();
			break;
		case 2:
			trace2_next_cycle();
			break;
		case 3:
			trace2_snapshot("now");
			break;
		case 4:
			raise(SIGUSR1);
		}
	}
	if (n == 1)
		trace2_rotate();
	if (n % 2)
		trace2_thread_exit();
	return NULL;
}

static void run_child(void)
{
	trace2_printf("a child");
	trace2_flush();
	for (int i = 0; i < calls; i++)
		record(i);
	exit(0);
}

static int run_round(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS], status;
	pid_t child;

	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	child = fork();
	if (!child)
		run_child();
	return waitpid(child, &status, 0) != child || status;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handle };
	int rounds = argc == 3 ? atoi(argv[1]) : 0, failed = !rounds;

	calls = argc == 3 ? atoi(argv[2]) : 0;
	sigaction(SIGUSR1, &action, NULL);
	trace2_initialize();
	trace2_cmd_start(argv);
	trace2_cmd_name("threads");
	while (rounds-- > 0)
		failed |= run_round();
	trace2_cmd_exit(failed);
	return failed;
}
