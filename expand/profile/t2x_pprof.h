/* SPDX-License-Identifier: MIT */
/*
 * t2x_pprof.h - what a request below debug/pprof/ asks for, as Go's net/http/pprof has it: fetchers rely on that.
 *
 * `t2 serve` answers such requests for processes, and libtrace2-prof inside of one.  A request is hostile: any bytes.
 * The functions here are pure: they keep no pointer into it, read no file, allocate nothing, bound what they return.
 */
#ifndef T2X_PPROF_H
#define T2X_PPROF_H

#include <stddef.h>
#include <stdint.h>

enum {
	T2X_PPROF_NAME = 256,             /* bytes of a profile's name, with its end */
	T2X_PPROF_MAX_MS = 300000,        /* of one profile or trace */
};

enum t2x_pprof_page {
	T2X_PPROF_LIST,
	T2X_PPROF_PROFILE,
	T2X_PPROF_TRACE,
	T2X_PPROF_CMDLINE,
	T2X_PPROF_SYMBOL,
};

struct t2x_pprof {
	const char *why;                  /* an error of the query, in words; NULL: none.  Its status of HTTP is 400 */
	enum t2x_pprof_page page;
	int is_kind;                      /* the profile is one of prof_kinds.def */
	char profile[T2X_PPROF_NAME];     /* by our name, if Go has another */
	uint32_t ms;                      /* seconds=; 0: none were given */
	unsigned debug;                   /* 0, 1, 2 */
	int is_chrome;                    /* format=chrome */
};

/* What Go says where there is no such profile. */
#define T2X_PPROF_UNKNOWN "Unknown profile"

/* What Go says where there is a CPU profile already. */
#define T2X_PPROF_IN_USE "Could not enable CPU profiling: cpu profiling already in use"

/* Go's header of errors */
#define T2X_PPROF_HEADER "X-Go-Pprof"

/*
 * Replace %XX, in a query also +.
 * Return  0: a % without two digits, a control character, or the text is too long
 */
int t2x_pprof_decode(char *to, size_t size, const char *from, size_t n, int is_query);

/* path  decoded, behind debug/pprof/.  Nothing else of *asked changes */
void t2x_pprof_path(struct t2x_pprof *asked, const char *path);

/* query  as the client sent it, behind the `?'.  Nothing else of *asked changes */
void t2x_pprof_query(struct t2x_pprof *asked, const char *query);

/* For how long is recorded.  Clocks and traces have an end; the others have counted since the start: 0 */
uint32_t t2x_pprof_ms(const struct t2x_pprof *asked);

/* The names below debug/pprof/, sorted; NULL behind the last. */
extern const char *const t2x_pprof_names[];

/*
 * The next address of a text such as "0x1234+0x5678".
 * Return  0: there is none; *text is behind the address
 */
int t2x_pprof_address(const char **text, uint64_t *address);

#endif
