/* SPDX-License-Identifier: MIT */
/* The process's memory for events: shared by all threads, bounded, given back; what a flight recorder keeps of it. */
#include "t2test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "flood.h"
#include "trace2.h"
#include "traced.h"
#include "ring/tr2_thread.h"

enum { STACK = 65536, FLOOD = 100000 };

/* A sanitizer's own memory takes more addresses than the limits here leave. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_IF_SANITIZED() skip()
#else
#define SKIP_IF_SANITIZED() ((void)0)
#endif

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_reported = PTHREAD_COND_INITIALIZER, g_over = PTHREAD_COND_INITIALIZER;
static int g_idle, g_is_over;
static long g_events;

static void wait_until_over(void)
{
	pthread_mutex_lock(&g_mutex);
	g_idle++;
	pthread_cond_signal(&g_reported);
	while (!g_is_over)
		pthread_cond_wait(&g_over, &g_mutex);
	pthread_mutex_unlock(&g_mutex);
}

static void *record_and_stay(void *unused)
{
	flood(0, g_events);
	wait_until_over();
	return unused;
}

static void begin(pthread_t *thread, void *(*run)(void *))
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(thread, &attributes, run, NULL))
		abort();
	pthread_attr_destroy(&attributes);
}

static void await_idle(int n)
{
	pthread_mutex_lock(&g_mutex);
	while (g_idle < n)
		pthread_cond_wait(&g_reported, &g_mutex);
	pthread_mutex_unlock(&g_mutex);
}

static void end_all(pthread_t *threads, int n)
{
	pthread_mutex_lock(&g_mutex);
	g_is_over = 1;
	pthread_cond_broadcast(&g_over);
	pthread_mutex_unlock(&g_mutex);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void read_back(void)
{
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.bad_blocks, 0);
	assert_int_equal(file.hits, file.end_stored);
}

/* ---- threads ------------------------------------------------------------------------------------- */

enum { IDLE = 300, IDLE_EVENTS = 1000, IDLE_KIB = 1024 + 16 * IDLE + IDLE + 256, MANY = 4200, VISITORS = 500 };

/* Return  0 if the ring file took no more than it may */
static int run_idle(void *unused)
{
	pthread_t *threads = calloc(IDLE, sizeof(*threads));
	struct stat st;
	int error;

	(void)unused;
	g_events = IDLE_EVENTS;
	trace2_initialize();
	for (int i = 0; i < IDLE; i++) {
		begin(&threads[i], record_and_stay);
		await_idle(i + 1);
	}
	error = stat(tr2_shm_path(), &st) || st.st_blocks / 2 > IDLE_KIB;
	end_all(threads, IDLE);
	return error;
}

/* One after the other records and stays: what the idle ones have is all that is not there for the last. */
static void test_pool_idle_threads_hold_little_memory(void **state)
{
	(void)state;
	traced_run(&t, run_idle, NULL, (const char *const[]){
		"TRACE2_RAW_POLICY=block", "TRACE2_RAW_MEMORY=1m", NULL });
	read_back();
	assert_int_equal(file.lost, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), IDLE * IDLE_EVENTS);
}

/* Fills chunks again and again, until all is over. */
static void *record_in_bursts(void *unused)
{
	const struct timespec pause = { 0, 5000000 };

	for (int is_over = 0; !is_over; nanosleep(&pause, NULL)) {
		flood(0, TLG_CHUNK_EVENTS);
		pthread_mutex_lock(&g_mutex);
		is_over = g_is_over;
		pthread_mutex_unlock(&g_mutex);
	}
	return unused;
}

/* Return  1 as soon as the file has that label; 0: not in a minute */
static int comes_into_file(const char *path, const char *label)
{
	const struct timespec pause = { 0, 50000000 };
	int has_come = 0;

	for (int i = 0; i < 1200 && !has_come; i++) {
		struct raw_file now = { 0 };
		nanosleep(&pause, NULL);
		has_come = !raw_read(path, &now) && raw_count(&now, TLG_STYLE_data_intmax, label);
		raw_free(&now);
	}
	return has_come;
}

static int run_beside_bursts(void *path)
{
	pthread_t *threads = calloc(IDLE + 1, sizeof(*threads));
	int is_there;

	g_events = 2;
	trace2_initialize();
	for (int i = 0; i < IDLE; i++)
		begin(&threads[i], record_and_stay);
	await_idle(IDLE);
	begin(&threads[IDLE], record_in_bursts);
	trace2_data_intmax("test", NULL, "few", 1);
	is_there = comes_into_file(path, "few");
	end_all(threads, IDLE + 1);
	return !is_there;
}

/* However often the drain is called for what busy ones have filled. */
static void test_pool_few_events_beside_busy_threads_are_not_left_behind(void **state)
{
	(void)state;
	traced_run(&t, run_beside_bursts, t.raw, NULL);
	assert_int_equal(t.status, 0);
}

static int run_many_at_once(void *unused)
{
	pthread_t *threads = calloc(MANY, sizeof(*threads));

	(void)unused;
	g_events = 2;
	trace2_initialize();
	for (int i = 0; i < MANY; i++)
		begin(&threads[i], record_and_stay);
	await_idle(MANY);
	end_all(threads, MANY);
	return 0;
}

static void test_pool_alone_limits_the_number_of_threads(void **state)
{
	(void)state;
	traced_run(&t, run_many_at_once, NULL, NULL);
	read_back();
	assert_int_equal(file.lost, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), MANY * 2);
}

static void *record_and_end(void *unused)
{
	flood(0, g_events);
	return unused;
}

static int run_visitors(void *unused)
{
	pthread_t thread;

	(void)unused;
	g_events = 400;
	trace2_initialize();
	for (int i = 0; i < VISITORS; i++) {
		begin(&thread, record_and_end);
		pthread_join(thread, NULL);
	}
	return tr2_g_shm.head->rings_used > VISITORS / 4;
}

/* They end without a word. */
static void test_pool_reclaims_the_memory_of_dead_threads(void **state)
{
	(void)state;
	traced_run(&t, run_visitors, NULL, (const char *const[]){
		"TRACE2_RAW_POLICY=block", "TRACE2_RAW_MEMORY=256k", NULL });
	read_back();
	assert_int_equal(file.lost, 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), VISITORS * 400);
}

/* ---- settings and limits ----------------------------------------------------------------------------- */

/* data  the bytes that are to be the bound, besides what each thread has for itself */
static int run_text(void *data)
{
	static char text[900001];

	memset(text, 'x', sizeof(text) - 1);
	trace2_initialize();
	if (tr2_pool_bound() / (*(const size_t *)data / 4096) != 1)
		return 1;
	trace2_data_string("test", NULL, "long", text);
	return !trace2_is_enabled();
}

/* A text that fits into the default; how much of it 256 KiB hold depends on how soon they are written. */
static void test_raw_memory_bounds_what_all_threads_hold(void **state)
{
	static const struct { const char *setting; size_t bytes; } rows[] = {
		{ "TRACE2_RAW_MEMORY=", 64 << 20 }, { "TRACE2_RAW_MEMORY=x", 64 << 20 },
		{ "TRACE2_RAW_MEMORY=1g", 1 << 30 }, { "TRACE2_RAW_MEMORY=2m", 2 << 20 },
		{ "TRACE2_RAW_MEMORY=256k", 256 << 10 }, { "TRACE2_RAW_MEMORY=1", 256 << 10 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unlink(t.raw);
		traced_run(&t, run_text, (void *)(uintptr_t)&rows[i].bytes,
			   (const char *const[]){ rows[i].setting, NULL });
		read_back();
		assert_true(!file.lost || rows[i].bytes < 1 << 20);
		raw_free(&file);
	}
}

struct limits { rlim_t addresses, file; int is_reported; };

static int run_limited(void *data)
{
	const struct limits *limits = data;

	if (setrlimit(RLIMIT_AS, &(const struct rlimit){ limits->addresses, limits->addresses }) ||
	    setrlimit(RLIMIT_FSIZE, &(const struct rlimit){ limits->file, limits->file }))
		return 1;
	trace2_initialize();
	flood(0, 5000);
	return !trace2_is_enabled();
}

static void test_raw_memory_under_a_limit_is_reduced_and_reported(void **state)
{
	static struct limits rows[] = {
		{ RLIM_INFINITY, RLIM_INFINITY, 0 }, { 100 << 20, RLIM_INFINITY, 1 }, { 64 << 20, RLIM_INFINITY, 1 },
		{ RLIM_INFINITY, 32 << 20, 1 }, { RLIM_INFINITY, 1 << 20, 0 },   /* the last: no file at all */
	};

	(void)state;
	SKIP_IF_SANITIZED();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unlink(t.raw);
		traced_run(&t, run_limited, &rows[i], (const char *const[]){ "TRACE2_DST_DEBUG=1", NULL });
		read_back();
		assert_int_equal(traced_count("less memory for rings"), rows[i].is_reported);
		assert_int_equal(file.lost, 0);
		assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "i"), 5000);
		raw_free(&file);
	}
}

/* ---- a flight recorder --------------------------------------------------------------------------------- */

static const char *const flight[] = { "TRACE2_RAW_POLICY=overwrite", "TRACE2_RAW_RING=256k", NULL };

static int run_flight(void *argument)
{
	const char *argv[] = { "program", argument, NULL };

	trace2_initialize();
	trace2_cmd_start(argv);
	trace2_cmd_name("name");
	for (int i = 0; i < 2; i++) {
		flood(0, FLOOD);
		trace2_snapshot("now");
	}
	return 0;
}

static void test_pool_flight_recorder_keeps_its_version_and_start(void **state)
{
	static char argument[8001], text[9000];

	(void)state;
	memset(argument, 'a', sizeof(argument) - 1);
	traced_run(&t, run_flight, argument, flight);
	read_back();
	assert_int_equal(raw_count(&file, TLG_STYLE_version, NULL), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_start, NULL), 1);
	assert_int_equal(raw_count(&file, TLG_STYLE_cmd_name, NULL), 1);
	assert_int_equal(raw_text(&file, TLG_STYLE_start, text, sizeof(text)), 7 + 8000);
	assert_int_equal(file.hits + file.lost, 3 + 2 * FLOOD + 2 + 1);   /* two snapshots, atexit */
	assert_int_equal(file.lost, raw_lost(&file, 0, TLG_LOSS_OVERWRITTEN));
}

enum { POOL_THREADS = 8, POOL_EVENTS = 20000 };

static int run_pool(void *unused)
{
	pthread_t *threads = calloc(POOL_THREADS, sizeof(*threads));

	(void)unused;
	g_events = POOL_EVENTS;
	trace2_initialize();
	for (int i = 0; i < POOL_THREADS; i++)
		begin(&threads[i], record_and_stay);
	await_idle(POOL_THREADS);
	trace2_snapshot("now");
	end_all(threads, POOL_THREADS);
	return 0;
}

/* Each may have half of the memory: what they get is less, and nobody loses the newest for it. */
static void test_pool_flight_recorder_shares_its_memory(void **state)
{
	(void)state;
	traced_run(&t, run_pool, NULL, (const char *const[]){
		"TRACE2_RAW_POLICY=overwrite", "TRACE2_RAW_MEMORY=1m", "TRACE2_RAW_RING=512k", NULL });
	read_back();
	assert_int_equal(file.lost, file.lost_by[TLG_LOSS_OVERWRITTEN]);
	assert_int_equal(file.hits + file.lost, POOL_THREADS * POOL_EVENTS + 3);   /* version, snapshot, atexit */
	for (unsigned tid = 1; tid <= POOL_THREADS; tid++)
		assert_in_range(raw_stored(&file, tid), 170 / 2, POOL_EVENTS - 1);
}

static struct tr2_thread *find_other(void)
{
	struct tr2_thread *thread = tr2_thread_first();

	while (thread == tr2_self)
		thread = tr2_thread_next(thread);
	return thread;
}

/* A thread that is stopped while it overwrites holds the tail of its ring for as long as that lasts: here for ever. */
static int run_stopped(void *unused)
{
	pthread_t *thread = malloc(sizeof(*thread));
	struct tr2_thread *other;

	(void)unused;
	alarm(300);
	g_events = 1000;
	trace2_initialize();
	begin(thread, record_and_stay);
	await_idle(1);
	other = find_other();
	tr2_store_rlx(&other->reader.lock, 1); /* relaxed: it is idle */
	trace2_snapshot("while it is stopped");
	tr2_store_rlx(&other->reader.lock, 0); /* relaxed: as above */
	trace2_snapshot("and again");
	end_all(thread, 1);
	return 0;
}

static void test_pool_stopped_thread_is_left_to_the_next_snapshot(void **state)
{
	(void)state;
	traced_run(&t, run_stopped, NULL, flight);
	read_back();
	assert_int_equal(raw_count(&file, TLG_STYLE_snapshot, NULL), 2);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "i", 1000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_pool_idle_threads_hold_little_memory),
		TRACED_TEST(test_pool_few_events_beside_busy_threads_are_not_left_behind),
		TRACED_TEST(test_pool_alone_limits_the_number_of_threads),
		TRACED_TEST(test_pool_reclaims_the_memory_of_dead_threads),
		TRACED_TEST(test_raw_memory_bounds_what_all_threads_hold),
		TRACED_TEST(test_raw_memory_under_a_limit_is_reduced_and_reported),
		TRACED_TEST(test_pool_flight_recorder_keeps_its_version_and_start),
		TRACED_TEST(test_pool_flight_recorder_shares_its_memory),
		TRACED_TEST(test_pool_stopped_thread_is_left_to_the_next_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
