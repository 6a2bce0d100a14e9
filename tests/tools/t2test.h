/* SPDX-License-Identifier: MIT */
/*
 * t2test.h - every test program includes this first: it includes cmocka and the headers that cmocka needs before it.
 *
 * A test program is tests/unit/<folder>/test_<file stem>.c with its own main(), which returns
 * cmocka_run_group_tests(); the makefile finds it by its name.  It is linked with the objects, not with
 * the library, so that private functions can be tested; every other tests/<name>.c is a helper that is
 * linked where it is called.  A function __wrap_<name> in the test program replaces <name> in the code under
 * test; the replaced function is called __real_<name>.
 * The test runs in the top directory; T2_OUT names the build directory.  Exit status 77 means skipped.
 * assert_*() may only be used on the main thread.
 */
#ifndef T2TEST_H
#define T2TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#endif
