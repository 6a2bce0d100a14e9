/* SPDX-License-Identifier: MIT */
/* tr2p_frame.c - see tr2p_frame.h. */
#include "tr2p_frame.h"

#ifdef TR2P_HAS_FRAME_POINTERS
#include <dlfcn.h>
#include <string.h>

#include "tr2p_fde.h"

enum { WORD = sizeof(uintptr_t), SEARCH_BYTES = 64 << 10, CHAIN_BYTES = 1 << 20 };

/* Which function a call that ends here goes to. */
enum call { NO_CALL, OF_ANY, OF_THIS };

static uintptr_t function_of(uintptr_t at)
{
	struct tr2p_fde fde;

	return tr2p_fde_find(&fde, at, 0) ? fde.start : 0;
}

/* Modules call each other by way of "endbr64; bnd jmp *(ip + distance)".  Return  where that goes to; 0: it is none */
static uintptr_t jump_at(uintptr_t at)
{
	uintptr_t target = 0;
#ifdef __x86_64__
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	unsigned char code[12];
	int32_t distance;
	size_t i;

	if (!tr2p_guard_copy(code, at, sizeof(code)))
		return 0;
	i = memcmp(code, endbr, sizeof(endbr)) ? 0 : sizeof(endbr);
	i += code[i] == 0xf2;
	if (code[i] != 0xff || code[i + 1] != 0x25)
		return 0;
	memcpy(&distance, code + i + 2, sizeof(distance));
	if (!tr2p_guard_copy(&target, at + i + 6 + (uintptr_t)(intptr_t)distance, sizeof(target)))
		return 0;
#else
	(void)at;
#endif
	return target;
}

static enum call call_of(uintptr_t called, uintptr_t function)
{
	if (called != function && function_of(called) != called) {
		called = jump_at(called);
		if (!called)
			return OF_ANY;
	}
	if (called == function)
		return OF_THIS;
	return function_of(called) == called ? NO_CALL : OF_ANY;
}

#ifdef __aarch64__
static enum call call_before(uintptr_t returns_to, uintptr_t function)
{
	uint32_t code;

	if (!tr2p_guard_copy(&code, returns_to - sizeof(code), sizeof(code)))
		return NO_CALL;
	if (code >> 26 == 0x25)               /* bl */
		return call_of(returns_to - 4 + (uintptr_t)((int64_t)((uint64_t)(code & 0x3ffffff) << 38) >> 36),
			       function);
	return (code & 0xfffffc1f) == 0xd63f0000 ? OF_ANY : NO_CALL;
}
#else
static enum call call_before(uintptr_t returns_to, uintptr_t function)
{
	enum { LONGEST = 7, DIRECT = 5, BY_TABLE = 6, CALL = 0xe8, INDIRECT = 0xff };
	unsigned char code[LONGEST];
	uintptr_t called;
	int32_t distance;

	if (!tr2p_guard_copy(code, returns_to - LONGEST, LONGEST))
		return NO_CALL;
	memcpy(&distance, code + LONGEST - 4, sizeof(distance));
	called = returns_to + (uintptr_t)(intptr_t)distance;
	if (code[LONGEST - DIRECT] == CALL)
		return call_of(called, function);
	if (WORD == 8 && code[LONGEST - BY_TABLE] == INDIRECT && code[LONGEST - BY_TABLE + 1] == 0x15 &&
	    tr2p_guard_copy(&called, called, sizeof(called)))
		return call_of(called, function);
	for (unsigned length = 2; length <= LONGEST; length++)
		if (code[LONGEST - length] == INDIRECT && (code[LONGEST - length + 1] >> 3 & 7) == 2)
			return OF_ANY;
	return NO_CALL;
}
#endif

int tr2p_frame_is_of_module(uintptr_t address)
{
	struct dl_find_object found;

	return !_dl_find_object((void *)address, &found);
}

int tr2p_frame_may_return_to(uintptr_t address)
{
	return tr2p_frame_is_of_module(address) && function_of(address - 1) && call_before(address, 0) == OF_ANY;
}

/*
 * The lowest pair that is a call of this function counts; or of a function that a register names, if the frame pointer
 * leads on in the stack.  If there is no such pair, the first pair counts nevertheless: the caller of a thread's
 * first function uses that register for something else.  But functions rarely call themselves by a pointer.
 */
int tr2p_frame_find(struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	const uintptr_t sp = regs->at[TR2P_SP];
	const uintptr_t function = function_of(regs->is_exact ? regs->pc : regs->pc - 1);
	uintptr_t outer, returns_to, found = 0;
	int is_certain = !function || sp % WORD != 0 || sp > UINTPTR_MAX - SEARCH_BYTES - WORD;

	if (regs->known >> TR2P_FP & 1)
		return 0;
	for (uintptr_t at = sp; !is_certain && at < sp + SEARCH_BYTES; at += WORD) {
		enum call call;
		if (!tr2p_guard_word(guard, at, &outer) || !tr2p_guard_word(guard, at + WORD, &returns_to))
			break;
		returns_to = tr2p_regs_plain(returns_to);
		call = tr2p_frame_is_of_module(returns_to) ? call_before(returns_to, function) : NO_CALL;
		is_certain = call == OF_THIS || (call == OF_ANY && outer > at && outer - at < CHAIN_BYTES);
		if (is_certain || (call == OF_ANY && !found && function_of(returns_to - 1) != function))
			found = at;
	}
	regs->at[TR2P_FP] = found;
	regs->known |= (uint64_t)(found != 0) << TR2P_FP;
	return found != 0;
}
#else
extern int tr2p_frame_has_no_pointer;
#endif
