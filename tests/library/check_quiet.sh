#!/bin/bash
# SPDX-License-Identifier: MIT
# The wall clock of libtrace2-prof, 1000 ticks a second, in front of a program that waits: no tick ends a wait, neither
# by EINTR nor too early; a handler of the program's does; and threads that wait are sampled, also those that do so
# when the program ends.  Ends with "N passed, N failed".
set -u
export LC_ALL=C

. "$(dirname "$0")/../common.sh"
need_profiler
need "64 bits" [ "$(getconf LONG_BIT)" -eq 64 ]
cd "$tmp" || exit 1

cat >waits.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000 };
static const struct timespec wait_for = { .tv_nsec = 150 * MS }, forever = { .tv_sec = 100 };
static int ends[2], queue, semaphores, waiting;
static struct timespec begun;

static void begin(void)
{
	errno = 0;
	clock_gettime(CLOCK_MONOTONIC, &begun);
}

/* What a call returned, and whether it was too early for that. */
static void end(const char *name, long result)
{
	int error = errno;
	struct timespec now;
	long long ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (now.tv_sec - begun.tv_sec) * 1000000000LL + now.tv_nsec - begun.tv_nsec;
	printf("%s: %ld, %s%s\n", name, result, result < 0 ? strerror(error) : "", ns < 149 * MS ? ", early" : "");
}

#define TRY(name, call) begin(), end(name, call)

/* Overwritten by the next call. */
static const struct timespec *in(clockid_t clock)
{
	static struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += wait_for.tv_nsec;
	time.tv_sec += time.tv_nsec / (1000 * MS);
	time.tv_nsec %= 1000 * MS;
	return &time;
}

static void note(int signo)
{
	(void)signo;
}

static void alarm_soon(void)
{
	/* Again and again: the first one may come too soon */
	const struct itimerval timer = { .it_value.tv_usec = 250000, .it_interval.tv_usec = 250000 };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void *wait_here(void *data)
{
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };

	poll(&fd, 1, -1);
	return data;
}

static void *wake(void *data)
{
	nanosleep(&wait_for, NULL);
	return write(ends[1], "x", 1) == 1 ? data : NULL;
}

__attribute__((noinline)) static void with_timeout(void)
{
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };
	struct timeval tv = { .tv_usec = 150000 };
	struct epoll_event event = { .events = EPOLLIN };
	struct timespec rest = { 0, 0 };
	int epoll = epoll_create1(0);
	sem_t sem;
	sigset_t mask, set;
	fd_set fds;

	sigemptyset(&mask);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
	sem_init(&sem, 0, 0);
	TRY("poll", poll(&fd, 1, 150));
	printf("poll at once: %d\n", poll(&fd, 1, 0));
	TRY("ppoll", ppoll(&fd, 1, &wait_for, &mask));
	TRY("ppoll, wrong time", ppoll(&fd, 1, &(struct timespec){ 0, -1 }, NULL) && !usleep(150000));
	TRY("epoll_wait", epoll_wait(epoll, &event, 1, 150));
	TRY("epoll_pwait", epoll_pwait(epoll, &event, 1, 150, &mask));
	FD_ZERO(&fds);
	FD_SET(ends[0], &fds);
	TRY("select", select(ends[0] + 1, &fds, NULL, NULL, &tv));
	printf("left %ld.%ld, set %d\n", (long)tv.tv_sec, (long)tv.tv_usec, FD_ISSET(ends[0], &fds) != 0);
	FD_SET(ends[0], &fds);
	TRY("pselect", pselect(ends[0] + 1, &fds, NULL, NULL, &wait_for, &mask));
	TRY("nanosleep", nanosleep(&wait_for, &rest));
	TRY("usleep", usleep(150000));
	TRY("sleep", sleep(1));
	TRY("thrd_sleep", thrd_sleep(&wait_for, NULL));
	TRY("clock_nanosleep", clock_nanosleep(CLOCK_REALTIME, 0, &wait_for, &rest));
	TRY("clock_nanosleep, absolute", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, in(CLOCK_MONOTONIC), NULL));
	TRY("sem_timedwait", sem_timedwait(&sem, in(CLOCK_REALTIME)));
	TRY("sigtimedwait", sigtimedwait(&set, NULL, &wait_for));
	TRY("semtimedop", semtimedop(semaphores, &(struct sembuf){ .sem_op = -1 }, 1, &wait_for));
	TRY("poll of nothing", poll(NULL, 0, 150));
}

/* Not how early: who knows when the signal came. */
#define INTERRUPT(name, call) begin(), begun.tv_sec -= 10, end(name, call)

__attribute__((noinline)) static void interrupted(void)
{
	struct { long type; char text[8]; } message;
	struct epoll_event event;
	struct timeval tv = { .tv_sec = 100 };
	struct timespec rest = { 0, 0 };
	sigset_t mask;

	sigemptyset(&mask);
	alarm_soon();
	INTERRUPT("pause", pause());
	INTERRUPT("sigsuspend", sigsuspend(&mask));
	INTERRUPT("poll, handler", poll(NULL, 0, -1));
	INTERRUPT("epoll_wait, handler", epoll_wait(epoll_create1(0), &event, 1, 100000));
	INTERRUPT("select, handler", select(0, NULL, NULL, NULL, &tv));
	printf("left %d\n", tv.tv_sec > 50);
	INTERRUPT("nanosleep, handler", nanosleep(&forever, &rest));
	printf("left %d\n", rest.tv_sec > 50);
	INTERRUPT("sleep, handler", sleep(100) > 50);
	INTERRUPT("msgrcv, handler", msgrcv(queue, &message, sizeof(message.text), 0, 0));
	INTERRUPT("semop, handler", semop(semaphores, &(struct sembuf){ .sem_op = -1 }, 1));
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_sec = 0 }, NULL);
}

int main(void)
{
	struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART };
	struct pollfd fd;
	pthread_t thread;

	sigaction(SIGALRM, &action, NULL);
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	if (pipe(ends) || pthread_create(&thread, NULL, wait_here, NULL))
		return 1;
	with_timeout();
	interrupted();
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	if (pipe(ends))
		return 1;
	fd = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	begin();   /* before the thread does, however late this one gets its processor back */
	if (pthread_create(&thread, NULL, wake, NULL))
		return 1;
	end("poll, woken", poll(&fd, 1, 100000));
	return 0;
}
END
quiet "compile" ${CC:-cc} -w -O1 -pthread -D_FORTIFY_SOURCE=2 -o waits waits.c
./waits >one 2>&1
TRACE2_PROF=wall=1khz,block=1us TRACE2_RAW=$tmp/run.tlg LD_PRELOAD=$library ./waits >two 2>&1
check "each call has returned" [ "$(wc -l <one)" -ge 31 ]
none "ticks end no wait" "$(diff one two)"
none "nothing is early" "$(grep early two)"
# The thread that has waited all the time, 4 seconds and more, and main, which has waited in all that it called
"$out/t2expand" --format=folded --profile=wall run.tlg >stacks
for function in wait_here interrupted with_timeout; do
	check "samples of $function" awk -v f=";$function;" 'index($0, f) { n += $NF } END { exit !(n > 1e9) }' stacks
done
total
