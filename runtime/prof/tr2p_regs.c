/* SPDX-License-Identifier: MIT */
/* tr2p_regs.c - registers out of a signal's context. */
#include "tr2p_regs.h"

#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
/* Where the context has the columns of the tables. */
static const unsigned char g_from[TR2P_COLUMNS] = {
#ifdef __x86_64__
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11,
	REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP
#else
	REG_EAX, REG_ECX, REG_EDX, REG_EBX, REG_ESP, REG_EBP, REG_ESI, REG_EDI, REG_EIP
#endif
};

void tr2p_regs_of_context(struct tr2p_regs *regs, const void *context)
{
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;

	for (unsigned i = 0; i < TR2P_COLUMNS; i++)
		regs->at[i] = (uintptr_t)m->gregs[g_from[i]];
	regs->pc = regs->at[TR2P_RA];
	regs->known = (UINT64_C(1) << TR2P_COLUMNS) - 1;
	regs->is_exact = 1;
}

#elif defined(__aarch64__)
void tr2p_regs_of_context(struct tr2p_regs *regs, const void *context)
{
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;

	for (unsigned i = 0; i < TR2P_SP; i++)
		regs->at[i] = m->regs[i];
	regs->at[TR2P_SP] = m->sp;
	regs->pc = m->pc;
	regs->known = (UINT64_C(1) << TR2P_COLUMNS) - 1;
	regs->is_exact = 1;
}

#elif defined(__s390x__)
/* Functions that call nothing may keep what they save in registers of floating point, which tables number so. */
void tr2p_regs_of_context(struct tr2p_regs *regs, const void *context)
{
	static const unsigned char from[16] = { 0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15 };
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;

	for (unsigned i = 0; i < 16; i++) {
		regs->at[i] = m->gregs[i];
		memcpy(&regs->at[16 + i], &m->fpregs.fprs[from[i]], sizeof(regs->at[0]));
	}
	regs->pc = m->psw.addr;
	regs->known = (UINT64_C(1) << TR2P_COLUMNS) - 1;
	regs->is_exact = 1;
}

#elif defined(__arm__)
void tr2p_regs_of_context(struct tr2p_regs *regs, const void *context)
{
	regs->pc = ((const ucontext_t *)context)->uc_mcontext.arm_pc;
}
#endif
