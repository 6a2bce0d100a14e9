/* SPDX-License-Identifier: MIT */
/*
 * traced.h - run a function as a traced program of its own: a child process with its settings, its standard
 * error in a file, its exit status.
 */
#ifndef TRACED_H
#define TRACED_H

struct traced {
	char dir[64];             /* a new directory */
	char raw[128];            /* "dir/raw.tlg", which TRACE2_RAW names unless set otherwise */
	char said[4096];          /* what it wrote to standard error */
	int status;               /* as waitpid() gives it */
};

/* A new directory, for one traced_run() or several. */
void traced_init(struct traced *t);

/*
 * Fork; in the child set the NULL-terminated settings ("NAME=value"; TRACE2_RAW and TRACE2_RAW_LZ4=0 come before
 * them), call program(data) and exit with what it returns.
 */
void traced_run(struct traced *t, int (*program)(void *), void *data, const char *const *settings);

/* Remove the directory. */
void traced_done(struct traced *t);

#endif
