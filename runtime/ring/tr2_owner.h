/* SPDX-License-Identifier: MIT */
/*
 * tr2_owner.h - whose a ring is: a lock that the death of its owner opens.
 *
 * With glibc it is a robust mutex in the ring, which the kernel marks whatever ends its thread.  With musl it is none:
 * musl keeps a thread's robust mutexes in a list, and a forked child goes on with the list of its parent.  The child's
 * first mutex then writes an address of the child into the parent's, which lies in memory that both share, and the
 * parent dies of it when its thread ends.  There the word holds the owner's thread id, and who wants the ring asks the
 * system whether that thread lives.
 *
 * Thread  any; nobody waits    Signal  masked
 */
#ifndef TR2_OWNER_H
#define TR2_OWNER_H

#include <errno.h>
#include <pthread.h>

#include "tr2_shm.h"
#include "base/tr2_atomic.h"
#include "base/tr2_sys.h"
#include "base/tr2_tsan.h"

#ifdef __GLIBC__
/* The robust mutex that the ring's thread has acquired. */
static inline pthread_mutex_t *tr2_owner_mutex(struct tlg_ring *ring)
{
	static_assert(sizeof(pthread_mutex_t) <= sizeof(ring->owner), "the mutex fits");
	return (pthread_mutex_t *)(void *)&ring->owner;
}

/* Return  -1: the ring has an owner; else it is the caller's now, 1: the owner was dead */
static inline int tr2_owner_take(struct tlg_ring *ring)
{
	int error = pthread_mutex_trylock(tr2_owner_mutex(ring));

	if (error != EOWNERDEAD)
		return error ? -1 : 0;
	tr2_tsan_follow(ring);
	return pthread_mutex_consistent(tr2_owner_mutex(ring)) ? -1 : 1;
}

static inline void tr2_owner_release(struct tlg_ring *ring)
{
	pthread_mutex_unlock(tr2_owner_mutex(ring));
}

/* A new ring becomes the caller's.  Return  0 or an error number */
static inline int tr2_owner_make(struct tlg_ring *ring)
{
	pthread_mutexattr_t attributes;
	int error;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	error = pthread_mutex_init(tr2_owner_mutex(ring), &attributes);
	pthread_mutexattr_destroy(&attributes);
	return error ? error : pthread_mutex_trylock(tr2_owner_mutex(ring));
}

/* A hint.  What glibc has in the word; elsewhere the ring has to be asked for. */
static inline int tr2_owner_seems_gone(const struct tlg_ring *ring)
{
	uint32_t word = tr2_load_rlx(&ring->owner.word); /* relaxed: a hint; the mutex decides */

	return !word || word & TLG_RING_OWNER_DEAD;
}
#else
/* 1: a thread of this process, unless the system says that it is none; a sandbox may say nothing */
static inline int tr2_owner_lives(uint32_t tid)
{
	int saved = errno, lives = tr2_sys_is_thread((pid_t)tid) || errno != ESRCH;

	errno = saved;
	return lives;
}

static inline int tr2_owner_take(struct tlg_ring *ring)
{
	uint32_t word = tr2_load_rlx(&ring->owner.word); /* relaxed: the exchange below decides */

	if (word && tr2_owner_lives(word))
		return -1;
	/* [M22] acquire: what the last owner did with the ring.  Pairs with tr2_owner_release() */
	if (!tr2_cas_acq_rel(&ring->owner.word, word, (uint32_t)tr2_sys_gettid()))
		return -1;
	return word != 0;
}

static inline void tr2_owner_release(struct tlg_ring *ring)
{
	tr2_store_rel(&ring->owner.word, 0); /* [M22] release: what the owner did.  Pairs with tr2_owner_take() */
}

static inline int tr2_owner_make(struct tlg_ring *ring)
{
	return tr2_owner_take(ring) ? EBUSY : 0;
}

static inline int tr2_owner_seems_gone(const struct tlg_ring *ring)
{
	(void)ring;
	return 1;
}
#endif

#endif
