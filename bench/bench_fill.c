/* SPDX-License-Identifier: MIT */
/*
 * bench_fill - makes a large trace of a usual mix of events.
 *
 * usage: bench_fill FILE BYTES
 *
 * Two threads record into FILE until it has BYTES, 24 for each event unless TRACE2_RAW_ENCODING and TRACE2_RAW_LZ4
 * say otherwise.  Prints the number of checkpoints of category "bench" and how long it took.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "bench.h"
#include "trace2.h"

/*
 * Between bursts a thread has everything written, so no ring overflows.  A checkpoint takes 24 bytes or more, and
 * more than 2 compressed: a file that grows slower is not getting what was recorded.
 */
enum { THREADS = 2, BURST_ROUNDS = 1000, HITS_A_ROUND = 9, LEAST_BYTES = 2 };

struct filler {
	pthread_t thread;
	const char *path;
	uint64_t wanted_bytes;
	uint64_t recorded;         /* result */
};

/* A request as a server might trace it: nested regions, numbers, a path, now and then a message. */
static void record_round(uint64_t number)
{
	char path[64];

	trace2_region_enter("bench", "request", NULL);
	trace2_data_intmax("bench", NULL, "number", (intmax_t)number);
	trace2_region_enter("bench", "lookup", NULL);
	snprintf(path, sizeof(path), "objects/%02x/%08x", (unsigned)(number % 256), (unsigned)number);
	trace2_data_string("bench", NULL, "path", path);
	trace2_region_leave("bench", "lookup", NULL);
	trace2_region_enter_printf("bench", "reply", NULL, "to client %d", (int)(number % 100));
	trace2_step("bench", "sent");
	trace2_region_leave("bench", "reply", NULL);
	trace2_region_leave("bench", "request", NULL);
}

static uint64_t file_bytes(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		bench_fail(path);
	return (uint64_t)status.st_size;
}

static void *fill(void *argument)
{
	struct filler *filler = argument;

	trace2_thread_start("filler");
	while (file_bytes(filler->path) < filler->wanted_bytes &&
	       filler->recorded < filler->wanted_bytes / LEAST_BYTES) {
		for (unsigned i = 0; i < BURST_ROUNDS; i++)
			record_round(filler->recorded / HITS_A_ROUND + i);
		filler->recorded += BURST_ROUNDS * HITS_A_ROUND;
		trace2_flush();
	}
	trace2_thread_exit();
	return NULL;
}

static int parse_bytes(const char *text, uint64_t *bytes)
{
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	return !errno && text[0] >= '0' && text[0] <= '9' && !*end;
}

int main(int argc, char **argv)
{
	struct filler fillers[THREADS];
	uint64_t wanted_bytes, recorded = 0, start_ns;

	if (argc != 3 || argv[1][0] != '/' || !parse_bytes(argv[2], &wanted_bytes)) {
		fputs("usage: bench_fill /ABSOLUTE/FILE BYTES\n", stderr);
		return 2;
	}
	if (setenv("TRACE2_RAW", argv[1], 1) || setenv("TRACE2_RAW_LZ4", "0", 0) ||
	    setenv("TRACE2_RAW_ENCODING", "plain", 0))
		bench_fail("setenv");
	trace2_initialize();
	trace2_flush();
	start_ns = bench_now_ns();
	for (unsigned i = 0; i < THREADS; i++) {
		fillers[i] = (struct filler){ .path = argv[1], .wanted_bytes = wanted_bytes };
		if ((errno = pthread_create(&fillers[i].thread, NULL, fill, &fillers[i])) != 0)
			bench_fail("thread");
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(fillers[i].thread, NULL);
		recorded += fillers[i].recorded;
	}
	printf("recorded %" PRIu64 " checkpoints in %.1f s\n", recorded, (double)(bench_now_ns() - start_ns) / 1e9);
	return 0;
}
