/* SPDX-License-Identifier: MIT */
/*
 * t2x_samples_functions.h - a profile of samples by function: how much each has alone (self) and with what it calls
 * (total), which function calls which, and the tree of calls.
 *
 * A function is known by its name and file; code without a name is one function for each file that it is in.  A
 * function that is several times in a stack has the stack's value once.  Values are those that readers of the profile
 * see first (struct t2x_prof_kind.shown), scaled and rounded for each stack, as t2x_samples_write_folded() prints them;
 * a stack that comes to no more than 0 is left out.  Memory: functions, pairs of functions and nodes, from malloc().
 */
#ifndef T2X_SAMPLES_FUNCTIONS_H
#define T2X_SAMPLES_FUNCTIONS_H

#include "t2x_samples.h"
#include "t2x_stacks.h"

struct t2x_function {
	char name[256];                   /* cut off if it is longer */
	const char *file;                 /* of the source, else of the code; "": not known */
	int64_t line;                     /* where it begins; 0: not known */
	int64_t self, total;
	uint32_t number;                  /* in calls and nodes, from 1 up */
	uint32_t stack;                   /* while they are made: the latest that it is in */
};

/* So much of total is in stacks in which the one calls the other. */
struct t2x_call {
	uint32_t caller, callee;
	int64_t value;
};

struct t2x_functions {
	uint32_t n, ncalls;
	struct t2x_function *rows;        /* the largest self first, then total, then by name */
	struct t2x_call *calls;           /* by callee; of each the largest first, then by caller */
	uint32_t *row_of;                 /* by number: where in rows it is */
	struct t2x_stacks tree;           /* self_ns: a node's own value, count: with those below */
	int64_t all;                      /* of all stacks */
	uint32_t max_rows, max_calls;
	struct t2x_index names, pairs;
	uint32_t *seen, *path;            /* while they are made */
	uint32_t max_seen, max_path;
};

/* Which stacks: those whose label key has the text; key NULL: all. */
struct t2x_samples_selected {
	const char *key, *text;
};

/* functions  all zero before; t2x_functions_free() it in any case; valid as long as the samples.  Return 0 or ENOMEM */
int t2x_functions_make(struct t2x_functions *functions, const struct t2x_samples *samples,
		       const struct t2x_samples_selected *selected);
void t2x_functions_free(struct t2x_functions *functions);

/* The texts that a label has, each once, sorted; numbers as decimals; "": stacks have none.  Return  NULL: no memory */
char **t2x_samples_label_texts(const struct t2x_samples *samples, const char *key, uint32_t *n);
void t2x_samples_free_texts(char **texts, uint32_t n);

/* What the profile is of. */
struct t2x_samples_about {
	const char *name;
	const struct t2x_prof_kind *kind;
	int64_t samples;                  /* recorded ones */
	int64_t period;                   /* see PROF_FORM */
	uint64_t duration_ns;
};

struct t2x_samples_about t2x_samples_find_about(const struct t2x_samples *samples);

#endif
