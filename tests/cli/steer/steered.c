/* SPDX-License-Identifier: MIT */
/*
 * steered.c - a program for `t2 ctl': it does what the lines of its input say, and answers each line with "ok".
 *
 *   call N         N checkpoints, with the numbers behind those so far
 *   region         enter a region "early", which stays open
 *   leave          leave it, then enter and leave "late"
 *   fork           a child does the rest of the input, once its parent has ended
 *   exec PROGRAM   become another program
 *   lock           lock itself in (seccomp(2)), so that no file can be opened
 *   threads        two more threads call all the time
 *   end            return from main()
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <trace2.h>

static long number;

static void *call_for_ever(void *data)
{
	for (;;) {
		trace2_region_enter("steer", "thread", NULL);
		trace2_region_leave("steer", "thread", NULL);
		usleep(100);
	}
	return data;
}

static void start_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, call_for_ever, NULL))
			exit(3);
}

/* Whoever opens a file is killed. */
static void lock_in(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		exit(3);
}

static void obey(char *line)
{
	if (!strncmp(line, "call ", 5))
		for (long n = atol(line + 5); n > 0; n--) {
			number++;
			trace2_data_intmax("steer", NULL, "number", number);
		}
	if (!strcmp(line, "region"))
		trace2_region_enter("steer", "early", NULL);
	if (!strcmp(line, "leave")) {
		trace2_region_leave("steer", "early", NULL);
		trace2_region_enter("steer", "late", NULL);
		trace2_region_leave("steer", "late", NULL);
	}
	if (!strcmp(line, "fork") && fork())
		_exit(0);
	if (!strncmp(line, "exec ", 5))
		execl(line + 5, line + 5, "60", (char *)NULL);
	if (!strcmp(line, "lock"))
		lock_in();
	if (!strcmp(line, "threads"))
		start_threads();
}

int main(void)
{
	char line[300];

	trace2_initialize();
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n") != 0) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
		printf("ok %ld\n", (long)getpid());
		fflush(stdout);
	}
	return 0;
}
