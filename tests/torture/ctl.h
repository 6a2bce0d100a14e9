/* SPDX-License-Identifier: MIT */
/*
 * ctl.h - P18: what the programs that are steered and those that steer them know in common, in a file that all map.
 *
 * A slot belongs to one thread of one program: how many of its calls began, how many returned, and of which it is
 * certain that they were recorded: tracing was on before and after the call, and nobody was switching the process
 * meanwhile.  An event's value is its slot and its number.  acked: a command has answered that it wrote so many.
 */
#ifndef CTL_H
#define CTL_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 4096, SLOT_SHIFT = 40, CALLS = 8192, PROCESSES = 1024 };

struct slot {
	_Atomic int32_t pid;
	_Atomic uint32_t is_closed;       /* its program is about to become another one */
	_Atomic uint64_t begun, returned, acked;
	_Atomic uint8_t certain[CALLS / 8];
};

struct process {
	_Atomic int32_t pid;
	_Atomic uint32_t switching, switched;     /* commands under way, and so far, that switch it on or off */
	_Atomic uint32_t is_unsure;       /* one of them has no answer: it may be done at any time */
};

struct counts {
	_Atomic uint32_t slots, processes;
	_Atomic uint32_t is_over;         /* the first program has ended */
	_Atomic uint32_t answered, refused, silent;       /* commands; silent: neither an answer nor an error in time */
	_Atomic uint32_t flushed, longest_ms, scribbled;
	struct process process[PROCESSES];
	struct slot slot[SLOTS];
};

static inline struct counts *map_counts(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *memory;

	if (fd < 0 || ftruncate(fd, sizeof(struct counts)))
		return NULL;
	memory = mmap(NULL, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

/* xorshift64*; state is never 0 */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

#endif
