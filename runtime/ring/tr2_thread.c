/* SPDX-License-Identifier: MIT */
/* tr2_thread.c - a thread's identity, and its announcement in its ring. */
#include "tr2_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tlg_chain.h"

#include "base/tr2_clock.h"
#include "base/tr2_mask.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "base/tr2_tsan.h"
#include "settings/tr2_env.h"

static const char unknown[] = "unknown";   /* as git names threads that nobody has named */

static uint32_t g_next_tid;
static uint32_t g_renamed;             /* so often has a thread got another name */
static struct tr2_thread *g_main;
static int g_is_late;                     /* the session began late: threads may have open regions already */

struct tr2_defined tr2_g_defined = { 2, 2 };   /* git's two of each for tests */

__thread struct trace2_hot *tr2_hot_v1 __attribute__((tls_model("initial-exec")));
__thread struct tr2_thread *tr2_self __attribute__((tls_model("initial-exec")));

/* For tr2_thread_report(): where to; the id that the thread will have, plus 1, if it has had none yet. */
static __thread struct tr2_reported *g_reported __attribute__((tls_model("initial-exec")));
static __thread uint32_t g_reserved __attribute__((tls_model("initial-exec")));

/* In a forked child main may come while others run. */
static const struct tr2_thread *main_thread(void)
{
	return tr2_load_rlx(&g_main); /* relaxed: only compared with */
}

int tr2_thread_was_main(const struct tr2_thread *thread)
{
	return thread == main_thread();
}

int tr2_thread_is_main(void)
{
	return tr2_self && tr2_self == main_thread();
}

/* ---- names -------------------------------------------------------------------------------------- */

/* git's name of a thread: "main", or "thNN:" and the base name, cut to 24 bytes. */
static void make_name(char name[TR2_THREAD_NAME + 1], uint32_t tid, const char *base_name)
{
	struct tr2_text text = tr2_text_begin(name, TR2_THREAD_NAME + 1);

	tr2_text_add(&text, "th");
	tr2_text_decimal(&text, tid, 2);
	tr2_text_add(&text, ":");
	tr2_text_add(&text, base_name);
}

static uint32_t max_pages(void)
{
	return (uint32_t)(tr2_g_settings.ring_bytes / (TLG_CHUNK_BYTES / TR2_WHOLE_PAGES));
}

/*
 * A thread's first chunk is the shortest: most threads of short processes need no more, and committing a whole one
 * would be a fifth of what tracing costs them (40 us of 200).  A flight recorder's first one is pinned: a long command
 * line has to fit.
 */
static void open_first_chunk(struct tr2_thread *self)
{
	int is_pinned = tr2_is_flight_recorder() && !self->ring.index;

	tr2_store_rlx(&self->ring.max_pages, max_pages()); /* relaxed: a hint to the drain */
	tr2_ring_open_chunk(&self->ring, 0, is_pinned ? TR2_WHOLE_PAGES : TR2_SHORT_PAGES);
}

static int open_chunk(struct tr2_thread *self)
{
	tr2_store_rlx(&self->ring.max_pages, max_pages()); /* relaxed: a hint to the drain */
	return tr2_ring_open_chunk(&self->ring, self->tid, tr2_pool_share());
}

/* Events in self's chunk, or in a new one.  The position is not aside. */
static struct tlg_event *reserve_here(struct tr2_thread *self, unsigned events, int *opened)
{
	const size_t bytes = events * sizeof(struct tlg_event);

	for (int tries = 0; tries < 2; tries++) {
		uintptr_t position = tr2_local_add(&self->ring.hot->cur, bytes);
		if (tr2_in_chunk(position, bytes))
			return (struct tlg_event *)position;
		if (tr2_is_parked(position)) {
			*opened |= tr2_ring_unpark(&self->ring);
			tries--;   /* the drain may do it again, but only once in a while */
			continue;
		}
		if (tr2_in_chunk(position, sizeof(struct tlg_event)))
			tr2_ring_pad(position);
		if (open_chunk(self))
			break;
		*opened = 1;
	}
	return NULL;
}

/* Where the position is aside it stays so. */
static struct tlg_event *reserve(struct tr2_thread *self, unsigned events, int *opened)
{
	int was_aside = tr2_ring_take_back(&self->ring);
	struct tlg_event *event = reserve_here(self, events, opened);

	if (was_aside)
		tr2_ring_set_aside(&self->ring);
	return event;
}

/*
 * Say in the ring whose events follow, for the drain: it is no checkpoint and has no sequence number.  If it is
 * dropped, it comes first in the next attempt.
 */
static void announce(struct tr2_thread *self, const uint64_t *enters, unsigned open, int *opened)
{
	struct tlg_announce announce = {
		.tid = self->tid, .ostid = self->ring.head->ostid, .start = self->start,
		.lost_events = self->lost_events, .nopen = open,
	};
	struct tlg_event *event;
	unsigned events;

	memcpy(announce.name, self->name, sizeof(self->name));
	events = tlg_announce_events(&announce);
	event = reserve(self, events, opened);
	if (!event)
		return;
	self->is_announced = 1;
	for (unsigned i = events; i--;)
		tr2_ring_commit(&event[i], tlg_announce_fill(&announce, enters, i, &event[i]));
}

/* In front of what comes next: what has been dropped.  Return  0: that is dropped, too */
static int report_gap(struct tr2_thread *self, int *opened)
{
	struct tlg_event *event = reserve(self, 1, opened);

	if (event)
		tr2_gap_report(&self->gap, self->ring.head, event);
	return event != NULL;
}

struct tlg_event *tr2_thread_reserve(struct tr2_thread *self, unsigned events, int *opened)
{
	if (!self->is_announced)
		announce(self, NULL, 0, opened);
	if (self->is_announced && tr2_gap_is_due(&self->gap, self->ring.head) && !report_gap(self, opened))
		return NULL;   /* nothing comes in front of it */
	return self->is_announced ? reserve(self, events, opened) : NULL;
}

/* The ring's events are self's from here on. */
static void take_over(struct tr2_thread *self, const uint64_t *enters, unsigned open)
{
	struct tlg_ring *head = self->ring.head;
	int opened = 0;

	self->is_announced = 0;
	self->lost_events = head->lost_events;
	tr2_gap_reset(&self->gap, head);
	tr2_store_rlx(&head->tid, self->tid); /* relaxed: a hint; the drain takes the name with the first event */
	head->start = self->start;
	memcpy(head->name, self->name, sizeof(self->name));
	if (tr2_ring_current(&self->ring))
		tr2_shm_chunk(tr2_ring_current(&self->ring) - 1)->tid = self->tid;
	announce(self, enters, open, &opened);
}

static void begin_totals(struct tr2_thread *self)
{
	uint32_t timers = tr2_load_rlx(&tr2_g_defined.timers); /* relaxed: what is defined from here on is 0 */
	uint32_t counters = tr2_load_rlx(&tr2_g_defined.counters); /* relaxed: as above */

	for (uint32_t i = 0; i < timers && i < TR2_MAX_TIMERS; i++)
		self->timers[i] = (struct tr2_timer){ .depth = 0 };
	for (uint32_t i = 0; i < counters && i < TR2_MAX_COUNTERS; i++)
		self->counters[i] = 0;
}

static void report(const struct tr2_thread *self)
{
	if (g_reported)
		tr2_reported_set(g_reported, self->tid + 1, self->name);
}

static uint32_t next_tid(void)
{
	const uint32_t reserved = g_reserved;

	g_reserved = 0;
	return reserved ? reserved - 1 : tr2_add_rlx(&g_next_tid, 1); /* relaxed: only the number matters */
}

uint32_t tr2_thread_new_id(void)
{
	return tr2_add_rlx(&g_next_tid, 1); /* relaxed: only the number matters */
}

void tr2_thread_report(struct tr2_reported *to)
{
	g_reported = to;
	if (!to)
		return;
	if (!tr2_self && !g_reserved)
		g_reserved = next_tid() + 1;
	if (tr2_self)
		report(tr2_self);
	else
		tr2_reported_set(to, g_reserved, "");
}

/* The first thread of the process is main, also if others have recorded before. */
static int is_late_main(void)
{
	return g_is_late && !main_thread() && tr2_sys_gettid() == tr2_sys_getpid();
}

/* Self is a new Trace2 thread from here on. */
static void become(struct tr2_thread *self, const char *base_name)
{
	static const uint64_t assumed[] = { TLG_OPEN_ASSUMED };

	self->tid = is_late_main() ? 0 : next_tid();
	if (!self->tid && g_is_late)
		tr2_store_rlx(&g_main, self); /* relaxed: as in main_thread() */
	if (self->tid)
		make_name(self->name, self->tid, base_name);
	else
		strcpy(self->name, "main");
	self->named_by = TR2_BY_PROGRAM;
	self->start = self->tid ? tr2_clock_raw() : tr2_clock_start();
	report(self);
	begin_totals(self);
	take_over(self, assumed, g_is_late != 0);
}

/* ---- getting a ring --------------------------------------------------------------------------------- */

/* Signals masked.  A ring for self, which has no identity yet.  NULL: there is none now. */
static struct tr2_thread *acquire(void)
{
	struct tr2_thread *self = tr2_thread_acquire_ring();

	if (!self)
		return NULL;
	self->drop_mark = UINT64_MAX;
	self->ordinary_mask = 0;
	self->look = (struct tr2_look){ .next = 0 };
	self->ring.head->ostid = (uint32_t)tr2_sys_gettid();
	tr2_store_rlx(&self->ring.head->has_owner, 1); /* relaxed: a hint to the drain; the mutex decides */
	tr2_self = self;
	tr2_tsan_end_with(self->ring.head);
	if (!tr2_ring_current(&self->ring))
		open_first_chunk(self);
	if (tr2_clock_is_inline())
		tr2_hot_v1 = self->ring.hot;
	return self;
}

/* Signals masked.  Self becomes a new thread, with a ring if there is one. */
static struct tr2_thread *acquire_as(const char *base_name)
{
	struct tr2_thread *self = acquire();

	if (self)
		become(self, base_name);
	return self;
}

struct tr2_thread *tr2_thread_inherit(const struct tr2_thread *parent, const uint64_t *enters, unsigned open)
{
	struct tr2_thread *self = acquire();

	if (!self)
		return NULL;
	self->tid = parent->tid;
	self->start = parent->start;
	self->named_by = parent->named_by;
	self->renamed = parent->renamed;
	memcpy(self->name, parent->name, sizeof(self->name));
	memcpy(self->timers, parent->timers, sizeof(self->timers));
	memcpy(self->counters, parent->counters, sizeof(self->counters));
	report(self);
	take_over(self, enters, open);
	if (!self->tid)
		tr2_store_rlx(&g_main, self); /* relaxed: as in main_thread() */
	return self;
}

int tr2_thread_init_late(void)
{
	int error = tr2_thread_map();

	if (error)
		return error;
	tr2_store_rlx(&g_main, NULL); /* relaxed: as in main_thread() */
	tr2_store_rlx(&g_next_tid, 1); /* relaxed: nobody is there yet; 0 is main's */
	g_is_late = 1;
	tr2_thread_ready();
	return 0;
}

int tr2_thread_init(int is_child)
{
	struct tr2_thread *main;
	uint64_t mask;
	int error = tr2_thread_map();

	if (error)
		return error;
	g_is_late = 0;
	tr2_store_rlx(&g_main, NULL); /* relaxed: as in main_thread() */
	if (is_child)
		return 0;
	tr2_mask_all(&mask);
	main = acquire_as("main");
	if (main && tr2_is_flight_recorder())
		main->reader.pinned.chunk = tr2_ring_current(&main->ring);
	tr2_store_rlx(&g_main, main); /* relaxed: as above */
	tr2_mask_restore(&mask);
	tr2_thread_ready();
	return main_thread() ? 0 : -ENOMEM;
}

/* The name by which the system knows the calling thread; "": it does not say. */
static void ask_name(char name[16])
{
	int saved = errno;

	name[0] = '\0';
	tr2_sys_prctl(PR_GET_NAME, (unsigned long)name);
	errno = saved;
}

struct tr2_thread *tr2_thread_begin_by_system(void)
{
	const uint32_t renamed = tr2_load_rlx(&g_renamed); /* relaxed: one that comes later is looked at later */
	struct tr2_thread *self;
	char name[16];

	ask_name(name);
	self = tr2_thread_begin(*name ? name : unknown);
	if (self) {
		self->named_by = TR2_BY_SYSTEM;
		self->renamed = renamed;
	}
	return self;
}

struct tr2_thread *tr2_thread_begin_unknown(void)
{
	struct tr2_thread *self = tr2_thread_begin(unknown);

	if (self)
		self->named_by = TR2_BY_NOBODY;
	return self;
}

void tr2_thread_note_rename(void)
{
	tr2_add_rlx(&g_renamed, 1); /* relaxed: a number by itself */
}

/*
 * If the thread has another name, record it in the ring.  Signals masked.  If the ring has no room, the name precedes
 * the next event, as that of a new thread does.
 */
static void take_name(struct tr2_thread *self)
{
	char base_name[16], name[TR2_THREAD_NAME + 1] = "";
	int opened = 0;

	ask_name(base_name);
	if (!*base_name)
		return;
	make_name(name, self->tid, base_name);
	if (!strcmp(name, self->name))
		return;
	memcpy(self->name, name, sizeof(self->name));
	memcpy(self->ring.head->name, name, sizeof(self->name));
	report(self);
	self->is_announced = 0;
	announce(self, NULL, 0, &opened);
}

static void take_name_masked(struct tr2_thread *self)
{
	uint64_t mask;

	tr2_mask_all(&mask);
	self->named_by = TR2_BY_SYSTEM;
	self->renamed = tr2_load_rlx(&g_renamed); /* relaxed: as above */
	take_name(self);
	tr2_mask_restore(&mask);
}

void tr2_thread_name_at_sample(void)
{
	struct tr2_thread *self = tr2_self;

	if (self->named_by == TR2_BY_PROGRAM || !self->tid || !tr2_thread_has_self())
		return;
	/* relaxed: as above */
	if (self->named_by == TR2_BY_NOBODY || self->renamed != tr2_load_rlx(&g_renamed))
		take_name_masked(self);
}

void tr2_thread_name_now(void)
{
	struct tr2_thread *self = tr2_self;

	if (self && self->named_by == TR2_BY_SYSTEM && self->tid && tr2_thread_has_self())
		take_name_masked(self);
}

struct tr2_thread *tr2_thread_begin(const char *base_name)
{
	struct tr2_thread *self = tr2_self;
	uint64_t mask;

	tr2_mask_all(&mask);
	if (!self)
		self = acquire_as(base_name ? base_name : "");
	else
		become(self, base_name ? base_name : "");
	tr2_mask_restore(&mask);
	return self;
}

void tr2_thread_is_ordinary(void)
{
	if (tr2_self)
		tr2_self->ordinary_mask = tr2_mask_now();
}

/*
 * The ring goes back at once.  The next event of this thread, if any, acquires one again and is "unknown",
 * as in git.
 */
void tr2_thread_end(void)
{
	struct tr2_thread *self = tr2_self;
	uint64_t mask;

	if (!self || self == main_thread())
		return;
	if (tr2_is_enabled())
		tr2_thread_name_now();
	tr2_mask_all(&mask);
	tr2_hot_v1 = NULL;
	tr2_self = NULL;
	tr2_tsan_end_with(NULL);
	tr2_thread_release_ring(self);
	tr2_mask_restore(&mask);
}
