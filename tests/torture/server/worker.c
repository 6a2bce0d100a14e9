/* SPDX-License-Identifier: MIT */
/* worker.c - a worker of the server, its helpers, and what they record. */
#include "server.h"

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace2.h"

enum {
	THREADS = 2,
	FEW = 4, MANY = 3000,     /* requests in a burst */
	RARELY = 20,              /* a calm worker serves in one of so many turns */
};
enum fate { SERVES, CRASHES, EXECS, GETS_OLD, FATES = 6 };

struct pool {
	pthread_t threads[THREADS];
	unsigned n;
};

extern char **environ;

static _Thread_local unsigned number;     /* of the slot */
static _Thread_local struct slot *self;
static volatile sig_atomic_t is_stopping, is_asked;
static volatile sig_atomic_t is_ending;   /* the trace may end at any moment, behind which nothing is recorded */
static int are_stopped;                   /* the worker's threads */

static void count_in(unsigned slot)
{
	number = slot;
	self = &shared->slot[slot];
}

void record_as(unsigned slot)
{
	count_in(slot);
	STORE(self->pid, (uint32_t)getpid());
}

static void call(enum kind kind, uint64_t n)
{
	const unsigned long long at = n;
	char text[48];

	switch (kind) {
	case NUMBER:
		trace2_data_intmax("server", NULL, "number", (intmax_t)((uint64_t)number << 32 | n));
		break;
	case HANDLED:
		trace2_data_intmax("server", NULL, "handled", (intmax_t)((uint64_t)number << 32 | n));
		break;
	case TEXT:
		snprintf(text, sizeof(text), "%u.%llu", number, at);
		trace2_data_string("server", NULL, "text", text);
		break;
	case MESSAGE:
		trace2_printf("message %u.%llu", number, at);
		break;
	case ENTER:
		trace2_region_enter_printf("server", "region", NULL, "%u.%llu", number, at);
		break;
	default:
		trace2_region_leave_printf("server", "region", NULL, "%u.%llu", number, at);
	}
}

void record(enum kind kind)
{
	uint64_t n = LOAD(self->begun[kind]);

	STORE(self->begun[kind], n + 1);
	call(kind, n);
	if (!is_ending)
		STORE(self->returned[kind], LOAD(self->returned[kind]) + 1);
}

static void serve_request(void)
{
	for (enum kind kind = NUMBER; kind < HANDLED; kind++)
		record(kind == NUMBER ? ENTER : kind == ENTER ? NUMBER : kind);
}

static uint64_t count_all(void)
{
	uint64_t n = 0;

	for (int kind = 0; kind < KINDS; kind++)
		n += LOAD(self->begun[kind]);
	return n;
}

/* ---- helpers ------------------------------------------------------------------------------------- */

void become(const char *role, unsigned slot)
{
	char text[16];
	const char *argv[] = { program, role, text, NULL };

	snprintf(text, sizeof(text), "%u", slot);
	/* Without this call, unwritten events would remain in the ring file. */
	if (random_below(2))
		trace2_exec(program, argv);
	execv(program, (char *const *)(uintptr_t)argv);
}

_Noreturn void be_helper(unsigned slot)
{
	record_as(slot);
	trace2_initialize();
	for (int i = 0; i < FEW; i++)
		serve_request();
	exit(EXIT_HELPER);
}

static pid_t spawn_helper(unsigned slot)
{
	char text[16], role[] = "helper", name[] = "server";
	char *argv[] = { name, role, text, NULL };
	pid_t pid = -1;

	snprintf(text, sizeof(text), "%u", slot);
	slot_may_end(&shared->slot[slot], EXIT_HELPER << 8);
	return posix_spawn(&pid, program, NULL, NULL, argv, environ) ? -1 : pid;
}

/* Fork a child that records.  Some of them become a helper then. */
static pid_t fork_helper(unsigned slot, int execs)
{
	pid_t pid;

	slot_may_end(&shared->slot[slot], (execs ? EXIT_HELPER : EXIT_CHILD) << 8);
	pid = fork();
	if (pid)
		return pid;
	record_as(slot);
	serve_request();
	if (execs)
		become("helper", slot);
	_exit(EXIT_CHILD);
}

static void run_helper(void)
{
	unsigned slot = slot_acquire(), how = random_below(3);
	int status = 0;
	pid_t pid;

	if (slot == MOST_SLOTS)
		return;
	pid = how ? fork_helper(slot, how == 1) : spawn_helper(slot);
	if (pid > 0)
		STORE(shared->slot[slot].pid, (uint32_t)pid);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		;
	if (pid > 0)
		slot_end(pid, status);
	else
		__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
}

/* ---- the worker ---------------------------------------------------------------------------------- */

static void note(int signo)
{
	record(HANDLED);
	if (signo == SIGQUIT)
		is_stopping = 1;
	else
		is_asked = 1;
}

static void end_fast(int signo)
{
	(void)signo;
	record(HANDLED);
	_exit(EXIT_TERM);
}

static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART };

	sigfillset(&action.sa_mask);
	sigaction(SIGQUIT, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = number % 2 ? SIG_DFL : end_fast;
	sigaction(SIGTERM, &action, NULL);
	action.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
}

static void open_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* These are called even without the privilege to change users: the C library makes each thread do the same. */
static void change_user(void)
{
	int is_root = !geteuid();

	if ((is_root && setgroups(0, NULL)) || setgid(is_root ? NOBODY : getgid()) ||
	    setuid(is_root ? NOBODY : getuid()))
		__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
}

static int open_log(void)
{
	return open("access.log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

/* Open the server's own log again, as after its rotation. */
static int reopen_log(int log)
{
	is_asked = 0;
	close(log);
	log = open_log();
	if (log < 0 || write(log, "again\n", 6) != 6)
		__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
	return log;
}

/* ---- threads of a worker ----------------------------------------------------------------------- */

static sigset_t mask_of_threads;

/* Its signals are blocked until a handler finds its slot. */
static void *run_thread(void *slot)
{
	count_in((unsigned)(uintptr_t)slot);
	pthread_sigmask(SIG_SETMASK, &mask_of_threads, NULL);
	trace2_thread_start("pool");
	for (; !LOAD(are_stopped); pause_ms(2))
		for (unsigned i = LOAD(shared->idle) % 2 ? 0 : FEW; i > 0; i--)
			serve_request();
	trace2_thread_exit();
	return NULL;
}

/* One worker in four has threads.  Each thread counts in a slot of its own. */
static void start_threads(struct pool *pool)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask_of_threads);
	for (; number % 4 == 3 && pool->n < THREADS; pool->n++) {
		unsigned slot = slot_acquire();
		if (slot == MOST_SLOTS ||
		    pthread_create(&pool->threads[pool->n], NULL, run_thread, (void *)(uintptr_t)slot))
			break;
	}
	pthread_sigmask(SIG_SETMASK, &mask_of_threads, NULL);
}

/* Called before the trace ends, because calls behind its end record nothing. */
static void stop_threads(struct pool *pool)
{
	STORE(are_stopped, 1);
	for (; pool->n; pool->n--)
		pthread_join(pool->threads[pool->n - 1], NULL);
}

/* ---- its work ------------------------------------------------------------------------------------ */

/* What it recorded before is meanwhile out of its ring, so that no settings make it drop the mark. */
static void be_idle(uint32_t request)
{
	pause_ms(50);
	record(NUMBER);
	STORE(self->mark, LOAD(self->begun[NUMBER]) - 1);
	__atomic_store_n(&self->idles, request, __ATOMIC_RELEASE);
	while (LOAD(shared->idle) == request && !is_stopping && getppid() == (pid_t)LOAD(shared->master))
		pause_ms(5);
}

static void meet(enum fate fate, struct pool *pool)
{
	volatile int *volatile nowhere = NULL;

	if (fate == CRASHES)
		*nowhere = 0;
	if (fate == GETS_OLD) {
		stop_threads(pool);
		is_ending = 1;
		trace2_cmd_exit(EXIT_OLD);
		exit(EXIT_OLD);
	}
	block_signals();
	become("helper", number);
	_exit(1);
}

/* One worker in three is calm: it never fills a part of its ring, nor does it fork. */
static int is_calm(void)
{
	return number % WORKERS == 0;
}

static void serve_burst(void)
{
	unsigned n = is_calm() ? !random_below(RARELY) : random_below(200) ? FEW : MANY;

	while (n-- > 0 && !is_stopping)
		serve_request();
}

static void work(enum fate fate, struct pool *pool)
{
	unsigned life = 30 + random_below(200);
	int log = open_log();

	for (uint32_t idle; !is_stopping; pause_ms(2)) {
		if (getppid() != (pid_t)LOAD(shared->master)) {
			/* where libtrace2-prof is, the trace ends before the threads do, which go on recording */
			is_ending = 1;
			_exit(EXIT_ORPHAN);
		}
		if (is_asked)
			log = reopen_log(log);
		idle = LOAD(shared->idle);
		if (idle % 2 && self->idles != idle)
			be_idle(idle);
		serve_burst();
		if (!is_calm() && !random_below(150))
			run_helper();
		if (fate != SERVES && fate <= GETS_OLD && !--life)
			meet(fate, pool);
	}
	close(log);
}

/* Half of the workers unblock their signals before they change their user. */
_Noreturn void be_worker(unsigned slot)
{
	static const int ends[] = { [CRASHES] = SIGSEGV, [EXECS] = EXIT_HELPER << 8, [GETS_OLD] = EXIT_OLD << 8 };
	struct pool pool = { .n = 0 };
	enum fate fate;

	record_as(slot);
	fate = (enum fate)random_below(FATES);
	if (fate != SERVES && fate <= GETS_OLD)
		slot_may_end(self, ends[fate]);
	serve_request();
	handle_signals();
	if (slot / 2 % 2) {
		open_signals();
		record(TEXT);
	}
	start_threads(&pool);
	change_user();
	serve_request();
	open_signals();
	record(NUMBER);
	__atomic_store_n(&self->is_working, 1, __ATOMIC_RELEASE);
	work(fate, &pool);
	stop_threads(&pool);
	serve_request();
	is_ending = 1;
	if (count_all() % 2)
		exit(0);
	trace2_finish();
	_exit(0);
}
