/* SPDX-License-Identifier: MIT */
/* common.c - the memory that all processes share, and functions that all of them use. */
#include "server.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY = 100 };                    /* the descriptor */

struct shared *shared;
const char *program;

static void map(void)
{
	void *memory = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0);

	if (memory == MAP_FAILED)
		_exit(98);
	shared = memory;
}

void shared_make(void)
{
	int fd = memfd_create("server", 0);

	if (fd < 0 || ftruncate(fd, sizeof(*shared)) || dup2(fd, MEMORY) < 0)
		_exit(97);
	close(fd);
	map();
}

void shared_find(void)
{
	map();
}

unsigned slot_acquire(void)
{
	unsigned slot = __atomic_fetch_add(&shared->used, 1, __ATOMIC_RELAXED);

	if (slot < MOST_SLOTS)
		return slot;
	STORE(shared->used, MOST_SLOTS);
	return MOST_SLOTS;
}

void slot_may_end(struct slot *slot, int status)
{
	for (unsigned i = 0; i < MOST_ENDS; i++) {
		int free = 0;
		if (__atomic_compare_exchange_n(&slot->may_end[i], &free, status + 1, 0, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) || free == status + 1)
			return;
	}
}

void slot_end(pid_t pid, int status)
{
	for (unsigned i = LOAD(shared->used); i-- > 0;) {
		struct slot *slot = &shared->slot[i];
		if (LOAD(slot->pid) != (uint32_t)pid || LOAD(slot->is_over))
			continue;
		slot->status = status;
		__atomic_store_n(&slot->is_over, 1, __ATOMIC_RELEASE);
		return;
	}
}

/* Each process has its own sequence (splitmix64). */
unsigned random_below(unsigned n)
{
	static uint64_t state;
	static pid_t owner;
	uint64_t z;

	if (owner != getpid()) {
		owner = getpid();
		state = shared->seed ^ (uint64_t)owner * UINT64_C(0x2545f4914f6cdd1d);
	}
	z = state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((z ^ z >> 31) >> 32) % n;
}

void pause_ms(long ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
