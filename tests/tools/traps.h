/* SPDX-License-Identifier: MIT */
/* traps.h - a test of the profiler stops behind each of its own instructions, on x86, by SIGTRAP. */
#ifndef TRAPS_H
#define TRAPS_H

#if defined(__x86_64__) || defined(__i386__)
/* The processor traps behind each instruction, from now on or no more. */
static inline __attribute__((always_inline)) void traps_set(int on)
{
	enum { TRAP = 0x100 };
#ifdef __x86_64__
	unsigned long long flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | TRAP : flags & ~(unsigned long long)TRAP);
#else
	unsigned flags = __builtin_ia32_readeflags_u32();

	__builtin_ia32_writeeflags_u32(on ? flags | TRAP : flags & ~(unsigned)TRAP);
#endif
}
#endif

#endif
