/* SPDX-License-Identifier: MIT */
/* trace2_flush() on a machine so busy that the thread gets no processor for long. */
#include "t2test.h"

#include <time.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

static int loses_processor;   /* in the next flush, once it has looked at the clock */

uint64_t __wrap_tr2_collect_moved(void);
uint64_t __real_tr2_collect_moved(void);

uint64_t __wrap_tr2_collect_moved(void)
{
	const struct timespec pause = { 0, 100000000 };   /* longer than a flush waits for what does not come */

	if (loses_processor)
		nanosleep(&pause, NULL);
	loses_processor = 0;
	return __real_tr2_collect_moved();
}

static int run_flush(void *data)
{
	(void)data;
	trace2_initialize();
	trace2_data_intmax("test", NULL, "value", 1);
	loses_processor = 1;
	trace2_flush();
	_exit(loses_processor);
}

static void test_flush_whose_thread_had_no_processor_writes_all(void **state)
{
	(void)state;
	traced_run(&t, run_flush, NULL, (const char *const[]){ "TRACE2_RAW_THREAD=off", NULL });
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_int_equal(raw_count(&file, TLG_STYLE_data_intmax, "value"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_flush_whose_thread_had_no_processor_writes_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
