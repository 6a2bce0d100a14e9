/* SPDX-License-Identifier: MIT */
/* tr2_thread_rings.c - the rings of the process: how they are made, go from thread to thread, and look after a fork. */
#include "tr2_thread.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tr2_owner.h"
#include "base/tr2_memory.h"
#include "base/tr2_stack.h"
#include "base/tr2_sys.h"
#include "settings/tr2_env.h"

enum { WIPED, SETTING_UP, ALIVE };

/* Rings are made, and their memory is taken, so many at a time. */
enum { BLOCK = 64, BLOCKS = TLG_MAX_RINGS / BLOCK, DEAD_TRIES = 8, PAGE = 4096 };

/* What a forked child must not take for its own: there it reads as zeros. */
struct wiped {
	uint32_t state;                   /* [M14] */
	_Alignas(64) struct position {   /* one for each ring */
		_Alignas(64) struct trace2_hot hot;
		uintptr_t aside_at;
	} position[];
};

static struct wiped *g_wiped;
/* [M6] of threads, one for each ring.  The first block is among small variables: a page less for a short process. */
static struct tr2_thread *g_first_block;
TR2_LARGE static struct tr2_thread *g_blocks[BLOCKS];
static struct tr2_stack g_free;           /* rings that were released */
static uint32_t g_committed;              /* rings up to here are in memory */

/* ---- after a fork ------------------------------------------------------------------------------- */

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
	uintptr_t self, first;

	if (!tr2_self || tr2_is_forked_child())
		return 0;
	self = (uintptr_t)tr2_self->ring.hot;
	first = (uintptr_t)wiped()->position;
	return self >= first && self < first + tr2_g_shm.max_rings * sizeof(struct position);
}

void tr2_thread_wipe(void)
{
	struct wiped *memory = wiped();

	if (!memory || !tr2_g_shm.head || tr2_is_forked_child() || tr2_shm_is_own())
		return;   /* the last: a handler that ran before ours has recorded, and the child is set up */
	for (uint32_t i = 0; i < tr2_g_shm.head->rings_used && i < tr2_g_shm.max_rings; i++)
		memory->position[i].hot.cur = memory->position[i].aside_at = 0;
	memory->state = WIPED;
}

/*
 * In pages of its own; the kernel wipes them in a forked child, else tr2_thread_wipe() has to do.  The first process's
 * are beside its other memory, which saves a mapping.
 */
static int map_wiped(void)
{
	const size_t bytes = (sizeof(struct wiped) + tr2_g_shm.max_rings * sizeof(struct position) + PAGE - 1) &
			     ~(size_t)(PAGE - 1);
	struct wiped *memory = wiped() ? tr2_memory_map(bytes) : tr2_memory_acquire_last(bytes);

	if (!memory)
		return -errno;
	tr2_sys_advise(memory, bytes, MADV_WIPEONFORK);
	memory->state = SETTING_UP;
	tr2_store_rel(&g_wiped, memory); /* [M14] release: the state.  Pairs with wiped() */
	return 0;
}

static struct tr2_thread **block_of(uint32_t number)
{
	return number ? &g_blocks[number] : &g_first_block;
}

/* A child's are new ones: the thread that forked holds its parent's until it records. */
int tr2_thread_map(void)
{
	uint32_t *links = tr2_memory_acquire_far(tr2_g_shm.max_rings * sizeof(*links));
	int error = links ? tr2_pool_init(tr2_g_settings.memory_bytes) : -errno;

	if (error)
		return error;
	g_free = (struct tr2_stack){ .links = links };
	tr2_registry_reset();
	tr2_store_rlx(&g_committed, TLG_FIRST_RINGS); /* relaxed: nobody is there yet */
	/* relaxed: nobody is there yet */
	for (unsigned i = 0; i < BLOCKS && tr2_exchange_rlx(block_of(i), NULL); i++)
		;
	return map_wiped();
}

/* ---- owners --------------------------------------------------------------------------- */

static struct tr2_thread *thread_of(struct tr2_registry_link *link)
{
	return link ? (struct tr2_thread *)(void *)((char *)link - offsetof(struct tr2_thread, link)) : NULL;
}

struct tr2_thread *tr2_thread_first(void)
{
	return thread_of(tr2_registry_first());
}

struct tr2_thread *tr2_thread_next(struct tr2_thread *thread)
{
	return thread_of(tr2_registry_next(&thread->link));
}

/* Commit ring i in the file, and some behind it: the more, the more there are.  Return  0 or -errno */
static int commit_ring(uint32_t i)
{
	uint32_t n = i < 4 ? 4 : i < BLOCK ? i : BLOCK;
	int error;

	if (i < tr2_load_rlx(&g_committed)) /* relaxed: memory is there for everybody */
		return 0;
	if (n > tr2_g_shm.max_rings - i)
		n = tr2_g_shm.max_rings - i;
	error = tr2_shm_reach_rings(i + n);
	if (!error)
		error = tr2_shm_commit(tr2_shm_ring(i), n * TLG_RING_STRIDE);
	if (!error)
		tr2_store_rlx(&g_committed, i + n); /* relaxed: as above; what goes back costs a call */
	return error;
}

/* Of ring i.  Two may make the block of the same rings at once: one of the two is never used.  NULL: no memory */
static struct tr2_thread *thread_at(uint32_t i)
{
	struct tr2_thread **block = block_of(i / BLOCK), *made;

	if (!tr2_load_acq(block)) { /* [M6] acquire: that it is all zeros.  Pairs with the exchange below */
		made = tr2_memory_acquire_beside(BLOCK * sizeof(*made));
		if (made)
			tr2_cas_acq_rel(block, NULL, made); /* [M6] release: as above.  Pairs with the loads */
		if (!tr2_load_acq(block)) /* [M6] acquire: as above.  Pairs with the exchange above */
			return NULL;
	}
	return tr2_load_acq(block) + i % BLOCK; /* [M6] acquire: as above.  Pairs with the exchange above */
}

/*
 * The number of a new ring; max_rings: there is none.  Memory comes first: a full file system uses up no numbers.
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

	if (i == tr2_g_shm.max_rings || tr2_owner_make(tr2_shm_ring(i)))
		return NULL;
	thread = thread_at(i);
	thread->ring.index = i;
	thread->ring.head = tr2_shm_ring(i);
	thread->ring.hot = &wiped()->position[i].hot;
	thread->ring.aside_at = &wiped()->position[i].aside_at;
	thread->reader.ring = &thread->ring;
	tr2_pool_count_thread(1);
	tr2_registry_add(&thread->link);
	return thread;
}

/* A ring that was released.  If the drain is looking at it just now, it is left to the next thread. */
static struct tr2_thread *free_ring(void)
{
	uint32_t number = tr2_stack_pop(&g_free);
	struct tr2_thread *thread = number ? thread_at(number - 1) : NULL;

	if (!thread)
		return NULL;
	if (tr2_owner_take(thread->ring.head) < 0) {
		tr2_stack_push(&g_free, number - 1);
		return NULL;
	}
	tr2_pool_count_thread(1);
	return thread;
}

static int looks_dead(const struct tlg_ring *head)
{
	return tr2_load_rlx(&head->has_owner) && tr2_owner_seems_gone(head); /* relaxed: as above */
}

/*
 * A ring whose thread has ended without releasing it, and which the drain, should it run, has not found yet.  Only the
 * newest are looked at: threads that come and go one after the other.
 */
static struct tr2_thread *dead_ring(void)
{
	struct tr2_thread *thread = tr2_thread_first();

	for (int tries = 0; thread && tries < DEAD_TRIES; thread = tr2_thread_next(thread), tries++) {
		if (tr2_thread_was_main(thread) || !looks_dead(thread->ring.head) ||
		    tr2_owner_take(thread->ring.head) < 0)
			continue;
		if (tr2_load_rlx(&thread->ring.head->has_owner)) /* relaxed: it changes under the mutex */
			return thread;
		tr2_owner_release(thread->ring.head);   /* the drain was here first */
	}
	return NULL;
}

void tr2_thread_release_ring(struct tr2_thread *thread)
{
	tr2_store_rlx(&thread->ring.head->has_owner, 0); /* relaxed: it changes under the mutex */
	tr2_pool_count_thread(-1);
	tr2_owner_release(thread->ring.head);
	if (!tr2_thread_was_main(thread))   /* there is no other main */
		tr2_stack_push(&g_free, thread->ring.index);
}

struct tr2_thread *tr2_thread_acquire_ring(void)
{
	struct tr2_thread *thread = free_ring();

	if (!thread)
		thread = dead_ring();
	if (!thread)
		thread = new_ring();
	if (thread)
		tr2_store_rlx(&thread->is_dead, 0); /* relaxed: it changes under the mutex */
	return thread;
}

/* ---- rings without a thread -------------------------------------------------------------------------- */

enum tr2_owner tr2_thread_seize(struct tr2_thread *thread)
{
	const struct tlg_ring *head = thread->ring.head;
	int found;

	/* relaxed: hints; the mutex decides */
	if (!tr2_load_rlx(&head->has_owner) ? !tr2_ring_current(&thread->ring) : !tr2_owner_seems_gone(head))
		return TR2_OWNER_ALIVE;   /* or nothing to do for it */
	found = tr2_owner_take(thread->ring.head);
	if (found < 0)
		return TR2_OWNER_ALIVE;
	if (found)
		tr2_store_rlx(&thread->is_dead, 1); /* relaxed: as in tr2_thread_acquire_ring() */
	return tr2_load_rlx(&thread->is_dead) ? TR2_OWNER_DEAD : TR2_OWNER_NONE; /* relaxed: as above */
}

void tr2_thread_release(struct tr2_thread *thread)
{
	if (!tr2_load_rlx(&thread->ring.head->has_owner)) /* relaxed: it changes under the mutex */
		tr2_owner_release(thread->ring.head);
	else
		tr2_thread_release_ring(thread);
}
