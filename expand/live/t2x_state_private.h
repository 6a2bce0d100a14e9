/* SPDX-License-Identifier: MIT */
/* t2x_state_private.h - what t2x_state_take.c gathers and t2x_state_print.c prints. */
#ifndef T2X_STATE_PRIVATE_H
#define T2X_STATE_PRIVATE_H

#include "t2x_state.h"
#include "model/t2x_spans.h"
#include "query/t2x_copy.h"

enum { T2X_STATE_ERRORS = 3 };

struct t2x_state_thread {
	struct t2x_state_thread *next;
	struct t2x_state_process *process;
	char name[25];
	uint32_t tid;
	int has_ended;
	uint64_t last_ns;                 /* of its last event; 0: only its regions are known */
	struct t2x_event_copy **open;     /* the enters of the regions that are open, the innermost first */
	unsigned nopen;
	uint32_t depth;                   /* open ones behind its latest event, seen or not */
	struct t2x_event_copy *wait;      /* the latest sample of a wait for a lock; NULL: there is none */
	struct t2x_event_copy *asked;     /* where it was when it was asked; NULL: it was not */
	unsigned nlast;                   /* its events so far */
	struct t2x_event_copy *last[];    /* the latest ones, by their number modulo settings.last */
};

struct t2x_state_process {
	struct t2x_state_process *next;
	uint32_t pid;
	uint64_t start_ticks;
	char *sid;
	uint64_t start_ns, last_ns;
	struct t2x_event_copy *command;   /* start; NULL: it was not read */
	struct t2x_event_copy *end;       /* exit, atexit or signal; NULL: it goes on, or was killed */
	struct t2x_event_copy *errors[T2X_STATE_ERRORS];
	unsigned nerrors;
	uint64_t missing;                 /* events that are missing in front of others */
	uint64_t lost;                    /* checkpoints that it has counted instead of stored */
	unsigned ended_threads;           /* of which nothing is kept */
	struct t2x_state_thread *threads, *last_thread;
};

struct t2x_state {
	struct t2x_spans_table table;     /* first: a table's address is its state's */
	struct t2x_state_settings settings;
	struct t2x_copies copies;
	struct t2x_state_process *processes, *last_process;
	int error;                        /* 0 or ENOMEM */
};

void t2x_state_print(const struct t2x_state *state, struct t2x_printer *printer);

#endif
