/* SPDX-License-Identifier: MIT */
/* tr2p_seen.c - a table of threads, by numbers; a tick's cookie has such a number. */
#include "tr2p_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tr2p_bucket.h"
#include "tr2p_calls.h"
#include "tr2p_profile.h"
#include "tr2p_rename.h"
#include "tr2p_sample.h"
#include "tr2p_thread.h"
#include "tr2p_wall.h"
#include "base/tr2_atomic.h"
#include "record/tr2_sample.h"

/* A program may bring along an older libtrace2, without this: it shall start nevertheless. */
#pragma weak tr2_sample_tell_v1

enum { CHUNK = 64, CHUNKS = 1024, UNTICKED_PERIODS = 10 };
static const uint64_t SLICE_NS = 100000000, UNTICKED_NS = 250000000;

/* A thread of the program.  Memory is never given back: a tick that comes late may look at it. */
struct seen {
	pid_t tid;                            /* 0: nobody's.  Handlers look at it */
	int reports;                          /* it reports its name and its end: what is in reported is up to date */
	int is_on;                            /* it is looked at */
	int has_timer;
	timer_t timer;                        /* of its ticks */
	struct tr2p_wall_reported reported;
	uint64_t due_ns;                      /* it has run for so long, and has taken no sample of that ... */
	uint64_t due_cpu_ns;                  /* ... since it had used this CPU time */
	uint64_t looked_ns;                   /* when it was looked at last, or began */
	uint64_t cpu_ns;                      /* CPU time that it had used then */
	uint64_t missing_ns;                  /* for which the look that is under way stands; else 0 */
	struct tr2p_bucket *wait;             /* it has been blocked here since then; or NULL ... */
	int is_known;                         /* ... and this is its stack */
	uint32_t renames;                     /* there had been so many when its name was read last */
	uint64_t waited_ns;                   /* that are not in a sample yet */
	char name[TR2P_LOOK_NAME];
};

static struct table {
	uint64_t period_ns;
	unsigned used;                        /* no thread is behind that */
	struct seen *chunks[CHUNKS];          /* grow only, handlers look at them.  [P14] */
} g_table;

/* Addresses that are cookies: that of number i means thread i. */
static char g_cookies[CHUNK * CHUNKS];

/* Names in the profile, where no stack is known. */
static __attribute__((noinline, used)) void blocked_somewhere(void)
{
	__asm__ volatile("");
}

/* It has run, but in the kernel, with SIGPROF blocked, or not up to the kernel's next tick. */
static __attribute__((noinline, used)) void running_without_ticks(void)
{
	__asm__ volatile("");
}

/* ---- the table ------------------------------------------------------------------------------------- */

static struct seen *at(unsigned i)
{
	/* [P14] acquire: a chunk that is all zero.  Pairs with add_chunk() */
	struct seen *chunk = tr2_load_acq(&g_table.chunks[i / CHUNK]);

	return chunk ? &chunk[i % CHUNK] : NULL;
}

static int add_chunk(unsigned i)
{
	struct seen *chunk = calloc(CHUNK, sizeof(*chunk));

	tr2_store_rel(&g_table.chunks[i / CHUNK], chunk); /* [P14] release: zeros.  Pairs with at() */
	return chunk != NULL;
}

static pid_t tid_of(const struct seen *seen)
{
	return tr2_load_rlx(&seen->tid); /* relaxed: a number by itself, compared with the caller's own */
}

/* Return  the number of the thread, or of a free place for it; CHUNK * CHUNKS: there is none */
static unsigned find_number(pid_t tid)
{
	unsigned spare = g_table.used;

	for (unsigned i = 0; i < g_table.used; i++) {
		if (tid_of(at(i)) == tid)
			return i;
		if (!tid_of(at(i)) && spare == g_table.used)
			spare = i;
	}
	return spare == CHUNK * CHUNKS || at(spare) || add_chunk(spare) ? spare : CHUNK * CHUNKS;
}

static void occupy(unsigned i, pid_t tid)
{
	struct seen *seen = at(i);

	if (tid_of(seen) == tid)
		return;
	seen->is_on = seen->has_timer = seen->reports = 0;
	tr2_store_rlx(&seen->reported.labels, NULL); /* relaxed: as in tr2p_wall_report_labels() */
	tr2_reported_set(&seen->reported.traced, 0, "");
	tr2_store_rlx(&seen->due_ns, 0); /* relaxed: the thread has no ticks yet */
	tr2_store_rlx(&seen->tid, tid); /* relaxed: as in tid_of() */
	g_table.used = i < g_table.used ? g_table.used : i + 1;
}

static void vacate(struct seen *seen)
{
	tr2_store_rlx(&seen->tid, 0); /* relaxed: as in tid_of() */
	while (g_table.used && !tid_of(at(g_table.used - 1)))
		g_table.used--;
}

/* Return  NULL: that is none, or there is no such thread */
static struct seen *find(const void *cookie)
{
	const uintptr_t i = (uintptr_t)cookie - (uintptr_t)g_cookies;

	return i < sizeof(g_cookies) ? at((unsigned)i) : NULL;
}

int tr2p_seen_any(void)
{
	return g_table.used != 0;
}

void tr2p_seen_set_period(uint64_t period_ns)
{
	g_table.period_ns = period_ns;
}

/* ---- what a thread reports ------------------------------------------------------------------------- */

static void report(struct tr2_reported *to)
{
	if (tr2_sample_tell_v1)
		tr2_sample_tell_v1(to);
}

/* It may be the copy of who forked, or one whose id an earlier one had that nobody has seen end. */
void tr2p_wall_begin_thread(void)
{
	const pid_t tid = (pid_t)syscall(SYS_gettid);
	const unsigned i = find_number(tid);
	struct seen *seen;

	if (i == CHUNK * CHUNKS)
		return;
	seen = at(i);
	if (tid_of(seen) == tid)
		vacate(seen);
	occupy(i, tid);
	seen->reports = 1;
	tr2p_g_thread.reported = &seen->reported;
	tr2p_wall_report_labels();
	report(&seen->reported.traced);
}

void tr2p_wall_end_thread(void)
{
	const unsigned i = find_number((pid_t)syscall(SYS_gettid));

	report(NULL);
	tr2p_g_thread.reported = NULL;
	if (i < g_table.used && tid_of(at(i)))
		vacate(at(i));
}

void tr2p_seen_begin_child(void)
{
	for (unsigned i = 0; i < g_table.used; i++)
		tr2_store_rlx(&at(i)->tid, 0); /* relaxed: there is no other thread */
	g_table.used = 0;
	tr2p_wall_begin_thread();
}

int64_t tr2p_seen_claim(const void *cookie, int is_on)
{
	struct seen *seen = find(cookie);

	if (!seen)
		return (uintptr_t)cookie - (uintptr_t)g_cookies < sizeof(g_cookies) ? 0 : -1;
	if (!is_on || tid_of(seen) != (pid_t)syscall(SYS_gettid))
		return 0;
	if (tr2p_g_thread.reported != &seen->reported) {
		/* The thread began before we looked: so it reports now */
		/* relaxed: as in tr2p_wall_report_labels() */
		tr2_store_rlx(&seen->reported.labels, tr2p_g_thread.labels);
		report(&seen->reported.traced);
		report(NULL);
	} else if (!tr2_load_rlx(&seen->reported.traced.tid)) { /* relaxed: a number by itself */
		report(&seen->reported.traced);
	}
	return (int64_t)tr2_exchange_rlx(&seen->due_ns, 0); /* relaxed: a number by itself */
}

/* ---- samples --------------------------------------------------------------------------------------- */

static const struct trace2_labels *labels_of(const struct seen *seen)
{
	return tr2_load_rlx(&seen->reported.labels); /* relaxed: as in tr2p_wall_report_labels() */
}

/*
 * A thread that has not reported gets an id that no thread of the trace has.  One without a name in the trace gets the
 * system's name.
 */
static struct tr2p_other other_of(struct seen *seen)
{
	const uint32_t reported = tr2_load_rlx(&seen->reported.traced.tid); /* relaxed: a number by itself */
	struct tr2p_other other = { .tid = reported ? reported - 1 : UINT32_C(1) << 31 | (uint32_t)tid_of(seen) };

	if ((!reported || !tr2_reported_name(&seen->reported.traced, other.name) || !*other.name) && other.tid)
		snprintf(other.name, sizeof(other.name), "th%02lu:%.16s", (unsigned long)other.tid,
			 *seen->name ? seen->name : "unknown");
	return other;
}

static void take(struct seen *seen, struct tr2p_bucket *bucket, uint64_t ns)
{
	const int64_t period = (int64_t)g_table.period_ns;
	const struct tr2p_amount amount = {
		.count = (int64_t)ns / period, .value = (int64_t)ns, .period = period, .scale = 1
	};

	struct tr2p_other other;

	if (!bucket || !ns)
		return;
	other = other_of(seen);
	tr2p_sample_of_other(bucket, &amount, &other);
}

static struct tr2p_bucket *bucket_of(const struct seen *seen, void (*name)(void), int is_off_cpu)
{
	struct tr2p_stack stack = { .n = 1, .at = { (uintptr_t)name } };

	if (is_off_cpu)
		tr2p_unwind_put_in_front(&stack, tr2p_calls_address(-1));
	return tr2p_sample_bucket(TR2P_WALL, &stack, labels_of(seen));
}

/* The wait is in the profile up to now. */
static void flush_wait(struct seen *seen)
{
	take(seen, seen->wait, seen->waited_ns);
	seen->waited_ns = 0;
}

/* So is what it was to take a sample of, and did not. */
static void flush_due(struct seen *seen)
{
	const uint64_t ns = tr2_exchange_rlx(&seen->due_ns, 0); /* relaxed: a number by itself */

	if (ns)
		take(seen, bucket_of(seen, running_without_ticks, 0), ns);
}

static void flush(struct seen *seen)
{
	if (!seen->is_on || !g_table.period_ns)
		return;
	tr2_add_rlx(&seen->due_ns, seen->missing_ns); /* relaxed: a number by itself */
	seen->missing_ns = 0;
	flush_wait(seen);
	flush_due(seen);
}

void tr2p_seen_flush(void)
{
	for (unsigned i = 0; i < g_table.used; i++)
		if (tid_of(at(i)))
			flush(at(i));
}

/* ---- threads to look at ---------------------------------------------------------------------------- */

void *tr2p_seen_add(pid_t tid, uint64_t now_ns)
{
	const unsigned i = find_number(tid);
	struct seen *seen;

	if (i == CHUNK * CHUNKS)
		return NULL;
	occupy(i, tid);
	seen = at(i);
	seen->is_on = 1;
	seen->has_timer = 0;
	seen->looked_ns = now_ns;
	seen->cpu_ns = 0;
	seen->wait = NULL;
	seen->is_known = 0;
	seen->waited_ns = 0;
	seen->missing_ns = 0;
	seen->name[0] = '\0';
	tr2_store_rlx(&seen->due_ns, 0); /* relaxed: as in occupy() */
	return &g_cookies[i];
}

void tr2p_wall_set_timer(void *cookie, timer_t timer)
{
	struct seen *seen = find(cookie);

	seen->timer = timer;
	seen->has_timer = 1;
}

void tr2p_wall_remove(void *cookie)
{
	struct seen *seen = find(cookie);

	if (!seen || !tid_of(seen))
		return;
	flush(seen);
	seen->is_on = 0;
	seen->has_timer = 0;
	if (!seen->reports)
		vacate(seen);
}

/* ---- looking --------------------------------------------------------------------------------------- */

/* The thread runs: it takes the sample at the kernel's next tick, or, if none comes to it for long, has none. */
static void add_due(struct seen *seen, uint64_t ns)
{
	static const struct itimerspec soon = { .it_value.tv_nsec = 1 };
	const uint64_t periods_ns = UNTICKED_PERIODS * g_table.period_ns;

	if (!tr2_add_rlx(&seen->due_ns, ns)) { /* relaxed: a number by itself */
		seen->due_cpu_ns = seen->cpu_ns;
		if (seen->has_timer)
			timer_settime(seen->timer, 0, &soon, NULL);
	}
	if (seen->cpu_ns - seen->due_cpu_ns >= (periods_ns > UNTICKED_NS ? periods_ns : UNTICKED_NS))
		flush_due(seen);
}

static void wait_on(struct seen *seen, uint64_t ns)
{
	seen->waited_ns += ns;
	if (seen->waited_ns >= SLICE_NS)
		flush_wait(seen);
}

/* Return  1: it has run since the last time; 0: it has not, or is not there */
static int look(struct seen *seen, uint64_t now_ns, unsigned *alive)
{
	const uint64_t period = g_table.period_ns;
	uint64_t cpu_ns, ns;

	if (!tid_of(seen) || !seen->is_on || !tr2p_look_cpu(tid_of(seen), &cpu_ns))
		return 0;
	++*alive;
	if (seen->looked_ns >= now_ns)
		return 0;
	ns = (now_ns - seen->looked_ns + period - 1) / period * period;
	seen->looked_ns = now_ns;
	if (!seen->is_known || cpu_ns != seen->cpu_ns || seen->renames != tr2p_rename_count()) {
		seen->missing_ns = ns;
		return 1;
	}
	wait_on(seen, ns);
	return 0;
}

unsigned tr2p_seen_collect(unsigned *next, uint64_t now_ns, struct tr2p_look *looks, unsigned *whose, unsigned max,
			   unsigned *alive)
{
	unsigned n = 0, i = *next;

	for (; n < max && i < g_table.used; i++) {
		if (!look(at(i), now_ns, alive))
			continue;
		looks[n].tid = tid_of(at(i));
		looks[n].labels = labels_of(at(i));
		at(i)->renames = tr2p_rename_count();
		tr2p_look_cpu(looks[n].tid, &looks[n].cpu_ns);
		whose[n++] = i;
	}
	*next = i < g_table.used ? i : UINT32_MAX;
	return n;
}

/* Of a thread whose stack cannot be seen, CPU time shows whether it was mostly running or mostly blocked. */
void tr2p_seen_take(unsigned whose, const struct tr2p_look *look)
{
	struct seen *seen = at(whose);
	const uint64_t ns = seen->missing_ns, used_ns = look->cpu_ns - seen->cpu_ns;

	if (tid_of(seen) != look->tid || !seen->is_on || !g_table.period_ns)
		return;
	seen->missing_ns = 0;
	memcpy(seen->name, look->name, sizeof(seen->name));     /* the last one is that of the wait, too */
	flush_wait(seen);
	seen->wait = NULL;
	seen->is_known = 0;
	seen->cpu_ns = look->cpu_ns;
	if (look->state == TR2P_LOOK_RUNS || (look->state == TR2P_LOOK_UNKNOWN && used_ns > ns / 2)) {
		add_due(seen, ns);
		return;
	}
	seen->is_known = look->bucket != NULL;
	seen->wait = look->bucket ? look->bucket : bucket_of(seen, blocked_somewhere, 1);
	wait_on(seen, ns);
}
