/* SPDX-License-Identifier: MIT */
/*
 * t2x_request.h - what an HTTP request to `t2 serve' asks for.
 *
 * The request is hostile: a client may send any method and any target.  The parser is a pure function of both.  It
 * keeps no pointer into them, reads no file, and bounds all that it returns.  A name that it returns is one component
 * of a path: no slash, no leading dot.
 *
 * What is below debug/pprof/ is t2x_pprof.h's.
 */
#ifndef T2X_REQUEST_H
#define T2X_REQUEST_H

#include <stdint.h>

#include "profile/t2x_pprof.h"

enum {
	T2X_REQUEST_TARGET = 2048,        /* bytes of path and query at most */
};

enum t2x_page {
	T2X_PAGE_NONE,                    /* an error: status and why say which */
	T2X_PAGE_INDEX,
	T2X_PAGE_PROCESSES,               /* the same as JSON */
	T2X_PAGE_HEALTH,
	T2X_PAGE_METRICS,
	T2X_PAGE_MOVED,                   /* the path lacks the slash at its end */
	T2X_PAGE_VIEW,                    /* of a process, for a browser */
	T2X_PAGE_FILE,                    /* the same of a file */
	T2X_PAGE_RING,                    /* the same of what a dead process has left */
	T2X_PAGE_PPROF,                   /* the list of profiles */
	T2X_PAGE_PROFILE,
	T2X_PAGE_TRACE,
	T2X_PAGE_CMDLINE,
	T2X_PAGE_SYMBOL,
};

struct t2x_request {
	enum t2x_page page;
	unsigned status;                  /* of HTTP, if page is T2X_PAGE_NONE */
	const char *why;
	int is_pprof;                     /* the path is below debug/pprof/ */
	int is_head;                      /* only the headers of the answer are wanted */
	uint32_t pid;
	struct t2x_pprof pprof;           /* below debug/pprof/; the profile is one of prof_kinds.def */
	char name[256];                   /* of a file */
	char symbols[T2X_REQUEST_TARGET]; /* the query of a GET of symbol, as it came */
};

/* target  as the client sent it: a path, and perhaps a query */
void t2x_request_parse(struct t2x_request *request, const char *method, const char *target);

#endif
