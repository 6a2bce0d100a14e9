/* SPDX-License-Identifier: MIT */
/*
 * tr2p_stacks.c - a signal to each thread, and a place for each to put its stack.
 *
 * The asking thread marks a place as wanted.  Then one of two acquires it by compare and swap.  The handler fills it
 * and marks it as done.  Or the asking thread has waited for long enough; a handler that comes later leaves the place
 * alone.  For that reason places are never reused, and each round of questions has a number.  A debugger may stop a
 * thread in the handler: the asking thread does not wait for it, and later rounds skip its place.
 *
 * The asking thread writes tid, question, name and has_stack of a place, and the handler writes all else.  The asking
 * thread reads the latter only of places that have a stack.
 */
#include "tr2p_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/tr2_atomic.h"
#include "tr2p_ask.h"
#include "tr2p_bucket.h"
#include "tr2p_room.h"
#include "tr2p_sample.h"
#include "tr2p_mutex.h"
#include "tr2p_tasks.h"
#include "tr2p_thread.h"

enum { PLACES = 4096, ROUNDS = 1 << 18, WAIT_MS = 2000, PAUSE_NS = 200000 };
enum { WANTED, TAKING, DONE, GONE, STATES };          /* a state is round * STATES + one of these */

static struct stacks {
	struct tr2p_mutex lock;
	struct tr2p_stacks_thread *places;    /* from malloc(), once.  [P6] */
	unsigned n;
	uint32_t round, question;
	pid_t pid;
} g_stacks = { .lock = TR2P_MUTEX_INIT };

void tr2p_stacks_lock(void)
{
	tr2p_mutex_lock(&g_stacks.lock);
}

void tr2p_stacks_unlock(void)
{
	tr2p_mutex_unlock(&g_stacks.lock);
}

/* ---- in each thread -------------------------------------------------------------------------------- */

static uint64_t read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/*
 * What the calling thread waits for.  A handler's longjmp() may have left a wait; what is on the stack in its place
 * is no kind of wait, most likely.
 */
static void note_wait(struct tr2p_stacks_thread *place)
{
	const struct tr2p_wait *wait = tr2p_g_thread.wait;

	place->is_waiting = wait && (unsigned)wait->kind <= TR2P_WAIT_SEM;
	if (!place->is_waiting)
		return;
	place->wait_kind = wait->kind;
	place->wait_object = wait->object;
	place->wait_ns = read_clock() - wait->start_ns;
}

static void fill(struct tr2p_stacks_thread *place)
{
	const struct tr2p_amount one = { .count = 1, .value = place->question, .period = 1, .scale = 1 };

	place->labels = tr2p_g_thread.labels;
	note_wait(place);
	tr2p_sample(TR2P_THREADS, &place->stack, &one);
}

/* The place that this thread is to fill; NULL: it is not asked. */
static struct tr2p_stacks_thread *find_place(uint32_t what)
{
	uint32_t round = what / PLACES;
	struct tr2p_stacks_thread *places = tr2_load_acq(&g_stacks.places), *place; /* [P6] acquire: the places */

	if (!places || !round || round >= ROUNDS)
		return NULL;
	place = places + what % PLACES;
	/* [P8] acquire: whose the place is.  Pairs with ask() */
	if (tr2_load_acq(&place->state) != round * STATES + WANTED)
		return NULL;
	/* relaxed: ordered by the load above; if it changes meanwhile, so does the state */
	return tr2_load_rlx(&place->tid) == (pid_t)syscall(SYS_gettid) ? place : NULL;
}

void tr2p_stacks_answer(uint32_t what, const void *context, const void *caller)
{
	const int has_room = !context || tr2p_room(context) != TR2P_ROOM_NONE;
	uint32_t round = what / PLACES;
	struct tr2p_stacks_thread *place = find_place(what);

	/* [P8] acquire: the place is ready.  Pairs with ask() */
	if (!place ||
	    !tr2_cas_acq_rel(&place->state, round * STATES + WANTED, round * STATES + (has_room ? TAKING : GONE)))
		return;
	if (!has_room)
		return;
	tr2p_enter();
	tr2p_unwind_either(&place->stack, context, caller);
	fill(place);
	tr2p_leave();
	/* [P9] release: the stack.  Pairs with is_over() */
	tr2_store_rel(&place->state, round * STATES + DONE);
}

/* ---- asking ---------------------------------------------------------------------------------------- */

/* Return  0: the thread has ended */
static int ask(unsigned i)
{
	struct tr2p_stacks_thread *place = &g_stacks.places[i];
	int cannot_answer = tr2p_ask_cannot_answer(place->tid), error;

	/* [P8] release: the place.  Pairs with find_place() */
	tr2_store_rel(&place->state, g_stacks.round * STATES + (cannot_answer ? GONE : WANTED));
	if (cannot_answer)
		return 1;
	/* EAGAIN: more signals are pending than the process may have; it is not asked, and does not answer */
	error = tr2p_ask(g_stacks.pid, place->tid, g_stacks.round * PLACES + i);
	return !error || error == EAGAIN;
}

/* relaxed: a handler that reads it has seen the state that belongs to it, or is turned away by the next one */
static void set_owner(struct tr2p_stacks_thread *place, pid_t tid)
{
	tr2_store_rlx(&place->tid, tid); /* relaxed: as above */
}

/*
 * 1: it is filled, or nobody's any more, or this is late.  A thread that ends does not answer; it is among the
 * process's for a moment after it was joined.
 */
static int is_over(struct tr2p_stacks_thread *place, int is_late)
{
	uint32_t base = g_stacks.round * STATES, state = tr2_load_acq(&place->state); /* [P9] acquire: the stack */
	int has_ended = state == base + WANTED && syscall(SYS_tgkill, getpid(), place->tid, 0);

	if (state == base + WANTED && (has_ended || is_late)) {
		if (!tr2_cas_acq_rel(&place->state, base + WANTED, base + GONE)) /* [P9] acquire: as above */
			return 0;
		if (has_ended)
			set_owner(place, 0);
		return 1;
	}
	place->has_stack = state == base + DONE;
	return state != base + WANTED && (state != base + TAKING || is_late);
}

static void wait_for_all(void)
{
	const struct timespec pause = { 0, PAUSE_NS };
	uint64_t end = read_clock() + (uint64_t)WAIT_MS * 1000000;

	for (unsigned i = 1; i < g_stacks.n; i++)
		while (g_stacks.places[i].tid && !is_over(&g_stacks.places[i], read_clock() >= end))
			nanosleep(&pause, NULL);
}

/* A handler of an earlier round is still in it. */
static int is_stuck(const struct tr2p_stacks_thread *place)
{
	return tr2_load_acq(&place->state) % STATES == TAKING; /* [P9] acquire: what the handler did */
}

/* The next place, for this thread.  Return  0: there are no more */
static int begin_place(pid_t tid)
{
	struct tr2p_stacks_thread *place = &g_stacks.places[g_stacks.n];

	for (; g_stacks.n < PLACES && is_stuck(place); place = &g_stacks.places[++g_stacks.n])
		set_owner(place, 0);
	if (g_stacks.n == PLACES)
		return 0;
	place->has_stack = 0;
	set_owner(place, tid);
	place->question = g_stacks.question;
	tr2p_tasks_name(tid, place->name, sizeof(place->name));
	return 1;
}

/* All but the caller.  data  its id */
static int ask_next(pid_t tid, void *data)
{
	if (tid == *(const pid_t *)data)
		return 0;
	if (!begin_place(tid))
		return ENOSPC;
	g_stacks.n += (unsigned)ask(g_stacks.n);
	return 0;
}

/* Samples of those that have not answered, that the profile counts all. */
static void count_silent(void)
{
	const struct tr2p_amount one = { .count = 1, .value = g_stacks.question, .period = 1, .scale = 1 };
	const struct tr2p_stack nowhere = { 0 };

	for (unsigned i = 0; i < g_stacks.n; i++)
		if (g_stacks.places[i].tid && !g_stacks.places[i].has_stack)
			tr2p_sample(TR2P_THREADS, &nowhere, &one);
}

static int make_places(void)
{
	struct tr2p_stacks_thread *places;

	if (g_stacks.places)
		return 0;
	places = calloc(PLACES, sizeof(*places));
	tr2_store_rel(&g_stacks.places, places); /* [P6] release: the places.  Pairs with find_place() */
	return places ? 0 : ENOMEM;
}

/* noinline: the stack begins with its caller. */
__attribute__((noinline)) int tr2p_stacks_take(const struct tr2p_stacks_thread **threads, unsigned *n)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	int error = make_places();

	if (!error)
		error = tr2p_ask_init();
	if (error)
		return error;
	tr2p_bucket_reset(TR2P_THREADS);
	g_stacks.question = tr2p_ask_begin();
	g_stacks.round = g_stacks.round % (ROUNDS - 1) + 1;
	g_stacks.n = 0;
	g_stacks.pid = getpid();
	begin_place(self);   /* the first: nobody but callers has had it */
	tr2p_unwind(&g_stacks.places[0].stack, 0);
	fill(&g_stacks.places[0]);
	g_stacks.places[0].has_stack = 1;
	g_stacks.n = 1;
	error = tr2p_tasks_each(ask_next, &self);
	wait_for_all();
	count_silent();
	*threads = g_stacks.places;
	*n = g_stacks.n;
	return error == ENOSPC ? 0 : error;   /* so many are shown */
}
