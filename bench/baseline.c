/* SPDX-License-Identifier: MIT */
#include "baseline.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

enum { RING_EVENTS = 32768, EVENT_BYTES = 24 };

static uint64_t *rings[BENCH_THREADS];

static void *map_ring(void)
{
	size_t bytes = (size_t)RING_EVENTS * EVENT_BYTES;
	int fd = memfd_create("bench", MFD_CLOEXEC);
	void *ring;

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		bench_fail("memfd");
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		bench_fail("mmap");
	close(fd);
	memset(ring, 1, bytes);
	return ring;
}

void baseline_init(void)
{
	for (unsigned i = 0; i < BENCH_THREADS; i++)
		rings[i] = map_ring();
}

void baseline_nothing(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		bench_barrier();
}

void baseline_cycles(unsigned thread, unsigned ops)
{
	uint64_t sum = thread;

	for (unsigned i = 0; i < ops; i += 8)
		for (unsigned k = 0; k < 8; k++) {
			sum += ops;
			bench_keep(sum);
		}
}

void baseline_clock(unsigned thread, unsigned ops)
{
	(void)thread;
	for (unsigned i = 0; i < ops; i++)
		bench_keep(bench_ticks());
}

void baseline_store(unsigned thread, unsigned ops)
{
	uint64_t *ring = rings[thread];

	for (unsigned i = 0; i < ops; i++) {
		uint64_t *event = ring + (size_t)(i % RING_EVENTS) * (EVENT_BYTES / sizeof(*ring));

		event[1] = bench_ticks();
		event[2] = i;
		event[0] = ops;
		bench_barrier();
	}
}
