/* SPDX-License-Identifier: MIT */
/* tr2_thread.c - a thread's identity and its way to a ring. */
#include "tr2_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tr2_clock.h"
#include "tr2_env.h"
#include "tr2_mask.h"
#include "tr2_memory.h"
#include "tr2_text.h"

enum { WIPED, SETTING_UP, ALIVE };

/* What a forked child must not take for its own: it reads as zeros there. */
struct wiped {
	uint32_t state;                   /* [M14] */
	_Alignas(64) struct { _Alignas(64) struct trace2_hot hot; } position[TLG_MAX_RINGS];
};

static struct wiped *g_wiped;
static struct tr2_thread *g_threads;      /* one for each ring */
static uint32_t g_next_tid;
static struct tr2_thread *g_main;

struct tr2_defined tr2_g_defined = { 2, 2 };   /* git's two of each for tests */

__thread struct trace2_hot *tr2_hot_v1 __attribute__((tls_model("initial-exec")));
__thread struct tr2_thread *tr2_self __attribute__((tls_model("initial-exec")));

static struct wiped *wiped(void)
{
	return tr2_load_acq(&g_wiped); /* [M14] acquire: that it is set up.  Pairs with map_wiped() */
}

int tr2_is_forked_child(void)
{
	/* [M14] acquire: all that was set up.  Pairs with tr2_thread_ready() */
	return wiped() && tr2_load_acq(&wiped()->state) != ALIVE;
}

int tr2_thread_claim(void)
{
	return tr2_cas_acq_rel(&wiped()->state, WIPED, SETTING_UP); /* [M14] acquire: nothing; keeps a second one out */
}

void tr2_thread_ready(void)
{
	tr2_store_rel(&wiped()->state, ALIVE); /* [M14] release: what is set up.  Pairs with tr2_is_forked_child() */
}

int tr2_thread_has_self(void)
{
	return tr2_self && !tr2_is_forked_child() && tr2_self >= g_threads && tr2_self < g_threads + TLG_MAX_RINGS;
}

void tr2_thread_wipe(void)
{
	struct wiped *memory = wiped();

	if (!memory || !tr2_g_shm.head || tr2_is_forked_child() || tr2_g_shm.head->pid == (uint32_t)getpid())
		return;   /* the last: a handler that ran before ours has recorded, and the child is set up */
	for (uint32_t i = 0; i < tr2_g_shm.head->rings_used && i < TLG_MAX_RINGS; i++)
		memory->position[i].hot.cur = 0;
	memory->state = WIPED;
}

/* In a forked child main may come while others run. */
static const struct tr2_thread *main_thread(void)
{
	return tr2_load_rlx(&g_main); /* relaxed: only compared with */
}

int tr2_thread_is_main(void)
{
	return tr2_self && tr2_self == main_thread();
}

/* In pages of its own; the kernel wipes them in a forked child, else tr2_thread_wipe() has to do. */
static int map_wiped(void)
{
	struct wiped *memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	madvise(memory, sizeof(*memory), MADV_WIPEONFORK);
	memory->state = SETTING_UP;
	tr2_store_rel(&g_wiped, memory); /* [M14] release: the state.  Pairs with wiped() */
	return 0;
}

/* A child's are new ones: the thread that forked holds its parent's until it records. */
static int map_tables(void)
{
	struct tr2_thread *threads = tr2_memory_take(TLG_MAX_RINGS * sizeof(*threads));

	if (!threads)
		return -errno;
	g_threads = threads;
	return map_wiped();
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

static void fill_value(struct tlg_event *event, uint64_t value, unsigned flags)
{
	event->u.value = (struct tlg_value){ (int64_t)value, TLG_ARG_UINT, 0 };
	tr2_ring_commit(event, TLG_VALUE | flags);
}

/* The name, which is never empty, as the last arguments of a chain. */
static void fill_name(struct tlg_event *event, const char *name, size_t length)
{
	for (; length; event++) {
		size_t n = length < TLG_TEXT_SIZE ? length : TLG_TEXT_SIZE;
		memset(&event->u.info, 0, TLG_TEXT_SIZE);
		memcpy(&event->u.info, name, n);
		name += n;
		length -= n;
		tr2_ring_commit(event, TLG_INFO | (length ? 0 : TLG_INFO_END));
	}
}

/* A place in self's chunk, or in a new one. */
static struct tlg_event *reserve(struct tr2_thread *self, unsigned events, int *opened)
{
	const size_t bytes = events * sizeof(struct tlg_event);

	for (int tries = 0; tries < 2; tries++) {
		uintptr_t position = tr2_local_add(&self->ring.hot->cur, bytes);
		if (tr2_in_chunk(position, bytes))
			return (struct tlg_event *)position;
		if (tr2_in_chunk(position, sizeof(struct tlg_event)))
			tr2_ring_pad(position);
		if (tr2_ring_open_chunk(&self->ring, self->tid, tr2_g_settings.ring_chunks))
			break;
		*opened = 1;
	}
	return NULL;
}

/*
 * Say in the ring whose events follow: THREAD; as VALUEs the losses of the ring up to here and when the regions
 * were entered that are open; the name.  The drain takes it for its own use; it is no checkpoint and has no
 * sequence number.  If there is no room now, it comes first when there is.
 */
static void announce(struct tr2_thread *self, const uint64_t *enters, unsigned open, int *opened)
{
	size_t length = strlen(self->name);
	unsigned events = 3 + open + (unsigned)(length + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE;
	struct tlg_event *event = reserve(self, events, opened);

	if (!event)
		return;
	self->is_announced = 1;
	event->u.thread = (struct tlg_thread){ self->tid, self->ring.head->ostid, self->start };
	fill_value(&event[1], self->lost_hits, 0);
	fill_value(&event[2], self->lost_events, 0);
	for (unsigned i = 0; i < open; i++)
		fill_value(&event[3 + i], enters[i], 0);
	fill_name(&event[3 + open], self->name, length);
	tr2_ring_commit(event, TLG_THREAD | TLG_HAS_INFO);
}

/* In front of what comes next: what has been dropped.  Return  0: there is no room */
static int tell_gap(struct tr2_thread *self, int *opened)
{
	struct tlg_event *event = reserve(self, 1, opened);

	if (event)
		tr2_gap_tell(&self->gap, self->ring.head, event);
	return event != NULL;
}

struct tlg_event *tr2_thread_reserve(struct tr2_thread *self, unsigned events, int *opened)
{
	if (!self->is_announced)
		announce(self, NULL, 0, opened);
	if (self->is_announced && tr2_gap_is_due(&self->gap, self->ring.head) && !tell_gap(self, opened))
		return NULL;   /* not even if room is found by now: nothing comes in front of it */
	return self->is_announced ? reserve(self, events, opened) : NULL;
}

/* The ring's events are self's from here on, under the identity that self has. */
static void take_over(struct tr2_thread *self, const uint64_t *enters, unsigned open)
{
	struct tlg_ring *head = self->ring.head;
	int opened = 0;

	self->is_announced = 0;
	self->lost_hits = head->lost_hits;
	self->lost_events = head->lost_events;
	tr2_gap_reset(&self->gap, head);
	tr2_store_rlx(&head->tid, self->tid); /* relaxed: a hint; the drain takes the name with the first event */
	head->start = self->start;
	memcpy(head->name, self->name, sizeof(self->name));
	if (self->ring.chunk)
		tr2_shm_chunk(self->ring.chunk - 1)->tid = self->tid;
	announce(self, enters, open, &opened);
}

static void begin_sums(struct tr2_thread *self)
{
	uint32_t timers = tr2_load_rlx(&tr2_g_defined.timers); /* relaxed: what is defined from here on is 0 */
	uint32_t counters = tr2_load_rlx(&tr2_g_defined.counters); /* relaxed: as above */

	for (uint32_t i = 0; i < timers && i < TR2_MAX_TIMERS; i++)
		self->timers[i] = (struct tr2_timer){ .depth = 0 };
	for (uint32_t i = 0; i < counters && i < TR2_MAX_COUNTERS; i++)
		self->counters[i] = 0;
}

/* Self is a new Trace2 thread from here on. */
static void become(struct tr2_thread *self, const char *base_name)
{
	self->tid = tr2_add_rlx(&g_next_tid, 1); /* relaxed: only the number matters */
	if (self->tid)
		make_name(self->name, self->tid, base_name);
	else
		strcpy(self->name, "main");
	self->start = self->tid ? tr2_clock_raw() : tr2_clock_start();
	begin_sums(self);
	take_over(self, NULL, 0);
}

/* ---- acquiring a ring --------------------------------------------------------------------------- */

/* 1 if the ring has no living owner and is self's now.  Blocks: never. */
static int try_own(struct tlg_ring *head)
{
	int error = pthread_mutex_trylock(tr2_shm_owner(head));

	if (error == EOWNERDEAD)
		error = pthread_mutex_consistent(tr2_shm_owner(head));
	return !error;
}

static struct tr2_thread *thread_of(struct tr2_reg_link *link)
{
	return link ? (struct tr2_thread *)(void *)((char *)link - offsetof(struct tr2_thread, link)) : NULL;
}

struct tr2_thread *tr2_thread_first(void)
{
	return thread_of(tr2_reg_first());
}

struct tr2_thread *tr2_thread_next(struct tr2_thread *thread)
{
	return thread_of(tr2_reg_next(&thread->link));
}

/* A ring whose thread is gone; NULL when none is found: among the first few, while new ones can be made. */
static struct tr2_thread *reuse_ring(void)
{
	struct tr2_thread *thread = tr2_thread_first();
	uint32_t used = tr2_load_rlx(&tr2_g_shm.head->rings_used); /* relaxed: a bound */
	uint32_t most = used < TLG_MAX_RINGS ? 64 : TLG_MAX_RINGS;

	for (uint32_t tries = 0; thread && tries < most; thread = tr2_thread_next(thread), tries++)
		if (thread != main_thread() && try_own(thread->ring.head))
			return thread;
	return NULL;
}

static int make_owner_mutex(struct tlg_ring *head)
{
	pthread_mutexattr_t attributes;
	int error;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	error = pthread_mutex_init(tr2_shm_owner(head), &attributes);
	pthread_mutexattr_destroy(&attributes);
	return error ? error : pthread_mutex_trylock(tr2_shm_owner(head));
}

/*
 * The number of a new ring; TLG_MAX_RINGS: there is none.  Its memory comes first, so that no number is used up while
 * the file system is full.
 */
static uint32_t take_number(void)
{
	uint32_t *used = &tr2_g_shm.head->rings_used, i;

	do {
		i = tr2_load_rlx(used); /* relaxed: only the number matters */
		if (i >= TLG_MAX_RINGS ||
		    (i >= TLG_FIRST_RINGS && tr2_shm_commit(tr2_shm_ring(i), sizeof(struct tlg_ring))))
			return TLG_MAX_RINGS;
	} while (!tr2_cas_rlx(used, i, i + 1)); /* relaxed: as above */
	return i;
}

static struct tr2_thread *new_ring(void)
{
	uint32_t i = take_number();
	struct tr2_thread *thread = &g_threads[i];

	if (i == TLG_MAX_RINGS || make_owner_mutex(tr2_shm_ring(i)))
		return NULL;
	thread->ring.index = i;
	thread->ring.head = tr2_shm_ring(i);
	thread->ring.hot = &wiped()->position[i].hot;
	tr2_reg_add(&thread->link);
	return thread;
}

/* Signals masked.  A ring for self, which has no identity yet.  NULL: there is none now. */
static struct tr2_thread *acquire(void)
{
	struct tr2_thread *self = reuse_ring();

	if (!self)
		self = new_ring();
	if (!self)
		return NULL;
	self->drop_mark = UINT64_MAX;
	self->ordinary_mask = 0;
	self->ring.head->ostid = (uint32_t)syscall(SYS_gettid);
	tr2_store_rlx(&self->ring.head->has_owner, 1); /* relaxed: a hint to the drain; the mutex decides */
	tr2_self = self;
	if (!self->ring.chunk)
		tr2_ring_open_chunk(&self->ring, 0, tr2_g_settings.ring_chunks);
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
	memcpy(self->name, parent->name, sizeof(self->name));
	memcpy(self->timers, parent->timers, sizeof(self->timers));
	memcpy(self->counters, parent->counters, sizeof(self->counters));
	take_over(self, enters, open);
	if (!self->tid)
		tr2_store_rlx(&g_main, self); /* relaxed: as in main_thread() */
	return self;
}

int tr2_thread_init(int is_child)
{
	uint64_t mask;
	int error = map_tables();

	if (error)
		return error;
	tr2_reg_reset();
	tr2_store_rlx(&g_main, NULL); /* relaxed: as in main_thread() */
	if (is_child)
		return 0;
	tr2_mask_all(&mask);
	tr2_store_rlx(&g_main, acquire_as("main")); /* relaxed: as above */
	tr2_mask_restore(&mask);
	tr2_thread_ready();
	return main_thread() ? 0 : -ENOMEM;
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
	tr2_mask_all(&mask);
	tr2_hot_v1 = NULL;
	tr2_self = NULL;
	pthread_mutex_unlock(tr2_shm_owner(self->ring.head));
	tr2_mask_restore(&mask);
}
