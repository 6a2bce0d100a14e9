/* SPDX-License-Identifier: MIT */
/*
 * stepper.h - for harnesses: stops a process at any instruction of a path, without stepping through the whole path.
 *
 * The harness first steps one process through the path, and records the addresses of its instructions.  A later process
 * starts at the same place.  To bring it to the n-th instruction, the stepper sets a breakpoint at an instruction
 * shortly before, which the path has rarely passed until then, and steps the rest.  The process's address shows whether
 * it has arrived.
 *
 * All processes are children that the caller traces.  They are forked, not executed, so that addresses agree.
 * Breakpoints work on x86-64: those of the processor or, in a virtual machine that lets none through, an instruction
 * that stops the process.  Elsewhere the stepper records no path and steps every instruction.
 */
#ifndef STEPPER_H
#define STEPPER_H

#include <stdint.h>
#include <sys/types.h>

struct stepper_path {
	uint64_t *at;                     /* address of the n-th instruction; the first is where the process starts */
	uint32_t *pass;                   /* how often the path has passed this address, with the n-th instruction */
	uint32_t *anchor, *hits;          /* the way there: break at this one when it is passed for the hits-th time */
	uint32_t count, room;
};

/* Return  how many processors this process may use */
unsigned stepper_processors(void);

/*
 * Bind this process and its children to the which-th of these.  A step switches from one process to the other and back,
 * which is five times as fast on one processor.
 */
void stepper_share_processor(unsigned which);

/*
 * 1: the address is in the kernel's function that reads clocks, the vDSO.  It goes round until the clock stands still
 * for it, so not every process passes its instructions equally often.
 */
int stepper_is_kernels(uint64_t address);

/* Return  the address of the next instruction; 0: this machine does not support it */
uint64_t stepper_address(pid_t process);

/*
 * Step one instruction; let the process run until something stops it.  First deliver the signal, if it is not 0.
 * Return  the signal by which it stopped, SIGTRAP after a step; 0: it has ended, and been waited for
 */
int stepper_step(pid_t process, int signal);
int stepper_go_on(pid_t process, int signal);

/* From now on, threads that the process starts do not run.  Return  0: not supported */
int stepper_hold_threads(pid_t process);

/* Kill the process, which is the only child, unless it has ended, and wait for it and its threads. */
void stepper_kill(pid_t process);

/* Step until is_over() says so, or it has ended, at most path->room instructions.  Return  the last stop's signal */
int stepper_record(struct stepper_path *path, pid_t process, int (*is_over)(void));

/* Bring a process to instruction n of the path.  Return  1: it is there; 0: it stands elsewhere, or has ended */
int stepper_go_to(const struct stepper_path *path, pid_t process, uint32_t n);

/* room: instructions of the longest path.  Return  0: no memory */
int stepper_init(struct stepper_path *path, uint32_t room);
void stepper_free(struct stepper_path *path);

/* Keep the shorter of two whole paths in path, and free the other one. */
void stepper_keep_shorter(struct stepper_path *path, struct stepper_path *other);

#endif
