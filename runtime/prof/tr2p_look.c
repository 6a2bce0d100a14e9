/* SPDX-License-Identifier: MIT */
/* tr2p_look.c - see tr2p_look.h. */
#include "tr2p_look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tr2p_calls.h"
#include "tr2p_create.h"
#include "tr2p_profile.h"
#include "tr2p_sample.h"
#include "tr2p_sandbox.h"
#include "tr2p_thread.h"
#include "tr2p_unload.h"
#include "base/tr2_atomic.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { UNSHARE = 2 /* CLOSE_RANGE_UNSHARE */, LINE = 256, STACK_BYTES = 256 << 10 };

static struct look {
	pthread_t thread;
	int has_thread, is_refused;           /* the system creates none: not again, in this process */
	uint32_t asked, answered;             /* as often.  Each is a futex, for the other side.  [P13] */
	struct tr2p_look *looks;
	unsigned n;                           /* 0: the thread ends */
	int tasks;                            /* its /proc/self/task; -1: no file can be read, or believed */
	pid_t asker;                          /* the thread that asks, and its stack: they prove the files right */
	uintptr_t asker_low, asker_high;
	int is_proved;
} g_look;

/* ---- a word that two threads wait for -------------------------------------------------------------- */

static void wait_while(const uint32_t *word, uint32_t value)
{
	/* [P13] acquire: what was asked, or answered.  Pairs with step_on() */
	while (tr2_load_acq(word) == value)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void step_on(uint32_t *word)
{
	tr2_add_rel(word, 1); /* [P13] release: what is asked, or answered.  Pairs with wait_while() */
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- files ----------------------------------------------------------------------------------------- */

static int open_at(int directory, const char *path, int flags)
{
	return (int)syscall(SYS_openat, directory, path, flags | O_RDONLY | O_CLOEXEC);
}

/* Kernels before 5.9: the copies of all descriptors are closed, one by one. */
static int close_copies(void)
{
	_Alignas(struct dirent64) char entries[1024];
	int fd;
	long n;

	if (syscall(SYS_unshare, CLONE_FILES))
		return 0;
	fd = open_at(AT_FDCWD, "/proc/thread-self/fd", O_DIRECTORY);
	if (fd < 0)
		return 0;
	while ((n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (long at = 0; at < n;) {
			const struct dirent64 *entry = (const struct dirent64 *)(void *)(entries + at);
			const int other = (int)strtol(entry->d_name, NULL, 10);
			if (entry->d_name[0] != '.' && other != fd)
				syscall(SYS_close, other);
			at += entry->d_reclen;
		}
	syscall(SYS_close, fd);
	return 1;
}

static int open_tasks(void)
{
	if (syscall(SYS_close_range, 0U, ~0U, UNSHARE) && !close_copies())
		return -1;
	return open_at(AT_FDCWD, "/proc/self/task", O_DIRECTORY | O_PATH);
}

/* Ended by a NUL.  Return  0: there is nothing */
static int read_file(pid_t tid, const char *name, char *to, size_t size)
{
	char path[40];
	long n = 0;
	int fd;

	snprintf(path, sizeof(path), "%d/%s", (int)tid, name);
	fd = g_look.tasks < 0 ? -1 : open_at(g_look.tasks, path, 0);
	if (fd >= 0) {
		n = syscall(SYS_read, fd, to, size - 1);
		syscall(SYS_close, fd);
	}
	to[n > 0 ? n : 0] = '\0';
	return n > 0;
}

int tr2p_look_cpu(pid_t tid, uint64_t *ns)
{
	enum { PER_THREAD = 4, SCHEDULED = 2 };
	const clockid_t clock = (clockid_t)(~(unsigned)tid << 3 | PER_THREAD | SCHEDULED);
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	*ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	return 1;
}

/* ---- looking --------------------------------------------------------------------------------------- */

/* Where the kernel has it: "running", or numbers, "NR ARGS... SP PC"; NR is -1 if it waits for a page, say. */
static void find_place(struct tr2p_look *look, uintptr_t *pc, uintptr_t *sp)
{
	char line[LINE], *last;

	look->state = TR2P_LOOK_UNKNOWN;
	if (!read_file(look->tid, "syscall", line, sizeof(line)))
		return;
	if (!strncmp(line, "running", 7)) {
		look->state = TR2P_LOOK_RUNS;
		return;
	}
	last = strrchr(line, ' ');
	if (!last)
		return;
	*pc = (uintptr_t)strtoull(last, NULL, 16);
	*last = '\0';
	last = strrchr(line, ' ');
	if (!last || !*pc)
		return;
	*sp = (uintptr_t)strtoull(last, NULL, 16);
	look->call = (int)strtol(line, NULL, 10);
	look->state = TR2P_LOOK_BLOCKED;
}

/*
 * The asking thread waits for the answer, so the files have to show it blocked, on its stack.  Under an emulator they
 * show the emulator's stacks, which are not the program's.  Return  0: it is not known yet, or will never be
 */
static int prove_files(void)
{
	enum { TRIES = 100 };
	struct tr2p_look asker = { .tid = g_look.asker };
	uintptr_t pc = 0, sp = 0;

	for (int i = 0; i < TRIES && !g_look.is_proved && g_look.tasks >= 0; i++) {
		find_place(&asker, &pc, &sp);
		if (asker.state == TR2P_LOOK_RUNS) {
			sched_yield();    /* it is about to sleep */
			continue;
		}
		g_look.is_proved = asker.state == TR2P_LOOK_BLOCKED && sp >= g_look.asker_low && sp < g_look.asker_high;
		if (!g_look.is_proved)
			g_look.tasks = -1;
	}
	return g_look.is_proved;
}

/* Return  0: the thread has run meanwhile, and what was read is anything */
static int take_stack(struct tr2p_look *look, uintptr_t pc, uintptr_t sp)
{
	static struct tr2p_stack stack;       /* of the one thread that does this */
	uint64_t cpu_ns = 0;
	int is_still;

	if (!tr2p_unload_hold())
		return 0;
	tr2p_unwind_other(&stack, pc, sp);
	tr2p_unwind_put_in_front(&stack, tr2p_calls_address(look->call));
	is_still = tr2p_look_cpu(look->tid, &cpu_ns) && cpu_ns == look->cpu_ns;
	if (is_still)
		look->bucket = tr2p_sample_bucket(TR2P_WALL, &stack, look->labels);
	tr2p_unload_release();
	return is_still;
}

/* A thread that runs for moments only, and often, may take several tries. */
static void look_at(struct tr2p_look *look)
{
	enum { TRIES = 4 };
	uintptr_t pc = 0, sp = 0;

	read_file(look->tid, "comm", look->name, sizeof(look->name));
	look->name[strcspn(look->name, "\n")] = '\0';
	for (int i = 0; i < TRIES && tr2p_look_cpu(look->tid, &look->cpu_ns); i++) {
		find_place(look, &pc, &sp);
		if (look->state != TR2P_LOOK_BLOCKED || take_stack(look, pc, sp))
			return;
		look->state = TR2P_LOOK_UNKNOWN;
	}
}

/* ---- the thread ------------------------------------------------------------------------------------ */

static void *run(void *unused)
{
	tr2p_enter();                         /* for good: nothing of this is in a profile */
	prctl(PR_SET_NAME, TR2P_LOOK_COMM);
	syscall(SYS_unshare, CLONE_FS);       /* setns(2) refuses those who share that */
	g_look.tasks = open_tasks();
	for (uint32_t seen = 0;; seen++) {
		wait_while(&g_look.asked, seen);
		if (!g_look.n)
			return unused;
		for (unsigned i = 0; prove_files() && i < g_look.n; i++)
			look_at(&g_look.looks[i]);
		step_on(&g_look.answered);
	}
}

/* A filter that is there already may not know the calls by which the thread begins. */
static int create(void)
{
	pthread_attr_t attributes;
	int error;

	if (g_look.has_thread || g_look.is_refused || tr2p_sandbox_has_filter())
		return g_look.has_thread;
	error = pthread_attr_init(&attributes);
	if (!error) {
		tr2p_thread_begin();
		g_look.asker = (pid_t)syscall(SYS_gettid);
		g_look.asker_low = tr2p_g_thread.stack_low;
		g_look.asker_high = tr2p_g_thread.stack_high;
		g_look.is_proved = 0;
		tr2_store_rlx(&g_look.asked, 0); /* relaxed: there is no other thread, nor for the next one */
		tr2_store_rlx(&g_look.answered, 0); /* relaxed: as above */
		pthread_attr_setstacksize(&attributes, STACK_BYTES);
		error = tr2p_create_own(&g_look.thread, &attributes, run, NULL);
		pthread_attr_destroy(&attributes);
	}
	g_look.has_thread = !error;
	g_look.is_refused = error != 0;
	return !error;
}

static void ask(struct tr2p_look *looks, unsigned n)
{
	g_look.looks = looks;
	g_look.n = n;
	step_on(&g_look.asked);
}

void tr2p_look_at(struct tr2p_look *looks, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		looks[i].state = TR2P_LOOK_UNKNOWN;
		looks[i].bucket = NULL;
		looks[i].name[0] = '\0';
	}
	if (!n || !create())
		return;
	ask(looks, n);
	/* relaxed: only this thread changes it */
	wait_while(&g_look.answered, tr2_load_rlx(&g_look.asked) - 1);
}

void tr2p_look_end(void)
{
	if (!g_look.has_thread)
		return;
	ask(NULL, 0);
	pthread_join(g_look.thread, NULL);
	g_look.has_thread = 0;
}

void tr2p_look_begin_child(void)
{
	g_look.has_thread = 0;
	g_look.is_refused = 0;
}
