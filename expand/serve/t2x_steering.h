/* SPDX-License-Identifier: MIT */
/*
 * t2x_steering.h - switches a profile on in a running process for a request, and off again, by its control page.
 *
 * The user's own settings stay as they are: a profile that runs already is only read, and a trace that the user has
 * switched off stays off.  A dormant process begins a trace in the server's directory; it is switched off when the last
 * request has ended.  Each command that starts a profile also says after what time it stops by itself, so that it does
 * when the server is killed.  Several requests may use one process at a time, but only one of them the CPU profile.
 */
#ifndef T2X_STEERING_H
#define T2X_STEERING_H

#include "t2x_answered.h"
#include "t2x_traced.h"

struct t2x_steering;

/* directory  in which traces of dormant processes are begun.  Return  NULL: no memory */
struct t2x_steering *t2x_steering_new(const char *directory);
void t2x_steering_free(struct t2x_steering *steering);

/* An earlier server was killed: switch off what it had switched on.  Before any request. */
void t2x_steering_sweep(struct t2x_steering *steering, const struct t2x_traced_list *list);

/* What a request uses of a process. */
struct t2x_taking {
	struct t2x_steering *steering;
	struct t2x_steered *process;      /* NULL: nothing was begun */
	int kind;                         /* that was switched on for it; -1: none */
	char file[TLG_RING_PATH];         /* the trace; "": none */
	int is_flight;                    /* a flight recorder: its rings have the events */
};

/*
 * Begin.
 * profile  one of prof_kinds.def; NULL: only the trace
 * Return   0; or a status of HTTP, with why in words: then nothing is to be ended
 */
unsigned t2x_steering_begin(struct t2x_taking *taking, struct t2x_steering *steering, const struct t2x_traced *traced,
			    const char *profile, uint32_t ms, char *why, size_t size);

/* End it: what was recorded is in the file then. */
void t2x_steering_end(struct t2x_taking *taking);

/* No profile is begun: write what was recorded, and find the file.  Return  0: the process has not answered */
int t2x_steering_flush(struct t2x_taking *taking, struct t2x_steering *steering, const struct t2x_traced *traced);

#endif
