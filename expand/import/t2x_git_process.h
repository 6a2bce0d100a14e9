/* SPDX-License-Identifier: MIT */
/*
 * t2x_git_process.h - the lines of one process: they are kept until their times are known, then written as a stream.
 *
 * The time of a leave follows from its enter, and the time of an enter from the lines behind it.  So lines wait until
 * the process has ended or the caller runs out of memory for them.
 */
#ifndef T2X_GIT_PROCESS_H
#define T2X_GIT_PROCESS_H

#include "t2x_git_line.h"
#include "t2x_raw_stream.h"

struct t2x_git_process;

/*
 * sid     valid during the call
 * number  of the process in the import: one that forks without exec() has two with one session id
 * Return  NULL: no memory
 */
struct t2x_git_process *t2x_git_process_new(struct t2x_raw_trace *trace, const struct t2x_git_text *sid,
					    uint64_t number);

/* Keep a copy of the line.  Return  0 or -ENOMEM */
int t2x_git_process_add(struct t2x_git_process *process, const struct t2x_git_line *line);

/* Bytes of memory of the lines that wait. */
size_t t2x_git_process_bytes(const struct t2x_git_process *process);

/* Its atexit or signal has been added: usually nothing follows. */
int t2x_git_process_has_ended(const struct t2x_git_process *process);

int t2x_git_process_is(const struct t2x_git_process *process, const struct t2x_git_text *sid);

/*
 * Write the lines that wait; regions that are still open get the times that `time' suggests.
 * goes_on  the stream is not complete yet, and uses no memory for what it has written
 * Return   0 or -ENOMEM
 */
int t2x_git_process_write(struct t2x_git_process *process, int goes_on);

/* Complete the stream.  The lines that wait are written first, as far as memory suffices: call write() before. */
void t2x_git_process_free(struct t2x_git_process *process);

#endif
