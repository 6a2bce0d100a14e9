/* SPDX-License-Identifier: MIT */
/*
 * tr2p_cfi.h - run the program of an unwind table's entry: where each register of the caller lies, at one address.
 *
 * Everything has a bound: the bytes of the program, the states that it may remember, the steps and the stack of an
 * expression.  A program that exceeds a bound, or has unknown instructions, gives no rules, and the stack ends there.
 */
#ifndef TR2P_CFI_H
#define TR2P_CFI_H

#ifndef __arm__
#include <stdint.h>

#include "tr2p_fde.h"
#include "tr2p_guard.h"
#include "tr2p_regs.h"

enum tr2p_rule {
	TR2P_SAME,
	TR2P_UNDEFINED,
	TR2P_AT,                      /* at the frame's address and so many bytes */
	TR2P_IS,                      /* is the frame's address and so many bytes */
	TR2P_IN,                      /* in another register */
	TR2P_AT_EXPRESSION,           /* where an expression says; what an expression says */
	TR2P_IS_EXPRESSION
};

struct tr2p_rules {
	uint64_t set;                 /* registers that have another rule than TR2P_SAME, as bits */
	int32_t cfa_value;            /* of the frame's address: bytes from a register, or where its expression is */
	uint8_t cfa_is_expression, cfa_register;
	uint8_t how[TR2P_COLUMNS];
	int32_t value[TR2P_COLUMNS];  /* bytes, a register, or where an expression is, from fde->base on */
};

/* The rules at pc.  Return  0: the entry has nothing that can be used    Signal safe */
int tr2p_cfi_run(struct tr2p_rules *rules, const struct tr2p_fde *fde, uintptr_t pc);

/*
 * Evaluate an expression.
 * at     its length, then itself
 * first  the frame's address, if it is of a register; NULL: it is of the frame's address
 * Return  0: it cannot be evaluated    Signal safe
 */
int tr2p_cfi_evaluate(uintptr_t *value, const uint8_t *at, const uintptr_t *first, const struct tr2p_regs *regs,
		      struct tr2p_guard *guard);

#endif
#endif
