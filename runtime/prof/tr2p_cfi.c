/* SPDX-License-Identifier: MIT */
/* tr2p_cfi.c - the instructions of DWARF's call frame information. */
#ifndef __arm__
#include "tr2p_cfi.h"

#include <string.h>

/* How deep states may be remembered: compilers do so once, and not again before they are back. */
enum { REMEMBERED = 2 };

enum {
	ADVANCE = 0x40, OFFSET = 0x80, RESTORE = 0xc0,    /* with 6 bits of what they are about */
	NOP = 0x00, SET_LOC, ADVANCE1, ADVANCE2, ADVANCE4, OFFSET_EXTENDED, RESTORE_EXTENDED, UNDEFINED, SAME_VALUE,
	REGISTER, REMEMBER, RECALL, DEF_CFA, DEF_CFA_REGISTER, DEF_CFA_OFFSET, DEF_CFA_EXPRESSION, EXPRESSION,
	OFFSET_EXTENDED_SF, DEF_CFA_SF, DEF_CFA_OFFSET_SF, VAL_OFFSET, VAL_OFFSET_SF, VAL_EXPRESSION,
	AARCH64_NEGATE_RA_WITH_PC = 0x2c, AARCH64_NEGATE_RA = 0x2d, GNU_ARGS_SIZE = 0x2e, GNU_NEGATIVE_OFFSET = 0x2f
};

struct run {
	struct tr2p_rules *rules;
	const struct tr2p_fde *fde;
	struct tr2p_bytes bytes;
	uintptr_t at, pc;             /* where the program is; where it ends */
	int is_refused;
	uint8_t first_ra_how;         /* of the return address, as the CIE has it */
	int32_t first_ra_value;
	unsigned remembered;
	struct tr2p_rules states[REMEMBERED];
};

static void set_rule(struct run *run, uint64_t which, enum tr2p_rule how, int64_t value)
{
	if (which >= TR2P_COLUMNS)
		return;     /* of floating point, say: no stack depends on it */
	if (value != (int32_t)value)
		run->is_refused = 1;
	run->rules->how[which] = (uint8_t)how;
	run->rules->value[which] = (int32_t)value;
	if (how == TR2P_SAME)
		run->rules->set &= ~(UINT64_C(1) << which);
	else
		run->rules->set |= UINT64_C(1) << which;
}

static void set_at(struct run *run, uint64_t which, enum tr2p_rule how, int64_t factor)
{
	set_rule(run, which, how, factor * run->fde->data_align);
}

static void restore(struct run *run, uint64_t which)
{
	if (which == TR2P_RA)
		set_rule(run, which, run->first_ra_how, run->first_ra_value);
	else
		set_rule(run, which, TR2P_SAME, 0);
}

/* Where the expression is that comes now, which is moved over. */
static int32_t take_expression(struct run *run)
{
	const uint8_t *at = run->bytes.at;

	tr2p_bytes_skip(&run->bytes, tr2p_bytes_uleb(&run->bytes));
	if (at - run->fde->base != (int32_t)(at - run->fde->base))
		run->is_refused = 1;
	return (int32_t)(at - run->fde->base);
}

static void set_cfa(struct run *run, uint64_t which, int64_t offset)
{
	if (which >= TR2P_COLUMNS || offset != (int32_t)offset)
		run->is_refused = 1;
	run->rules->cfa_is_expression = 0;
	run->rules->cfa_register = (uint8_t)which;
	run->rules->cfa_value = (int32_t)offset;
}

static void remember(struct run *run)
{
	if (run->remembered == REMEMBERED)
		run->is_refused = 1;
	else
		run->states[run->remembered++] = *run->rules;
}

static void recall(struct run *run)
{
	if (!run->remembered)
		run->is_refused = 1;
	else
		*run->rules = run->states[--run->remembered];
}

/* Of the frame's address.  Return  0: it is about something else */
static int run_cfa(struct run *run, unsigned what)
{
	struct tr2p_bytes *bytes = &run->bytes;
	const int64_t factor = run->fde->data_align;
	uint64_t which;

	switch (what) {
	case DEF_CFA:
		which = tr2p_bytes_uleb(bytes);
		set_cfa(run, which, (int64_t)tr2p_bytes_uleb(bytes));
		return 1;
	case DEF_CFA_SF:
		which = tr2p_bytes_uleb(bytes);
		set_cfa(run, which, tr2p_bytes_sleb(bytes) * factor);
		return 1;
	case DEF_CFA_REGISTER:
		set_cfa(run, tr2p_bytes_uleb(bytes), run->rules->cfa_value);
		return 1;
	case DEF_CFA_OFFSET:
		set_cfa(run, run->rules->cfa_register, (int64_t)tr2p_bytes_uleb(bytes));
		return 1;
	case DEF_CFA_OFFSET_SF:
		set_cfa(run, run->rules->cfa_register, tr2p_bytes_sleb(bytes) * factor);
		return 1;
	case DEF_CFA_EXPRESSION:
		run->rules->cfa_value = take_expression(run);
		run->rules->cfa_is_expression = 1;
		return 1;
	}
	return 0;
}

/* Of a register; the number of which comes first. */
static void run_register(struct run *run, unsigned what)
{
	struct tr2p_bytes *bytes = &run->bytes;
	uint64_t which = tr2p_bytes_uleb(bytes);

	switch (what) {
	case OFFSET_EXTENDED:
		set_at(run, which, TR2P_AT, (int64_t)tr2p_bytes_uleb(bytes));
		break;
	case OFFSET_EXTENDED_SF:
		set_at(run, which, TR2P_AT, tr2p_bytes_sleb(bytes));
		break;
	case GNU_NEGATIVE_OFFSET:
		set_at(run, which, TR2P_AT, -(int64_t)tr2p_bytes_uleb(bytes));
		break;
	case VAL_OFFSET:
		set_at(run, which, TR2P_IS, (int64_t)tr2p_bytes_uleb(bytes));
		break;
	case VAL_OFFSET_SF:
		set_at(run, which, TR2P_IS, tr2p_bytes_sleb(bytes));
		break;
	case RESTORE_EXTENDED:
		restore(run, which);
		break;
	case UNDEFINED:
		set_rule(run, which, TR2P_UNDEFINED, 0);
		break;
	case SAME_VALUE:
		set_rule(run, which, TR2P_SAME, 0);
		break;
	case REGISTER:
		set_rule(run, which, TR2P_IN, (int64_t)tr2p_bytes_uleb(bytes));
		break;
	case EXPRESSION:
		set_rule(run, which, TR2P_AT_EXPRESSION, take_expression(run));
		break;
	case VAL_EXPRESSION:
		set_rule(run, which, TR2P_IS_EXPRESSION, take_expression(run));
		break;
	default:
		run->is_refused = 1;
	}
}

static void run_one(struct run *run, unsigned what)
{
	struct tr2p_bytes *bytes = &run->bytes;
	const uint32_t align = run->fde->code_align;

	switch (what) {
	case NOP:
#ifdef __aarch64__
	case AARCH64_NEGATE_RA:            /* each return address is read without a signature */
	case AARCH64_NEGATE_RA_WITH_PC:
#endif
		break;
	case ADVANCE1:
		run->at += (uintptr_t)tr2p_bytes_u8(bytes) * align;
		break;
	case ADVANCE2:
		run->at += (uintptr_t)tr2p_bytes_u16(bytes) * align;
		break;
	case ADVANCE4:
		run->at += (uintptr_t)tr2p_bytes_u32(bytes) * align;
		break;
	case REMEMBER:
		remember(run);
		break;
	case RECALL:
		recall(run);
		break;
	case GNU_ARGS_SIZE:
		tr2p_bytes_uleb(bytes);
		break;
	default:
		if (!run_cfa(run, what))
			run_register(run, what);
	}
}

static int run_program(struct run *run, const struct tr2p_bytes *bytes)
{
	run->bytes = *bytes;
	while (run->bytes.at < run->bytes.end && run->at <= run->pc && !run->is_refused) {
		unsigned what = tr2p_bytes_u8(&run->bytes), low = what & 0x3f;
		if (what >= RESTORE)
			restore(run, low);
		else if (what >= OFFSET)
			set_at(run, low, TR2P_AT, (int64_t)tr2p_bytes_uleb(&run->bytes));
		else if (what >= ADVANCE)
			run->at += (uintptr_t)low * run->fde->code_align;
		else
			run_one(run, what);
	}
	return !run->is_refused && !run->bytes.is_broken;
}

int tr2p_cfi_run(struct tr2p_rules *rules, const struct tr2p_fde *fde, uintptr_t pc)
{
	struct run run;

	memset(rules, 0, offsetof(struct tr2p_rules, value));
	rules->cfa_register = UINT8_MAX;
	run.rules = rules;
	run.fde = fde;
	run.at = fde->start;
	run.pc = pc;
	run.is_refused = 0;
	run.remembered = 0;
	run.first_ra_how = TR2P_SAME;
	run.first_ra_value = 0;
	if (fde->ra != TR2P_RA || !run_program(&run, &fde->cie_program))
		return 0;
	run.first_ra_how = rules->how[TR2P_RA];
	run.first_ra_value = rules->value[TR2P_RA];
	return run_program(&run, &fde->program) &&
	       (rules->cfa_is_expression || rules->cfa_register < TR2P_COLUMNS);
}
#else
extern int tr2p_cfi_is_left_to_libgcc;
#endif
