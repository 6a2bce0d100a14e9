/* SPDX-License-Identifier: MIT */
/*
 * tr2p_calls.h - system calls as frames: a thread that is blocked is not only in read(), it is off the CPU there.
 *
 * The stack of such a thread begins with an address that no code has, one for each system call.  Each of these
 * addresses is a module of its own, whose path says what it means: "[off-CPU: read]".  So a file carries the names that
 * the machine which wrote it has for its calls, and a reader needs no table.  The build makes ours from the headers of
 * the compiler's system.
 */
#ifndef TR2P_CALLS_H
#define TR2P_CALLS_H

#include <stdint.h>

#include "tr2p_module.h"

/* The addresses end below the last page, in which no system has code. */
enum { TR2P_CALLS = 1024, TR2P_CALLS_NONE = TR2P_CALLS - 1 };
#define TR2P_CALLS_AT (UINTPTR_MAX - 0x2fff)

/* The address for a call.  number  as the kernel says it; below 0: the thread is blocked, but not in a call */
static inline uintptr_t tr2p_calls_address(long number)
{
	return TR2P_CALLS_AT + (uintptr_t)(number >= 0 && number < TR2P_CALLS_NONE ? number : TR2P_CALLS_NONE);
}

/*
 * The module of such an address.
 * Return  NULL: it is none of them, or there is no memory    Thread  any, no lock    Signal safe
 */
const struct tr2p_module *tr2p_calls_module(uintptr_t address);

#endif
