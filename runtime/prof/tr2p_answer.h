/* SPDX-License-Identifier: MIT */
/*
 * tr2p_answer.h - the answer to a request of trace2_pprof_handle(): headers and a body, which go to the program's
 * function.
 *
 * The body is collected first, so that an error can still replace it.  The function is never called inside of the
 * profiler: what it does is the program's.
 */
#ifndef TR2P_ANSWER_H
#define TR2P_ANSWER_H

#include <stdint.h>

#include "trace2_prof.h"
#include "profile/t2x_bytes.h"

struct tr2p_answer {
	trace2_pprof_write_fn *write;
	void *context;
	unsigned status;                  /* of HTTP */
	const char *type;                 /* of the content */
	const char *name;                 /* of a file that a browser stores; NULL: it shows the answer */
	const char *location;             /* of a page that has moved; NULL: it has not */
	struct t2x_bytes body;
	int is_sent;                      /* the headers, and what of the body there was then */
	int error;                        /* what the function has returned, if not 0: nothing more is written */
};

#define TR2P_ANSWER_TEXT "text/plain; charset=utf-8"
#define TR2P_ANSWER_HTML "text/html; charset=utf-8"
#define TR2P_ANSWER_BINARY "application/octet-stream"

/* Open a file to read of it; the descriptor is above those that a program counts on.  Return  -1: with errno */
int tr2p_answer_open(const char *path);

/* Add a text to the body. */
void tr2p_answer_put(struct tr2p_answer *answer, const char *text);

/* Make it an error, one line; that of an error number. */
void tr2p_answer_fail(struct tr2p_answer *answer, unsigned status, const char *why);
void tr2p_answer_fail_by(struct tr2p_answer *answer, int error);

/* Write the headers, and the body that there is, once; more of the body. */
void tr2p_answer_send(struct tr2p_answer *answer);
void tr2p_answer_send_more(struct tr2p_answer *answer, const void *bytes, size_t n);

/* Wait, and ask the function meanwhile whether anybody waits for the answer.  Return  0: nobody does */
int tr2p_answer_wait(struct tr2p_answer *answer, uint32_t ms);

#endif
