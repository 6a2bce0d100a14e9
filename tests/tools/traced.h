/* SPDX-License-Identifier: MIT */
/*
 * traced.h - runs a function as a traced program: in a child process with its own settings.  Its standard error goes to
 * a file.
 */
#ifndef TRACED_H
#define TRACED_H

#include "rawread.h"

struct traced {
	char dir[64];             /* a new directory */
	char raw[128];            /* "dir/raw.tlg", which TRACE2_RAW names unless set otherwise */
	char said[4096];          /* its standard error */
	int status;               /* as waitpid() returns it */
};

/* Make a directory, for one traced_run() or several. */
void traced_init(struct traced *traced);

/*
 * Fork; in the child set the NULL-terminated settings ("NAME=value"; TRACE2_RAW and TRACE2_RAW_LZ4=0 come before
 * them), call program(data) and exit with what it returns.
 */
void traced_run(struct traced *traced, int (*program)(void *), void *data, const char *const *settings);

/* This process and its children record into the directory, ring files, too, so traced_done() removes them. */
void traced_into(const struct traced *traced);

/*
 * The program calls this before it is traced, with TRACE2_RAW=9.  It makes descriptor 9 a pipe; another process copies
 * the pipe into t.raw, and calls pause(data) before each read.
 */
void traced_slow_target(void (*pause)(void *data), void *data);

/* Return  zeroed memory that forked children share; without memory the call aborts */
void *traced_shared(size_t bytes);

/* Remove the directory. */
void traced_done(struct traced *traced);

/*
 * Most tests use these.  With TRACED_TEST(name) in the table of tests, t is a new directory before each test, and after
 * it the directory is removed and file freed.
 */
extern struct traced t;
extern struct raw_file file;
int traced_setup(void **state);
int traced_teardown(void **state);
#define TRACED_TEST(name) cmocka_unit_test_setup_teardown(name, traced_setup, traced_teardown)

/* Exit statuses with which programs report whether they were traced. */
enum { TRACED = 42, UNTRACED = 43 };

/* Return  how often part occurs in t.said */
size_t traced_count(const char *part);

/* Return  the path of a file in t.dir; the fourth call after this one overwrites it */
const char *traced_path(const char *name);

#endif
