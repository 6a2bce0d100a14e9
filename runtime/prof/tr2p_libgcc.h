/* SPDX-License-Identifier: MIT */
/*
 * tr2p_libgcc.h - where libgcc is in memory, and on 32-bit ARM its unwinder.
 *
 * A walk has to recognize frames of libgcc.  When libgcc jumps to the handler of an exception, its frame is half its
 * own and half the handler's, and a walk cannot go on from there.  And a thread that has the lock of libgcc's registry
 * has a frame of libgcc.
 */
#ifndef TR2P_LIBGCC_H
#define TR2P_LIBGCC_H

#include <stdint.h>

struct tr2p_stack;

/* Once, before anything else. */
void tr2p_libgcc_find(void);

/* 1: this code is libgcc's.  Signal safe */
int tr2p_is_libgcc(uintptr_t ip);

#ifdef __arm__
/*
 * Take at most so many frames.  libgcc reads what its tables (EHABI) and the registers say, without a guard.
 * from  begin with the frame that a signal has interrupted there; 0: begin by skip, of 0: with the caller
 */
void tr2p_libgcc_walk(struct tr2p_stack *stack, uintptr_t from, unsigned skip, unsigned frames);
#endif

#endif
