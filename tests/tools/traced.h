/* SPDX-License-Identifier: MIT */
/*
 * traced.h - run a function as a traced program of its own: a child process with its settings, its standard
 * error in a file, its exit status.
 */
#ifndef TRACED_H
#define TRACED_H

#include "rawread.h"

struct traced {
	char dir[64];             /* a new directory */
	char raw[128];            /* "dir/raw.tlg", which TRACE2_RAW names unless set otherwise */
	char said[4096];          /* what it wrote to standard error */
	int status;               /* as waitpid() gives it */
};

/* A new directory, for one traced_run() or several. */
void traced_init(struct traced *traced);

/*
 * Fork; in the child set the NULL-terminated settings ("NAME=value"; TRACE2_RAW and TRACE2_RAW_LZ4=0 come before
 * them), call program(data) and exit with what it returns.
 */
void traced_run(struct traced *traced, int (*program)(void *), void *data, const char *const *settings);

/* This process and its children record into the directory; rings, too, so that those of the killed go with it. */
void traced_into(const struct traced *traced);

/*
 * For the program, before it is traced, with TRACE2_RAW=9: descriptor 9 is a pipe, which a process of its own empties
 * into t.raw.  That one calls pause(data) before each read.
 */
void traced_slow_target(void (*pause)(void *data), void *data);

/* Zeroed memory that forked children share; aborts if there is none. */
void *traced_shared(size_t bytes);

/* Remove the directory. */
void traced_done(struct traced *traced);

/*
 * What most tests work with: t is a new directory before each of them and gone after it, file is freed then.
 * In the table of tests: TRACED_TEST(name).
 */
extern struct traced t;
extern struct raw_file file;
int traced_setup(void **state);
int traced_teardown(void **state);
#define TRACED_TEST(name) cmocka_unit_test_setup_teardown(name, traced_setup, traced_teardown)

/* Exit statuses of programs that tell whether they were traced. */
enum { TRACED = 42, UNTRACED = 43 };

/* How often part is in t.said. */
size_t traced_count(const char *part);

/* The path of a file in t.dir; overwritten by the fourth call after it. */
const char *traced_path(const char *name);

#endif
