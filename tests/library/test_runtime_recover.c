/* SPDX-License-Identifier: MIT */
/* What is left of a process that was killed: all of it, once; and reading it harms nobody. */
#include "t2test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect.h"
#include "tlg_ring.h"
#include "trace2.h"
#include "traced.h"
#include "recover/t2x_ring_copy.h"

enum { THREADS = 3, MOST = 100000, FEW = 5, MANY = 60000 };

static unsigned char g_seen[THREADS][MOST];      /* how often each number of each thread was found */
static uint64_t g_hits, g_torn, g_lost;

/* A checkpoint of ours: a data_intmax whose value is thread * MOST + number, twice. */
static void count_hit(const struct tlg_event *event)
{
	int64_t value = event[1].u.value.value;

	g_hits++;
	if (!(event->flags & TLG_HAS_INFO) || tlg_event_type(&event[1]) != TLG_VALUE || value < 0)
		return;
	if (value >= (int64_t)THREADS * MOST)
		g_torn++;
	else
		g_seen[value / MOST][value % MOST]++;
}

static void count_block(void *unused, const struct t2x_block *block)
{
	(void)unused;
	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		if (tlg_event_type(event) == TLG_HIT && block->tid != TLG_NO_THREAD)
			count_hit(event);
		if (tlg_event_type(event) == TLG_LOSS && event->u.loss.reason == TLG_LOSS_WRITE)
			g_lost = event->u.loss.count;
	}
}

static struct t2x_salvage_totals count_all(const char *ring, uint32_t live)
{
	memset(g_seen, 0, sizeof(g_seen));
	g_hits = g_torn = g_lost = 0;
	return collect(ring, live, count_block, NULL);
}

static void assert_once(unsigned thread, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(g_seen[thread][i], 1);
	for (unsigned i = n; i < MOST; i++)
		assert_int_equal(g_seen[thread][i], 0);
}

/* ---- programs ----------------------------------------------------------------------------------- */

static void record(unsigned thread, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		trace2_data_intmax("t", NULL, "n", (intmax_t)thread * MOST + i);
		if (i % 1000 == 999)
			trace2_flush();
	}
}

static void *run_thread(void *number)
{
	trace2_thread_start("worker");
	record((unsigned)(uintptr_t)number, MANY);
	return NULL;
}

static int killed_early(void *unused)
{
	(void)unused;
	trace2_initialize();
	record(0, FEW);
	raise(SIGKILL);
	return 1;
}

static int killed_late(void *unused)
{
	pthread_t threads[THREADS];

	(void)unused;
	trace2_initialize();
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_thread, (void *)i);
	record(0, MANY);
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	trace2_data_intmax("t", NULL, "n", MANY);
	raise(SIGKILL);
	return 1;
}

/* A flight recorder: the latest is in the ring; two regions are open that were entered long before. */
static int killed_in_flight(void *asks)
{
	trace2_initialize();
	trace2_region_enter("t", "outer", NULL);
	trace2_region_enter("t", "inner", NULL);
	record(0, MANY);
	if (asks) {
		trace2_snapshot("t");
		for (unsigned i = MANY; i < 2 * MANY; i++)
			trace2_data_intmax("t", NULL, "n", i);
	}
	raise(SIGKILL);
	return 1;
}

/* What is written until then is in the file; from then on it cannot grow. */
static int ended_on_a_full_disk(void *unused)
{
	struct rlimit limit;
	struct stat st;

	(void)unused;
	trace2_initialize();
	record(0, FEW);
	trace2_flush();
	if (stat(t.raw, &st) || getrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	limit.rlim_cur = (rlim_t)st.st_size;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 2;
	record(1, FEW + 1);
	return 0;
}

static int ended(void *unused)
{
	(void)unused;
	trace2_initialize();
	record(0, FEW);
	return 0;
}

/* ---- ring files --------------------------------------------------------------------------------- */

/* The tests' own directory is $XDG_RUNTIME_DIR; a killed child leaves one file in it. */
static int setup(void **state)
{
	int error = traced_setup(state);

	if (!error)
		error = setenv("XDG_RUNTIME_DIR", t.dir, 1);
	return error;
}

static void find_ring(char path[256])
{
	path[0] = '\0';
	collect_find(0, path, 256);
}

static void run_killed(int (*program)(void *), char ring[256])
{
	traced_run(&t, program, NULL, NULL);
	assert_true(WIFSIGNALED(t.status));
	find_ring(ring);
	assert_string_not_equal(ring, "");
}

/* ---- tests -------------------------------------------------------------------------------------- */

static void test_recover_process_killed_before_its_first_write_gives_all(void **state)
{
	struct t2x_salvage_totals sum;
	char ring[256];

	(void)state;
	run_killed(killed_early, ring);
	sum = count_all(ring, 0);
	assert_int_equal(sum.hits, g_hits);
	assert_int_equal(sum.in_flight, 0);
	assert_int_equal(g_torn, 0);
	assert_once(0, FEW);
}

static void test_recover_process_killed_later_gives_file_and_ring_once(void **state)
{
	struct t2x_salvage_totals sum;
	char ring[256];

	(void)state;
	run_killed(killed_late, ring);
	sum = count_all(ring, 0);
	assert_true(sum.hits < g_hits);
	assert_int_equal(g_torn, 0);
	assert_once(0, MANY + 1);
	for (unsigned i = 1; i < THREADS; i++)
		assert_once(i, MANY);
}

/* The last write had arrived, or part of it, but the ring file does not say so yet. */
static void test_recover_file_longer_than_its_recovery_point_gives_all_once(void **state)
{
	struct tlg_ring_file head;
	char ring[256];
	int fd;

	(void)state;
	run_killed(killed_late, ring);
	fd = open(ring, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &head, sizeof(head), 0), sizeof(head));
	assert_true(head.written > 2);
	head.written--;
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	close(fd);
	count_all(ring, 0);
	for (unsigned thread = 0; thread < THREADS; thread++)
		for (unsigned i = 0; i < MOST; i++)
			assert_true(g_seen[thread][i] <= 1);
}

static void test_recover_without_the_file_gives_what_the_ring_has(void **state)
{
	struct t2x_salvage_totals sum;
	char ring[256];

	(void)state;
	run_killed(killed_late, ring);
	unlink(t.raw);
	sum = count_all(ring, 0);
	assert_int_equal(sum.hits, g_hits);
	assert_true(sum.hits > 0);
	assert_int_equal(g_torn, 0);
}

/* ---- flight recorders --------------------------------------------------------------------------- */

static struct {
	uint64_t hits, lost, open, named_open, sources;
	int64_t first, last;                   /* values: the first of those behind a gap; the last */
	unsigned char scopes[64];              /* are posted */
} g_flight;

static void follow_event(const struct tlg_event *event)
{
	switch (tlg_event_type(event)) {
	case TLG_FLOC:
		g_flight.sources++;
		break;
	case TLG_SLOC:
		if (event->u.sourceloc.scopeIndex < sizeof(g_flight.scopes))
			g_flight.scopes[event->u.sourceloc.scopeIndex] = 1;
		break;
	case TLG_OPEN:
		g_flight.open++;
		g_flight.named_open += event->u.open.scopeIndex && g_flight.scopes[event->u.open.scopeIndex % 64];
		break;
	case TLG_LOSS:
		if (event->u.loss.reason == TLG_LOSS_OVERWRITTEN && event->u.loss.count > g_flight.lost)
			g_flight.lost = event->u.loss.count;
		break;
	case TLG_HIT:
		g_flight.hits++;
		if (!(event->flags & TLG_HAS_INFO) || tlg_event_type(&event[1]) != TLG_VALUE)
			break;
		if (g_flight.first < 0)
			g_flight.first = event[1].u.value.value;
		else if (event[1].u.value.value != g_flight.last + 1)
			g_flight.first = event[1].u.value.value;   /* behind what a snapshot has */
		g_flight.last = event[1].u.value.value;
		break;
	default:
		break;
	}
}

static void follow_block(void *unused, const struct t2x_block *block)
{
	(void)unused;
	for (unsigned i = 0; i < block->count; i++)
		follow_event(&block->events[i]);
}

static void recover_flight(void *asks)
{
	char ring[256];

	memset(&g_flight, 0, sizeof(g_flight));
	g_flight.first = -1;
	traced_run(&t, killed_in_flight, asks, (const char *const[]){
		"TRACE2_RAW_POLICY=overwrite", "TRACE2_RAW_RING=128k", NULL });
	assert_true(WIFSIGNALED(t.status));
	find_ring(ring);
	assert_string_not_equal(ring, "");
	collect(ring, 0, follow_block, NULL);
}

static void test_recover_flight_recorder_gives_the_latest_events_and_open_regions(void **state)
{
	(void)state;
	recover_flight(NULL);
	assert_int_equal(g_flight.last, MANY - 1);
	assert_in_range(g_flight.first, 1, MANY - 1);
	assert_int_equal(g_flight.hits, MANY - g_flight.first + 1);   /* version is kept */
	assert_int_equal(g_flight.hits + g_flight.lost, MANY + 3);   /* version, two regions */
	assert_int_equal(g_flight.open, 2);
	assert_int_equal(g_flight.named_open, 2);
	assert_true(g_flight.sources > 0);
}

static void test_recover_flight_recorder_continues_after_its_snapshot(void **state)
{
	(void)state;
	recover_flight((void *)1);
	assert_int_equal(g_flight.last, 2 * MANY - 1);
	assert_in_range(g_flight.first, MANY, 2 * MANY - 1);
	assert_int_equal(g_flight.hits + g_flight.lost, 2 * MANY + 4);   /* the event of the snapshot */
	assert_true(g_flight.open >= 2);
	assert_int_equal(g_flight.named_open, g_flight.open);
}

/* A file that claims as much as there can be, and has nothing of it. */
static void test_ring_copy_takes_no_more_than_is_there(void **state)
{
	const struct tlg_ring_file head = {
		.magic = TLG_RING_MAGIC, .layout = TLG_RING_LAYOUT, .entry_size = TLG_EVENT_SIZE,
		.chunks_at = 65536, .tables_at = 65536 + (uint64_t)TLG_MAX_CHUNKS * TLG_CHUNK_STRIDE,
		.rings_at = 65536 + (uint64_t)TLG_MAX_CHUNKS * TLG_CHUNK_STRIDE + TLG_TABLES_BYTES,
		.chunks_used = TLG_MAX_CHUNKS, .rings_used = 1,
	};
	int fd = memfd_create("ring", 0);
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(ftruncate(fd, (off_t)head.tables_at + TLG_TABLES_BYTES), 0);
	assert_null(t2x_ring_copy(&fd));
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, head.tables_at + TLG_TABLES_BYTES);
	assert_in_range(st.st_blocks * 512, 1, 1 << 20);
	close(fd);
}

static void test_ring_of_a_process_that_ended_is_gone(void **state)
{
	char ring[256];

	(void)state;
	traced_run(&t, ended, NULL, NULL);
	find_ring(ring);
	assert_string_equal(ring, "");
}

static void test_ring_of_a_process_whose_end_was_not_written_reports_what_is_lost(void **state)
{
	struct statvfs system;
	char ring[256];

	(void)state;
	assert_int_equal(statvfs(t.dir, &system), 0);
	traced_run(&t, ended_on_a_full_disk, NULL, NULL);
	assert_int_equal(t.status, 0);
	if (system.f_bavail < system.f_blocks / 2 + system.f_blocks / 8)
		skip();   /* where memory may be scarce it does not stay */
	find_ring(ring);
	assert_string_not_equal(ring, "");
	assert_int_equal(count_all(ring, 0).damaged, 0);
	assert_once(0, FEW);
	assert_int_equal(g_lost, FEW + 2);   /* and the one of the end */
	unlink(ring);
}

/* There is nothing that it could be joined with. */
static void test_ring_of_a_process_without_a_file_is_gone(void **state)
{
	const char *const settings[] = { "TRACE2_RAW=/dev/full", NULL };
	char ring[256];

	(void)state;
	traced_run(&t, ended, NULL, settings);
	find_ring(ring);
	assert_string_equal(ring, "");
}

static void test_ring_of_a_running_process_is_read_only_live(void **state)
{
	int hold[2];
	char ring[256] = "", byte = 0;
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(pipe(hold), 0);
	child = fork();
	if (!child) {
		setenv("TRACE2_RAW", t.raw, 1);
		trace2_initialize();
		record(0, MANY);
		_exit(write(hold[1], &byte, 1) == 1 && pause());
	}
	assert_int_equal(read(hold[0], &byte, 1), 1);
	find_ring(ring);
	assert_int_equal(count_all(ring, 0).hits, UINT64_MAX);
	count_all(ring, (uint32_t)child);
	assert_once(0, MANY);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(hold[0]);
	close(hold[1]);
	find_ring(ring);
	assert_int_equal(count_all(ring, (uint32_t)child).hits, UINT64_MAX);
	assert_true(count_all(ring, 0).hits < MANY);
	assert_once(0, MANY);
}

/* Return  the byte that was there.  The file is closed again: who has it open for writing counts as its process */
static unsigned char poke(const char *ring, unsigned at, unsigned value)
{
	unsigned char was, now = (unsigned char)value;
	int fd = open(ring, O_RDWR | O_CLOEXEC);

	assert_int_equal(pread(fd, &was, 1, at), 1);
	assert_int_equal(pwrite(fd, &now, 1, at), 1);
	close(fd);
	return was;
}

/* Whatever is in it, reading it ends, and finds no more than there is room for. */
static void test_ring_with_any_byte_changed_is_read_without_harm(void **state)
{
	static const unsigned values[] = { 0x00, 0xff, 0x80, 0x01 };
	char ring[256];

	(void)state;
	run_killed(killed_early, ring);
	for (unsigned at = 0; at < 2 * 4096; at += at < 256 || (at >= 4096 && at < 5120) ? 1 : 61) {
		for (unsigned i = 0; i < 4; i++) {
			unsigned char was = poke(ring, at, values[i]);
			count_all(ring, 0);
			assert_true(g_hits == 0 || g_hits < 4 * FEW);
			poke(ring, at, was);
		}
	}
	assert_int_equal(chmod(ring, 0600), 0);
	assert_int_equal(truncate(ring, 5000), 0);
	assert_int_equal(count_all(ring, 0).hits, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, traced_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_recover_process_killed_before_its_first_write_gives_all),
		TEST(test_recover_process_killed_later_gives_file_and_ring_once),
		TEST(test_recover_file_longer_than_its_recovery_point_gives_all_once),
		TEST(test_recover_without_the_file_gives_what_the_ring_has),
		TEST(test_recover_flight_recorder_gives_the_latest_events_and_open_regions),
		TEST(test_recover_flight_recorder_continues_after_its_snapshot),
		TEST(test_ring_of_a_process_that_ended_is_gone),
		TEST(test_ring_of_a_process_whose_end_was_not_written_reports_what_is_lost),
		TEST(test_ring_of_a_process_without_a_file_is_gone),
		TEST(test_ring_copy_takes_no_more_than_is_there),
		TEST(test_ring_of_a_running_process_is_read_only_live),
		TEST(test_ring_with_any_byte_changed_is_read_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
