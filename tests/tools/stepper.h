/* SPDX-License-Identifier: MIT */
/*
 * stepper.h - for harnesses: stop a process at any instruction of a stretch of its course, without long stepping.
 *
 * A first process is stepped through the stretch, and the addresses that it passes are written down.  A later one, that
 * stands where the first began, is brought to the n-th instruction by a breakpoint of the processor's at one shortly
 * before it that has rarely been passed until then, and by the few steps that are left.  That it is there is seen
 * from its address.
 *
 * All are children of the caller's that it traces, and are alike: forked, not executed, so that addresses agree.
 * Breakpoints are for x86-64; elsewhere nothing is written down, and every instruction is stepped.
 */
#ifndef STEPPER_H
#define STEPPER_H

#include <stdint.h>
#include <sys/types.h>

struct stepper_path {
	uint64_t *at;                     /* address of the n-th instruction; the first is where the process stands */
	uint32_t *pass;                   /* it is passed for so many times, by this one */
	uint32_t *anchor, *hits;          /* the way there: break at this one, when it is passed for the hits-th time */
	uint32_t count, room;
};

/* How many processors this process may use. */
unsigned stepper_processors(void);

/*
 * This process and its children keep to the which-th of these: a step is a switch from one process to the other and
 * back, five times as fast on one processor.
 */
void stepper_share_processor(unsigned which);

/* Address of the instruction that comes next.  0: not to be had here */
uint64_t stepper_address(pid_t process);

/*
 * One instruction, or go on until something stops it, with this signal delivered first, if not 0.
 * Return  the signal that it has stopped by, SIGTRAP after a step; 0: it has ended, and been waited for
 */
int stepper_step(pid_t process, int signal);
int stepper_go_on(pid_t process, int signal);

/* From now on threads that it starts do not run.  Return  0: that cannot be had */
int stepper_hold_threads(pid_t process);

/* Kill the process, the only child, unless it has ended, and wait until nothing is left of it. */
void stepper_kill(pid_t process);

/* Step until is_over() says so, or it has ended, at most path->room instructions.  Return  the last stop's signal */
int stepper_record(struct stepper_path *path, pid_t process, int (*is_over)(void));

/* Bring a process to instruction n of the path.  Return  1: it is there; 0: it stands elsewhere, or has ended */
int stepper_go_to(const struct stepper_path *path, pid_t process, uint32_t n);

/* room: instructions of the longest path.  Return  0: no memory */
int stepper_init(struct stepper_path *path, uint32_t room);
void stepper_free(struct stepper_path *path);

/* Of two that are both whole; the other is freed. */
void stepper_keep_shorter(struct stepper_path *path, struct stepper_path *other);

#endif
