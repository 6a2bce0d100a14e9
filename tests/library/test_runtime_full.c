/* SPDX-License-Identifier: MIT */
/* The rings' file system is full for a while: what cannot be recorded is counted, what comes later is not lost. */
#include "t2test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tlg_ring.h"
#include "trace2.h"
#include "traced.h"
#include "ring/tr2_shm.h"

enum { VALUES = 20000, FEW = 7, POPULATE_WRITE = 23 };

static _Atomic int is_full, is_old;   /* for the drain, too: the file system; the kernel: older than 5.14 */

int __wrap_tr2_sys_advise(void *address, size_t bytes, int advice);
int __real_tr2_sys_advise(void *address, size_t bytes, int advice);

int __wrap_tr2_sys_advise(void *address, size_t bytes, int advice)
{
	if (is_full && advice == POPULATE_WRITE) {
		errno = ENOMEM;
		return -1;
	}
	if (is_old && advice == POPULATE_WRITE) {
		errno = EINVAL;
		return -1;
	}
	return __real_tr2_sys_advise(address, bytes, advice);
}

static int run_thread(void *(*function)(void *), void *data)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, function, data) || pthread_join(thread, NULL);
}

/* ---- no ring ------------------------------------------------------------------------------------------ */

/* Everything that looks for its ring before it reserves. */
static void record_each_kind(const char *format)
{
	char name[] = "made up";

	trace2_region_enter("test", "literal", NULL);
	trace2_region_leave("test", name, NULL);
	trace2_step("test", "literal");
	trace2_data_intmax("test", NULL, "literal", 1);
	trace2_data_intmax("test", NULL, name, 1);
	trace2_data_string("test", NULL, "literal", "text");
	trace2_data_string("test", NULL, name, "text");
	trace2_printf("literal %d", 1);
	trace2_printf("not deferred %Lf", 1.0L);
	trace2_printf_fl(__FILE__, __LINE__, format, 1);
	trace2_cmd_mode(name);
	/* no checkpoints */
	trace2_timer_start(TRACE2_TIMER_ID_TEST1);
	trace2_timer_stop(TRACE2_TIMER_ID_TEST1);
	trace2_counter_add(TRACE2_COUNTER_ID_TEST1, 1);
}

enum { KINDS = 11, TIMES = 3 };

static void *record_nowhere(void *data)
{
	trace2_thread_start("nowhere");
	for (int i = 0; i < TIMES; i++)
		record_each_kind(data);
	trace2_thread_exit();
	return NULL;
}

static void *record_few(void *data)
{
	trace2_thread_start("somewhere");
	for (int i = 0; i < FEW; i++)
		trace2_data_intmax("test", NULL, "value", i);
	trace2_thread_exit();
	return data;
}

static int run_without_rings(void *data)
{
	char format[] = "made up %d";

	(void)data;
	trace2_initialize();
	is_full = 1;
	if (run_thread(record_nowhere, format))
		return 1;
	is_full = 0;
	return run_thread(record_few, NULL);
}

static void test_full_thread_without_a_ring_counts_each_checkpoint_once(void **state)
{
	(void)state;
	traced_run(&t, run_without_rings, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(file.lost_by[TLG_LOSS_NORING], KINDS * TIMES + 2);
	assert_int_equal(file.lost, KINDS * TIMES + 2);
}

static int run_many_without_rings(void *data)
{
	char format[] = "made up %d";

	(void)data;
	trace2_initialize();
	is_full = 1;
	for (int i = 0; i < TLG_MAX_RINGS / (KINDS * TIMES) + 1; i++)
		if (run_thread(record_nowhere, format))
			return 1;
	is_full = 0;
	return run_thread(record_few, NULL);
}

static void test_full_thread_that_begins_later_records(void **state)
{
	(void)state;
	traced_run(&t, run_many_without_rings, NULL, NULL);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_not_once(&file, TLG_STYLE_data_intmax, "value", FEW), 0);
}

/* ---- no chunk ----------------------------------------------------------------------------------------- */

/* data  NULL: main does it, with the chunk that it has; else a thread that has none */
static void *record_on(void *data)
{
	if (data)
		trace2_thread_start("on");
	is_full = 1;
	for (int i = 0; i < VALUES; i++)
		trace2_data_intmax("test", NULL, "full", i);
	is_full = 0;
	for (int i = 0; i < VALUES; i++)
		trace2_data_intmax("test", NULL, "value", i);
	trace2_flush();
	if (data)
		trace2_thread_exit();
	return NULL;
}

static int run_without_chunks(void *data)
{
	trace2_initialize();
	if (data)
		return run_thread(record_on, data);
	record_on(NULL);
	return 0;
}

static void test_full_thread_records_again_once_there_is_space(void **state)
{
	(void)state;
	for (long in_thread = 0; in_thread < 2; in_thread++) {
		traced_run(&t, run_without_chunks, (void *)in_thread, NULL);
		assert_int_equal(t.status, 0);
		assert_int_equal(raw_read(t.raw, &file), 0);
		assert_true(raw_count(&file, TLG_STYLE_data_intmax, "value") > 0);
		assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "value") +
				 raw_count(&file, TLG_STYLE_data_intmax, "full") + file.lost, 2 * VALUES);
		assert_int_equal(remove(t.raw), 0);
		raw_free(&file);
	}
}

/* ---- old kernels, where memory is committed by the file's name ----------------------------------------- */

/* data  not NULL: what has the ring file's name is not the ring file any more */
static int run_on_old_kernel(void *data)
{
	static const char words[] = "somebody else's";
	struct stat st;
	int fd = -1;

	is_old = 1;
	trace2_initialize();
	if (data) {
		unlink(tr2_shm_path());
		fd = open(tr2_shm_path(), O_RDWR | O_CREAT | O_EXCL, 0600);
		if (write(fd, words, sizeof(words)) != sizeof(words))
			return 1;
	}
	for (int i = 0; i < VALUES; i++)
		trace2_data_intmax("test", NULL, "value", i);
	trace2_flush();
	return data && (fstat(fd, &st) || st.st_size != sizeof(words));
}

static void test_full_old_kernel_commits_the_ring_file_and_no_other(void **state)
{
	(void)state;
	for (long is_other = 0; is_other < 2; is_other++) {
		traced_run(&t, run_on_old_kernel, (void *)is_other, NULL);
		assert_int_equal(t.status, 0);
		assert_int_equal(raw_read(t.raw, &file), 0);
		assert_int_equal(file.hits + file.lost, VALUES + 2);
		assert_int_equal(file.lost != 0, is_other);
		assert_int_equal(remove(t.raw), 0);
		raw_free(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_full_thread_without_a_ring_counts_each_checkpoint_once),
		TRACED_TEST(test_full_thread_that_begins_later_records),
		TRACED_TEST(test_full_thread_records_again_once_there_is_space),
		TRACED_TEST(test_full_old_kernel_commits_the_ring_file_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
