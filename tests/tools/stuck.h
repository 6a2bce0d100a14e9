/* SPDX-License-Identifier: MIT */
/* stuck.h - for tests: a traced program whose drain is stuck, until the program releases it. */
#ifndef STUCK_H
#define STUCK_H

#include "traced.h"

/* With STUCK_TEST(name) in the table of tests, in place of TRACED_TEST(name). */
int stuck_setup(void **state);
int stuck_teardown(void **state);
#define STUCK_TEST(name) cmocka_unit_test_setup_teardown(name, stuck_setup, stuck_teardown)

/* The program calls this before it is traced, with TRACE2_RAW=9: nothing is read before stuck_release(). */
void stuck_begin(void);
void stuck_release(void);

/* In the test, after traced_run(): wait until all that was written is in t.raw.  Return  0; -1 */
int stuck_await(void);

#endif
