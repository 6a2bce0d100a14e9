/* SPDX-License-Identifier: MIT */
/*
 * tr2p_regs.h - registers of a frame, numbered as unwind tables do, on each machine.
 *
 * Unwind tables describe where the caller's value of each register lies; the walk keeps the values themselves.
 * Registers that a function may change without saving them are stale, as in any unwinder: tables do not use them.
 *
 * 32-bit ARM has tables of another kind (EHABI): libgcc reads those, see tr2p_unwind.c.
 */
#ifndef TR2P_REGS_H
#define TR2P_REGS_H

#include <stdint.h>
#include <ucontext.h>

/* How many numbers there are; of the return address, the stack pointer, the frame pointer; who else has a value */
#if defined(__x86_64__)
enum { TR2P_COLUMNS = 17, TR2P_RA = 16, TR2P_SP = 7, TR2P_FP = 6 };
#elif defined(__i386__)
enum { TR2P_COLUMNS = 9, TR2P_RA = 8, TR2P_SP = 4, TR2P_FP = 5 };
#elif defined(__aarch64__)
enum { TR2P_COLUMNS = 32, TR2P_RA = 30, TR2P_SP = 31, TR2P_FP = 29 };
#elif defined(__s390x__)
enum { TR2P_COLUMNS = 32, TR2P_RA = 14, TR2P_SP = 15, TR2P_FP = 11 };   /* 16.. are those of floating point */
#elif !defined(__arm__)
#error "which registers do unwind tables know here?"
#endif

#ifdef __arm__
struct tr2p_regs {
	uintptr_t pc;
};
#else
struct tr2p_regs {
	uintptr_t pc;
	int is_exact;                 /* pc is where a signal came, not where a call returns to */
	uint64_t known;               /* registers that have a value, as bits */
	uintptr_t at[TR2P_COLUMNS];
};
#endif

/* What a signal has interrupted; context is the handler's third argument.  Signal safe */
void tr2p_regs_of_context(struct tr2p_regs *regs, const void *context);

/*
 * The registers of the function that uses this, at this place: those that functions keep, the stack pointer and the
 * program counter.
 */
#if defined(__x86_64__)
#define TR2P_REGS_HERE(regs) do { \
	__asm__ volatile("movq %%rbx, 24(%0)\n\t movq %%rbp, 48(%0)\n\t movq %%rsp, 56(%0)\n\t" \
			 "movq %%r12, 96(%0)\n\t movq %%r13, 104(%0)\n\t movq %%r14, 112(%0)\n\t" \
			 "movq %%r15, 120(%0)\n\t leaq 1f(%%rip), %%rax\n\t movq %%rax, 128(%0)\n1:" \
			 : : "r"((regs)->at) : "rax", "memory"); \
	(regs)->pc = (regs)->at[TR2P_RA]; \
	(regs)->known = 0x1f0c8; \
	(regs)->is_exact = 1; \
} while (0)
#elif defined(__i386__)
/* The call shows where it is; it is made and over before anybody looks. */
#define TR2P_REGS_HERE(regs) do { \
	__asm__ volatile("movl %%ebx, 12(%0)\n\t movl %%esp, 16(%0)\n\t movl %%ebp, 20(%0)\n\t" \
			 "movl %%esi, 24(%0)\n\t movl %%edi, 28(%0)\n\t call 1f\n1:\t popl 32(%0)" \
			 : : "a"((regs)->at) : "memory"); \
	(regs)->pc = (regs)->at[TR2P_RA]; \
	(regs)->known = 0x1f8; \
	(regs)->is_exact = 1; \
} while (0)
#elif defined(__aarch64__)
#define TR2P_REGS_HERE(regs) do { \
	__asm__ volatile("stp x19, x20, [%1, #152]\n\t stp x21, x22, [%1, #168]\n\t stp x23, x24, [%1, #184]\n\t" \
			 "stp x25, x26, [%1, #200]\n\t stp x27, x28, [%1, #216]\n\t stp x29, x30, [%1, #232]\n\t" \
			 "mov x9, sp\n\t str x9, [%1, #248]\n\t adr %0, 1f\n1:" \
			 : "=&r"((regs)->pc) : "r"((regs)->at) : "x9", "memory"); \
	(regs)->known = 0xfff80000; \
	(regs)->is_exact = 1; \
} while (0)
#elif defined(__s390x__)
#define TR2P_REGS_HERE(regs) do { \
	__asm__ volatile("stmg %%r6, %%r15, 48(%1)\n\t larl %0, 1f\n1:" \
			 : "=&d"((regs)->pc) : "a"((regs)->at) : "memory"); \
	(regs)->known = 0xffc0; \
	(regs)->is_exact = 1; \
} while (0)
#endif

/* A return address without the signature that aarch64 may have put into it. */
static inline uintptr_t tr2p_regs_plain(uintptr_t returns_to)
{
#ifdef __aarch64__
	register uintptr_t x30 __asm__("x30") = returns_to;

	__asm__("hint 7" : "+r"(x30));   /* xpaclri */
	return x30;
#else
	return returns_to;
#endif
}

#endif
