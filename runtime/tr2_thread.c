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
#include "tr2_stack.h"
#include "tr2_text.h"

enum { WIPED, SETTING_UP, ALIVE };

/* Rings are made, and their memory is taken, so many at a time. */
enum { BLOCK = 64, BLOCKS = TLG_MAX_RINGS / BLOCK, DEAD_TRIES = 8 };

/* What a forked child must not take for its own: it reads as zeros there. */
struct wiped {
	uint32_t state;                   /* [M14] */
	_Alignas(64) struct position { _Alignas(64) struct trace2_hot hot; } position[];   /* one for each ring */
};

static struct wiped *g_wiped;
TR2_LARGE static struct tr2_thread *g_blocks[BLOCKS];   /* [M6] of threads, one for each ring */
static struct tr2_stack g_free;           /* rings that were given back */
static uint32_t g_committed;              /* rings up to here are in memory */
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
	tr2_store_rel(&g_wiped->state, ALIVE); /* [M14] release: what is set up.  Pairs with tr2_is_forked_child() */
}

int tr2_thread_has_self(void)
{
	uintptr_t self, first;

	if (!tr2_self || tr2_is_forked_child())
		return 0;
	self = (uintptr_t)tr2_self->ring.hot;
	first = (uintptr_t)wiped()->position;
	return self >= first && self < first + tr2_g_shm.max_rings * sizeof(struct position);
}

void tr2_thread_wipe(void)
{
	if (!g_wiped || !tr2_g_shm.head || tr2_is_forked_child() || tr2_g_shm.head->pid == (uint32_t)getpid())
		return;   /* the last: a handler that ran before ours has recorded, and the child is set up */
	for (uint32_t i = 0; i < tr2_g_shm.head->rings_used && i < tr2_g_shm.max_rings; i++)
		g_wiped->position[i].hot.cur = 0;
	g_wiped->state = WIPED;
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
	const size_t bytes = sizeof(struct wiped) + tr2_g_shm.max_rings * sizeof(struct position);
	struct wiped *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				    -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	madvise(memory, bytes, MADV_WIPEONFORK);
	memory->state = SETTING_UP;
	tr2_store_rel(&g_wiped, memory); /* [M14] release: the state.  Pairs with wiped() */
	return 0;
}

/* A child's are new ones: the thread that forked holds its parent's until it records. */
static int map_tables(void)
{
	uint32_t *links = tr2_memory_take(tr2_g_shm.max_rings * sizeof(*links));

	if (!links)
		return -errno;
	g_free = (struct tr2_stack){ .links = links };
	g_committed = TLG_FIRST_RINGS;
	for (unsigned i = 0; i < BLOCKS && g_blocks[i]; i++)
		g_blocks[i] = NULL;
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

/*
 * What self may hold: of what is recorded to be overwritten it has its share for good, and gives back of it what the
 * others need.
 */
static uint32_t most_pages(void)
{
	uint64_t pages = tr2_g_settings.ring_bytes / 4096, share;

	if (tr2_g_settings.policy != TR2_POLICY_OVERWRITE)
		return (uint32_t)pages;
	share = tr2_pool_lasting_share();
	return (uint32_t)(pages < share ? pages : share);
}

/*
 * A thread's first chunk is the shortest, for most threads of short processes need no more: committing a whole one would
 * be a fifth of what these pay for being traced (40 us of 200).  That of a flight recorder's process is kept: a long
 * command line has to fit.
 */
static void open_first_chunk(struct tr2_thread *self)
{
	int is_pinned = tr2_g_settings.policy == TR2_POLICY_OVERWRITE && !self->ring.index;

	tr2_store_rlx(&self->ring.most_pages, most_pages()); /* relaxed: a hint to the drain */
	tr2_ring_open_chunk(&self->ring, 0, is_pinned ? TR2_WHOLE_PAGES : TR2_SHORT_PAGES);
}

static int open_chunk(struct tr2_thread *self)
{
	tr2_store_rlx(&self->ring.most_pages, most_pages()); /* relaxed: a hint to the drain */
	return tr2_ring_open_chunk(&self->ring, self->tid, tr2_pool_share());
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
		if (open_chunk(self))
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

struct tlg_event *tr2_thread_reserve(struct tr2_thread *self, unsigned events, int *opened)
{
	if (!self->is_announced)
		announce(self, NULL, 0, opened);
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

/* Return  0: the ring had no owner, 1: its owner is dead, and it is the caller's now; -1: it has one.  Blocks: never. */
static int own(struct tlg_ring *head)
{
	int error = pthread_mutex_trylock(tr2_shm_owner(head));

	if (error == EOWNERDEAD)
		return pthread_mutex_consistent(tr2_shm_owner(head)) ? -1 : 1;
	return error ? -1 : 0;
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

/* The memory of ring i in the file, and that of those behind it: the more, the more there are.  Return  0 or -errno */
static int commit_ring(uint32_t i)
{
	uint32_t n = i < 4 ? 4 : i < BLOCK ? i : BLOCK;
	int error;

	if (i < tr2_load_rlx(&g_committed)) /* relaxed: memory is there for everybody */
		return 0;
	if (n > tr2_g_shm.max_rings - i)
		n = tr2_g_shm.max_rings - i;
	error = tr2_shm_commit(tr2_shm_ring(i), n * TLG_RING_STRIDE);
	if (!error)
		tr2_store_rlx(&g_committed, i + n); /* relaxed: as above; what goes back costs a call */
	return error;
}

/* Of ring i.  Two may make the block of the same rings at once: one of the two is never used.  NULL: no memory */
static struct tr2_thread *thread_at(uint32_t i)
{
	struct tr2_thread **block = &g_blocks[i / BLOCK], *made;

	if (!tr2_load_acq(block)) { /* [M6] acquire: that it is all zeros.  Pairs with the exchange below */
		made = tr2_memory_take(BLOCK * sizeof(*made));
		if (made)
			tr2_cas_acq_rel(block, NULL, made); /* [M6] release: as above.  Pairs with this function's load */
		if (!tr2_load_acq(block)) /* [M6] acquire: as above.  Pairs with the exchange above */
			return NULL;
	}
	return tr2_load_acq(block) + i % BLOCK; /* [M6] acquire: as above.  Pairs with the exchange above */
}

/*
 * The number of a new ring; max_rings: there is none.  Its memory comes first, so that no number is used up while the
 * file system is full.
 */
static uint32_t take_number(void)
{
	const uint32_t none = tr2_g_shm.max_rings;
	uint32_t *used = &tr2_g_shm.head->rings_used, i;

	do {
		i = tr2_load_rlx(used); /* relaxed: only the number matters */
		if (i >= none || commit_ring(i) || !thread_at(i))
			return none;
	} while (!tr2_cas_rlx(used, i, i + 1)); /* relaxed: as above */
	return i;
}

static struct tr2_thread *new_ring(void)
{
	uint32_t i = take_number();
	struct tr2_thread *thread;

	if (i == tr2_g_shm.max_rings || make_owner_mutex(tr2_shm_ring(i)))
		return NULL;
	thread = thread_at(i);
	thread->ring.index = i;
	thread->ring.head = tr2_shm_ring(i);
	thread->ring.hot = &g_wiped->position[i].hot;
	tr2_pool_count_thread(1);
	tr2_reg_add(&thread->link);
	return thread;
}

/* A ring that was given back.  Should the drain be looking at it just now, it is left to the next thread. */
static struct tr2_thread *free_ring(void)
{
	uint32_t number = tr2_stack_pop(&g_free);
	struct tr2_thread *thread = number ? thread_at(number - 1) : NULL;

	if (!thread)
		return NULL;
	if (own(thread->ring.head) < 0) {
		tr2_stack_push(&g_free, number - 1);
		return NULL;
	}
	tr2_pool_count_thread(1);
	return thread;
}

/* The kernel says that the owner is dead; it cannot be known for certain without the mutex. */
static int looks_dead(const struct tlg_ring *head)
{
	/* relaxed: a hint, as the next one */
	return tr2_load_rlx(&head->owner.word) & TLG_RING_OWNER_DEAD && tr2_load_rlx(&head->has_owner);
}

/*
 * A ring whose thread has ended without a word, which the drain has not found yet: it may not run.  Only the newest are
 * looked at: threads that come and go one after the other.
 */
static struct tr2_thread *dead_ring(void)
{
	struct tr2_thread *thread = tr2_thread_first();

	for (int tries = 0; thread && tries < DEAD_TRIES; thread = tr2_thread_next(thread), tries++) {
		if (thread == main_thread() || !looks_dead(thread->ring.head) || own(thread->ring.head) < 0)
			continue;
		if (tr2_load_rlx(&thread->ring.head->has_owner)) /* relaxed: it changes under the mutex */
			return thread;
		pthread_mutex_unlock(tr2_shm_owner(thread->ring.head));   /* the drain was here first */
	}
	return NULL;
}

/* Signals masked.  A ring for self, which has no identity yet.  NULL: there is none now. */
static struct tr2_thread *acquire(void)
{
	struct tr2_thread *self = free_ring();

	if (!self)
		self = dead_ring();
	if (!self)
		self = new_ring();
	if (!self)
		return NULL;
	self->is_dead = 0;
	self->drop_mark = UINT64_MAX;
	self->ordinary_mask = 0;
	self->ring.head->ostid = (uint32_t)syscall(SYS_gettid);
	tr2_store_rlx(&self->ring.head->has_owner, 1); /* relaxed: a hint to the drain; the mutex decides */
	tr2_self = self;
	if (!self->ring.chunk)
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
	g_main = NULL;
	if (is_child)
		return 0;
	tr2_mask_all(&mask);
	g_main = acquire_as("main");
	if (g_main && tr2_g_settings.policy == TR2_POLICY_OVERWRITE)
		g_main->pinned.chunk = g_main->ring.chunk;
	tr2_mask_restore(&mask);
	tr2_thread_ready();
	return g_main ? 0 : -ENOMEM;
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

/* The calling thread owns the ring, and gives it to whoever comes next. */
static void give_back(struct tr2_thread *thread)
{
	tr2_store_rlx(&thread->ring.head->has_owner, 0); /* relaxed: it changes under the mutex */
	tr2_pool_count_thread(-1);
	pthread_mutex_unlock(tr2_shm_owner(thread->ring.head));
	if (thread != main_thread())   /* there is no other main */
		tr2_stack_push(&g_free, thread->ring.index);
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
	give_back(self);
	tr2_mask_restore(&mask);
}

/* ---- rings without a thread ------------------------------------------------------------------------ */

enum tr2_owner tr2_thread_seize(struct tr2_thread *thread)
{
	const struct tlg_ring *head = thread->ring.head;
	int found;

	/* relaxed: hints; the mutex decides */
	if (!tr2_load_rlx(&head->has_owner) && !tr2_load_rlx(&thread->ring.chunk))
		return TR2_OWNER_ALIVE;   /* or nothing to do for it */
	found = own(thread->ring.head);
	if (found < 0)
		return TR2_OWNER_ALIVE;
	thread->is_dead |= found;
	return thread->is_dead ? TR2_OWNER_DEAD : TR2_OWNER_NONE;
}

void tr2_thread_let_go(struct tr2_thread *thread)
{
	if (!tr2_load_rlx(&thread->ring.head->has_owner)) /* relaxed: it changes under the mutex */
		pthread_mutex_unlock(tr2_shm_owner(thread->ring.head));
	else
		give_back(thread);
}
