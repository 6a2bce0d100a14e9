/* SPDX-License-Identifier: MIT */
/*
 * changes.c - calls that change who a process is, in a process that records.
 *
 * glibc sends each of these calls to all threads by a signal and waits until each thread has answered.  A call that
 * does not come back ends the program by SIGALRM.
 *
 * usage: changes WHERE HOW ROUNDS
 *   WHERE  main, thread, handler: which code calls; or cancel: main, around the cancellation of a recording thread
 *   HOW    same; fork: in a forked child that has recorded; exec: behind an exec of the program itself; or drop: fork,
 *          and the child, if it is root, becomes nobody
 * Exit status 0: all calls came back and did what they are for.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trace2.h>

enum { SECONDS = 30, EVENTS = 20000, CREATED = 40, NOBODY = 65534 };

static int rounds, failed, stop;

static void expect(const char *name, int result)
{
	if (!result)
		return;
	perror(name);
	failed = 1;
}

/* Each call of the kind, as who we are: also allowed to those who are not root. */
static void change_to_same(void)
{
	const uid_t user = getuid();
	const gid_t group = getgid();
	gid_t groups[64];
	int n = getgroups(64, groups);

	trace2_region_enter("identity", "change", NULL);
	expect("setgid", setgid(group));
	expect("setegid", setegid(group));
	expect("setregid", setregid(group, group));
	expect("setresgid", setresgid(group, group, group));
	if (!user && n >= 0)
		expect("setgroups", setgroups((size_t)n, groups));
	expect("setuid", setuid(user));
	expect("seteuid", seteuid(user));
	expect("setreuid", setreuid(user, user));
	expect("setresuid", setresuid(user, user, user));
	trace2_region_leave("identity", "change", NULL);
}

static void change(void)
{
	for (int i = 0; i < rounds; i++)
		change_to_same();
}

static void become_nobody(void)
{
	if (getuid())
		return;
	expect("setgroups", setgroups(0, NULL));
	expect("setgid", setgid(NOBODY));
	expect("setuid", setuid(NOBODY));
	if (getuid() != NOBODY || geteuid() != NOBODY || getgid() != NOBODY || !setuid(0))
		failed = 1;
}

static void record(int n)
{
	for (int i = 0; i < n; i++) {
		trace2_region_enter("work", "item", NULL);
		trace2_data_intmax("work", NULL, "i", i);
		trace2_region_leave("work", "item", NULL);
	}
}

/* A thread that fills chunks is in the library's slow paths. */
static void *work(void *data)
{
	trace2_thread_start("worker");
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		record(EVENTS);
	trace2_thread_exit();
	return data;
}

static void *begin_and_wait(void *data)
{
	trace2_thread_start("late");
	record(10);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		usleep(1000);
	trace2_thread_exit();
	return data;
}

/*
 * Threads that begin meanwhile.  None of them ends before the last call: with glibc up to 2.36 at least, setuid() hangs
 * by itself when a thread ends beside it.
 */
static void *create(void *data)
{
	pthread_t threads[CREATED];
	unsigned n = 0;

	for (; n < CREATED && !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++)
		if (pthread_create(&threads[n], NULL, begin_and_wait, NULL))
			break;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		usleep(1000);
	while (n)
		pthread_join(threads[--n], NULL);
	return data;
}

static void *work_until_cancelled(void *data)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	while (!data)
		record(EVENTS);
	return data;
}

static void *run_in_thread(void *data)
{
	trace2_thread_start("changes");
	change();
	trace2_thread_exit();
	return data;
}

static void run_in_handler(int signal)
{
	(void)signal;
	change();
}

static void run(const char *where)
{
	struct sigaction action = { .sa_handler = run_in_handler };
	pthread_t thread;

	if (!strcmp(where, "thread")) {
		if (!pthread_create(&thread, NULL, run_in_thread, NULL))
			pthread_join(thread, NULL);
	} else if (!strcmp(where, "handler")) {
		sigaction(SIGUSR1, &action, NULL);
		raise(SIGUSR1);
	} else if (!strcmp(where, "cancel")) {
		for (int i = 0; i < rounds; i++) {
			if (pthread_create(&thread, NULL, work_until_cancelled, NULL))
				continue;
			change_to_same();
			pthread_cancel(thread);
			pthread_join(thread, NULL);
			change_to_same();
		}
	} else {
		change();
	}
}

static void run_beside_others(const char *where)
{
	pthread_t busy, creating;

	if (pthread_create(&busy, NULL, work, NULL) || pthread_create(&creating, NULL, create, NULL))
		exit(3);
	run(where);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(busy, NULL);
	pthread_join(creating, NULL);
}

static void run_forked(const char *where, int drops)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		alarm(SECONDS);
		trace2_cmd_mode("child");
		record(10);
		if (drops)
			become_nobody();
		run_beside_others(where);
		exit(failed);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status) {
		fprintf(stderr, "the forked child ended with 0x%x\n", (unsigned)status);
		failed = 1;
	}
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	rounds = atoi(argv[3]);
	alarm(SECONDS);
	trace2_initialize();
	trace2_cmd_start((const char **)argv);
	record(10);
	if (!strcmp(argv[2], "exec")) {
		execl(argv[0], argv[0], argv[1], "same", argv[3], (char *)NULL);
		return 3;
	}
	if (!strcmp(argv[2], "fork") || !strcmp(argv[2], "drop"))
		run_forked(argv[1], argv[2][0] == 'd');
	else
		run_beside_others(argv[1]);
	trace2_cmd_exit(failed);
	return failed;
}
