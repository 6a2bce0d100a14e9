/* SPDX-License-Identifier: MIT */
/* tr2p_expression.c - DWARF's expressions, as entries of linkage tables and frames of signals have them. */
#ifndef __arm__
#include "tr2p_cfi.h"

enum { DEPTH = 16, STEPS = 256 };

enum {
	OP_DEREF = 0x06, OP_CONST1U = 0x08, OP_CONST1S, OP_CONST2U, OP_CONST2S, OP_CONST4U, OP_CONST4S, OP_CONST8U,
	OP_CONST8S, OP_CONSTU, OP_CONSTS, OP_DUP, OP_DROP, OP_OVER, OP_PICK, OP_SWAP, OP_ROT, OP_ABS = 0x19, OP_AND,
	OP_DIV, OP_MINUS, OP_MOD, OP_MUL, OP_NEG, OP_NOT, OP_OR, OP_PLUS, OP_PLUS_UCONST, OP_SHL, OP_SHR, OP_SHRA,
	OP_XOR, OP_BRA, OP_EQ, OP_GE, OP_GT, OP_LE, OP_LT, OP_NE, OP_SKIP, OP_LIT0 = 0x30, OP_REG0 = 0x50,
	OP_BREG0 = 0x70, OP_REGX = 0x90, OP_BREGX = 0x92, OP_NOP = 0x96
};

struct machine {
	struct tr2p_bytes bytes;
	const uint8_t *begin;
	const struct tr2p_regs *regs;
	struct tr2p_guard *guard;
	int is_refused;
	unsigned n;
	uintptr_t stack[DEPTH];
};

static void push(struct machine *machine, uintptr_t value)
{
	if (machine->n == DEPTH)
		machine->is_refused = 1;
	else
		machine->stack[machine->n++] = value;
}

static uintptr_t pop(struct machine *machine)
{
	if (machine->n)
		return machine->stack[--machine->n];
	machine->is_refused = 1;
	return 0;
}

/* The i-th from the top. */
static void pick(struct machine *machine, unsigned i)
{
	if (i < machine->n)
		push(machine, machine->stack[machine->n - 1 - i]);
	else
		machine->is_refused = 1;
}

static void push_register(struct machine *machine, uint64_t which, int64_t offset)
{
	if (which == TR2P_RA && TR2P_RA == TR2P_COLUMNS - 1)
		push(machine, machine->regs->pc + (uintptr_t)offset);   /* x86: there it is the program counter */
	else if (which < TR2P_COLUMNS && machine->regs->known >> which & 1)
		push(machine, machine->regs->at[which] + (uintptr_t)offset);
	else
		machine->is_refused = 1;
}

static void go(struct machine *machine, int wanted)
{
	int distance = (int16_t)tr2p_bytes_u16(&machine->bytes);
	const uint8_t *to = machine->bytes.at + distance;

	if (!wanted)
		return;
	if (to < machine->begin || to > machine->bytes.end)
		machine->is_refused = 1;
	else
		machine->bytes.at = to;
}

static void load(struct machine *machine)
{
	uintptr_t value = 0;

	if (!tr2p_guard_word(machine->guard, pop(machine), &value))
		machine->is_refused = 1;
	push(machine, value);
}

/* Of the two on top; b is the upper one.  Return  0: it is none of these */
static int compute(unsigned what, uintptr_t a, uintptr_t b, uintptr_t *result)
{
	const intptr_t sa = (intptr_t)a, sb = (intptr_t)b;
	const int fits = b < sizeof(a) * 8;

	switch (what) {
	case OP_AND: *result = a & b; return 1;
	case OP_OR: *result = a | b; return 1;
	case OP_XOR: *result = a ^ b; return 1;
	case OP_PLUS: *result = a + b; return 1;
	case OP_MINUS: *result = a - b; return 1;
	case OP_MUL: *result = a * b; return 1;
	case OP_MOD: *result = b ? a % b : 0; return b != 0;
	case OP_DIV: *result = b && b != (uintptr_t)-1 ? (uintptr_t)(sa / sb) : 0 - a; return b != 0;
	case OP_SHL: *result = fits ? a << b : 0; return 1;
	case OP_SHR: *result = fits ? a >> b : 0; return 1;
	case OP_SHRA: *result = (uintptr_t)(sa >> (fits ? b : sizeof(a) * 8 - 1)); return 1;
	case OP_EQ: *result = a == b; return 1;
	case OP_NE: *result = a != b; return 1;
	case OP_GE: *result = sa >= sb; return 1;
	case OP_GT: *result = sa > sb; return 1;
	case OP_LE: *result = sa <= sb; return 1;
	case OP_LT: *result = sa < sb; return 1;
	}
	return 0;
}

static void run_two(struct machine *machine, unsigned what)
{
	uintptr_t b = pop(machine), a = pop(machine), result = 0;

	if (!compute(what, a, b, &result))
		machine->is_refused = 1;
	push(machine, result);
}

/* Return  0: it is no constant */
static int push_constant(struct machine *machine, unsigned what)
{
	struct tr2p_bytes *bytes = &machine->bytes;

	switch (what) {
	case OP_CONST1U: push(machine, tr2p_bytes_u8(bytes)); return 1;
	case OP_CONST1S: push(machine, (uintptr_t)(intptr_t)(int8_t)tr2p_bytes_u8(bytes)); return 1;
	case OP_CONST2U: push(machine, tr2p_bytes_u16(bytes)); return 1;
	case OP_CONST2S: push(machine, (uintptr_t)(intptr_t)(int16_t)tr2p_bytes_u16(bytes)); return 1;
	case OP_CONST4U: push(machine, tr2p_bytes_u32(bytes)); return 1;
	case OP_CONST4S: push(machine, (uintptr_t)(intptr_t)(int32_t)tr2p_bytes_u32(bytes)); return 1;
	case OP_CONST8U:
	case OP_CONST8S: push(machine, (uintptr_t)tr2p_bytes_u64(bytes)); return 1;
	case OP_CONSTU: push(machine, (uintptr_t)tr2p_bytes_uleb(bytes)); return 1;
	case OP_CONSTS: push(machine, (uintptr_t)tr2p_bytes_sleb(bytes)); return 1;
	}
	return 0;
}

static void rotate(struct machine *machine, unsigned n)
{
	uintptr_t top;

	if (machine->n < n) {
		machine->is_refused = 1;
		return;
	}
	top = machine->stack[machine->n - 1];
	for (unsigned i = machine->n - 1; i > machine->n - n; i--)
		machine->stack[i] = machine->stack[i - 1];
	machine->stack[machine->n - n] = top;
}

static void run_other(struct machine *machine, unsigned what)
{
	uintptr_t value;

	switch (what) {
	case OP_DEREF: load(machine); break;
	case OP_DUP: pick(machine, 0); break;
	case OP_OVER: pick(machine, 1); break;
	case OP_PICK: pick(machine, tr2p_bytes_u8(&machine->bytes)); break;
	case OP_DROP: pop(machine); break;
	case OP_SWAP: rotate(machine, 2); break;
	case OP_ROT: rotate(machine, 3); break;
	case OP_NEG: push(machine, 0 - pop(machine)); break;
	case OP_NOT: push(machine, ~pop(machine)); break;
	case OP_ABS:
		value = pop(machine);
		push(machine, (intptr_t)value < 0 ? 0 - value : value);
		break;
	case OP_PLUS_UCONST:
		value = pop(machine);
		push(machine, value + (uintptr_t)tr2p_bytes_uleb(&machine->bytes));
		break;
	case OP_BRA: go(machine, pop(machine) != 0); break;
	case OP_SKIP: go(machine, 1); break;
	case OP_NOP: break;
	default: run_two(machine, what);
	}
}

static void run_one(struct machine *machine, unsigned what)
{
	uint64_t which;

	if (push_constant(machine, what))
		return;
	if (what >= OP_LIT0 && what < OP_LIT0 + 32) {
		push(machine, what - OP_LIT0);
	} else if (what >= OP_REG0 && what < OP_REG0 + 32) {
		push_register(machine, what - OP_REG0, 0);
	} else if (what >= OP_BREG0 && what < OP_BREG0 + 32) {
		push_register(machine, what - OP_BREG0, tr2p_bytes_sleb(&machine->bytes));
	} else if (what == OP_REGX) {
		push_register(machine, tr2p_bytes_uleb(&machine->bytes), 0);
	} else if (what == OP_BREGX) {
		which = tr2p_bytes_uleb(&machine->bytes);
		push_register(machine, which, tr2p_bytes_sleb(&machine->bytes));
	} else {
		run_other(machine, what);
	}
}

int tr2p_cfi_evaluate(uintptr_t *value, const uint8_t *at, const uintptr_t *first, const struct tr2p_regs *regs,
		      struct tr2p_guard *guard)
{
	/* The entry that it is in was read: its length is right */
	struct tr2p_bytes length = { at, at + 10, 0 };
	uint64_t n = tr2p_bytes_uleb(&length);
	struct machine machine;

	machine.bytes = (struct tr2p_bytes){ length.at, length.at + n, 0 };
	machine.begin = length.at;
	machine.regs = regs;
	machine.guard = guard;
	machine.is_refused = 0;
	machine.n = 0;
	if (first)
		push(&machine, *first);
	for (unsigned i = 0; i < STEPS && machine.bytes.at < machine.bytes.end && !machine.is_refused; i++)
		run_one(&machine, tr2p_bytes_u8(&machine.bytes));
	if (machine.bytes.at < machine.bytes.end || machine.is_refused || machine.bytes.is_broken || !machine.n)
		return 0;
	*value = machine.stack[machine.n - 1];
	return 1;
}
#else
extern int tr2p_expression_is_left_to_libgcc;
#endif
