/* SPDX-License-Identifier: MIT */
/*
 * server.h - a pre-forking server that is traced, like nginx, postgres and apache, and a manager that disturbs it.
 *
 * One program has all the roles.  The manager (manager.c) is not traced.  It starts the master with the settings under
 * test, sends signals to the master and to its workers, and waits for the effects, never longer than LONGEST_MS.  The
 * master (master.c) forks workers, and blocks all signals except while it waits for them.  A worker (worker.c) records
 * before it unblocks its signals, changes its user, and works until it is stopped, or crashes, or executes another
 * program.  Some workers have threads.  At the end the manager compares the trace with the counts of the processes
 * (judge.c).
 *
 * Each process that records has a slot in memory that all processes share, and so has each thread of a worker.  exec()
 * passes this memory on as a descriptor.  A slot counts calls, by kind, in front of each call and behind it.  Each call
 * records its slot and number.
 */
#ifndef SERVER_H
#define SERVER_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum kind { NUMBER, TEXT, MESSAGE, ENTER, LEAVE, HANDLED, KINDS };
enum { WORKERS = 3, MOST_SLOTS = 4096, MOST_ENDS = 6, LONGEST_MS = 20000, NOBODY = 65534 };
enum { EXIT_TERM = 5, EXIT_ORPHAN = 6, EXIT_OLD = 7, EXIT_CHILD = 8, EXIT_HELPER = 9 };   /* statuses */

/* The process that has the slot writes its members, except where a comment names another one. */
struct slot {
	uint32_t pid;             /* by its parent, too */
	uint32_t generation;      /* of a worker; 0: it is none.  By the master */
	uint32_t is_working;      /* it has unblocked its signals and changed its user */
	uint32_t idles;           /* the request to be idle that it has obeyed */
	uint64_t mark;            /* the last NUMBER that it recorded before */
	uint32_t is_over;         /* status says how it ended.  By who has waited for it */
	int status;
	int may_end[MOST_ENDS];   /* statuses, and one more.  By who wants it to end, and by itself */
	uint64_t begun[KINDS], returned[KINDS];
};

struct shared {
	uint32_t used;            /* slots */
	uint32_t generation;      /* of workers that the master wants: by the master */
	uint32_t idle;            /* the last request to be idle; odd: it holds */
	uint32_t master;          /* its id */
	uint32_t wrong;           /* things that may not happen */
	uint64_t seed;
	struct slot slot[MOST_SLOTS];
};
extern struct shared *shared;
extern const char *program;               /* the path of this program */

/* ---- common.c ------------------------------------------------------------------------------------------ */

/* relaxed is enough: each number is read by itself, or behind a wait for the process that wrote it */
#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)

/* Make the memory; map that of the descriptor which an executed program has inherited. */
void shared_make(void);
void shared_find(void);

/* A new slot's number; MOST_SLOTS: there are no more */
unsigned slot_acquire(void);
/* Note that the process may end with this status: whoever ends it calls this before. */
void slot_may_end(struct slot *slot, int status);
/* Note the status of a process, after waiting for it. */
void slot_end(pid_t pid, int status);

unsigned random_below(unsigned n);
void pause_ms(long ms);
uint64_t now_ms(void);

/* ---- worker.c ------------------------------------------------------------------------------------------ */

/* From now on the calling process uses this slot. */
void record_as(unsigned slot);
/* One call.  A handler's, while the trace ends, counts as begun.  Signal safe: HANDLED is for handlers alone */
void record(enum kind kind);
_Noreturn void be_worker(unsigned slot);
_Noreturn void be_helper(unsigned slot);

/* Become the helper, or the master (slot MOST_SLOTS), as another program.  Returns if that fails. */
void become(const char *role, unsigned slot);

/* ---- master.c ------------------------------------------------------------------------------------------ */

_Noreturn void be_master(void);

/* ---- judge.c ------------------------------------------------------------------------------------------- */

struct counts {
	uint64_t slots, calls, stored, in_flight, missing, twice, invented, dropped, recovered, files;
	uint64_t killed, crashed, ended, by_themselves;   /* processes: by SIGKILL, SIGSEGV, SIGTERM, exit() */
};

/* What the judge needs of the settings of the master. */
struct place {
	const char *trace;        /* file or directory; NULL: the server is not traced */
	const char *text;         /* live text output; NULL: none */
	const char *rings;        /* where ring files are */
	int drops;                /* settings may make it drop calls */
	int waits;                /* but only those of handlers */
};

/* 1: the trace has by now what the workers recorded last before they became idle */
int judge_idle(const struct place *place);
/* All have ended.  Return  how many things are wrong; each is printed */
unsigned judge_end(const struct place *place, struct counts *sum);

#endif
