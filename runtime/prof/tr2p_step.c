/* SPDX-License-Identifier: MIT */
/* tr2p_step.c - the rules of a frame applied to its registers; frame pointers. */
#ifndef __arm__
#include "tr2p_step.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "tr2p_cfi.h"
#include "tr2p_fde.h"
#include "tr2p_frame.h"
#include "tr2p_unwind.h"

enum { WORD = sizeof(uintptr_t) };

/* ---- tables ---------------------------------------------------------------------------------------- */

static int find_cfa(uintptr_t *cfa, const struct tr2p_rules *rules, const struct tr2p_fde *fde,
		    const struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	if (rules->cfa_is_expression)
		return tr2p_cfi_evaluate(cfa, fde->base + rules->cfa_value, NULL, regs, guard);
	if (!(regs->known >> rules->cfa_register & 1))
		return 0;
	*cfa = regs->at[rules->cfa_register] + (uintptr_t)(intptr_t)rules->cfa_value;
	return 1;
}

/* The value of one register in the caller.  Return  0: it has none there */
static int find_register(uintptr_t *value, unsigned which, uintptr_t cfa, const struct tr2p_rules *rules,
			 const struct tr2p_fde *fde, const struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	const int32_t n = rules->value[which];
	uintptr_t at;

	switch ((enum tr2p_rule)rules->how[which]) {
	case TR2P_AT:
		return tr2p_guard_word(guard, cfa + (uintptr_t)(intptr_t)n, value);
	case TR2P_IS:
		*value = cfa + (uintptr_t)(intptr_t)n;
		return 1;
	case TR2P_IN:
		if (n < 0 || n >= TR2P_COLUMNS || !(regs->known >> n & 1))
			return 0;
		*value = regs->at[n];
		return 1;
	case TR2P_AT_EXPRESSION:
		return tr2p_cfi_evaluate(&at, fde->base + n, &cfa, regs, guard) && tr2p_guard_word(guard, at, value);
	case TR2P_IS_EXPRESSION:
		return tr2p_cfi_evaluate(value, fde->base + n, &cfa, regs, guard);
	case TR2P_SAME:
	case TR2P_UNDEFINED:
		break;
	}
	return 0;
}

/* All registers of the caller, with the stack pointer that most machines' tables do not speak of. */
static void apply(struct tr2p_regs *to, uintptr_t cfa, const struct tr2p_rules *rules, const struct tr2p_fde *fde,
		  const struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	*to = *regs;
#ifndef __s390x__                     /* there it is a register as any other that functions keep */
	to->at[TR2P_SP] = cfa;
	to->known |= UINT64_C(1) << TR2P_SP;
#endif
	for (uint64_t left = rules->set; left; left &= left - 1) {
		unsigned which = (unsigned)__builtin_ctzll(left);
		uintptr_t value = 0;
		if (find_register(&value, which, cfa, rules, fde, regs, guard)) {
			to->at[which] = value;
			to->known |= UINT64_C(1) << which;
		} else {
			to->known &= ~(UINT64_C(1) << which);
		}
	}
}

/*
 * Frames lie one above the other: one that does not was made of nonsense.  That of a signal may lie on another stack
 * than what it has interrupted; and what a signal has interrupted may have no frame yet.
 */
static int is_above(const struct tr2p_regs *caller, const struct tr2p_regs *regs, const struct tr2p_fde *fde)
{
	uintptr_t now = regs->at[TR2P_SP], next = caller->at[TR2P_SP];

	return fde->is_signal_frame || next > now || (next == now && regs->is_exact);
}

/*
 * Some kernels, and emulators, have no table for where a handler of aarch64 or s390x returns to.  Its instructions show
 * that place, then, and what the signal has interrupted lies in the handler's frame.
 */
#if defined(__aarch64__)
static const uint32_t g_sigreturn[] = { 0xd2801168, 0xd4000001 };      /* mov x8, #139; svc #0 */

/* Behind siginfo_t: the 31 registers, the stack pointer, the program counter. */
static int read_context(struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	uintptr_t from = regs->at[TR2P_SP] + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs);

	for (unsigned i = 0; i < TR2P_COLUMNS; i++, from += WORD)
		if (!tr2p_guard_word(guard, from, &regs->at[i]))
			return 0;
	return tr2p_guard_word(guard, from, &regs->pc);
}
#elif defined(__s390x__)
static const unsigned char g_sigreturn[] = { 0x0a, 173 };              /* svc 173 */

/* Behind the room that functions have, the instruction and siginfo_t: the program status word, 16 registers. */
static int read_context(struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	uintptr_t from = regs->at[TR2P_SP] + 160 + WORD + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext);

	if (!tr2p_guard_word(guard, from + offsetof(mcontext_t, psw.addr), &regs->pc))
		return 0;
	from += offsetof(mcontext_t, gregs);
	for (unsigned i = 0; i < 16; i++, from += WORD)
		if (!tr2p_guard_word(guard, from, &regs->at[i]))
			return 0;
	return 1;
}
#else
static const unsigned char g_sigreturn[] = { 0 };

static int read_context(struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	(void)regs, (void)guard;
	return 0;
}
#endif

static enum tr2p_step step_over_signal(struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	unsigned char code[sizeof(g_sigreturn)];
	struct tr2p_regs caller = *regs;

	if (sizeof(code) < 2 || !tr2p_guard_copy(code, regs->pc, sizeof(code)) ||
	    memcmp(code, g_sigreturn, sizeof(code)) != 0)
		return TR2P_STEP_NO_TABLE;
	if (!read_context(&caller, guard))
		return TR2P_STEP_END;
	caller.known = (UINT64_C(1) << TR2P_COLUMNS) - 1;
	caller.is_exact = 1;
	*regs = caller;
	return TR2P_STEP_DONE;
}

enum tr2p_step tr2p_step_by_table(struct tr2p_regs *regs, struct tr2p_guard *guard, int may_ask)
{
	const uintptr_t pc = regs->is_exact ? regs->pc : regs->pc - 1;
	struct tr2p_regs caller;
	struct tr2p_rules rules;
	struct tr2p_fde fde;
	uintptr_t cfa;

	if (!tr2p_fde_find(&fde, pc, may_ask))
		return step_over_signal(regs, guard);
	if (!tr2p_cfi_run(&rules, &fde, pc) || !find_cfa(&cfa, &rules, &fde, regs, guard))
		return TR2P_STEP_LOST;
	apply(&caller, cfa, &rules, &fde, regs, guard);
	if (rules.how[TR2P_RA] == TR2P_UNDEFINED && (rules.set >> TR2P_RA & 1))
		return TR2P_STEP_END;
	if (!(caller.known >> TR2P_RA & 1) || !is_above(&caller, regs, &fde))
		return TR2P_STEP_LOST;
	caller.pc = tr2p_regs_plain(caller.at[TR2P_RA]);
	caller.is_exact = fde.is_signal_frame;
	*regs = caller;
	return TR2P_STEP_DONE;
}

/* ---- frame pointers -------------------------------------------------------------------------------- */

#ifdef TR2P_HAS_FRAME_POINTERS
/* Does a call end where this returns to?  Only code that can be read is believed, see may_be_made(). */
enum behind { BEHIND_NOTHING /* that can be read */, BEHIND_OTHER, BEHIND_CALL };

static enum behind behind(uintptr_t returns_to)
{
#ifdef __aarch64__
	uint32_t call;

	if (!tr2p_guard_copy(&call, returns_to - sizeof(call), sizeof(call)))
		return BEHIND_NOTHING;
	return call >> 26 == 0x25 || (call & 0xfffffc1f) == 0xd63f0000 ||     /* bl, blr */
	       (call & 0xfefff800) == 0xd63f0800 ? BEHIND_CALL : BEHIND_OTHER;   /* blraa and its like */
#else
	enum { LONGEST = 7, INDIRECT = 0xff, CALL = 0xe8 };
	unsigned char code[LONGEST];

	if (!tr2p_guard_copy(code, returns_to - LONGEST, LONGEST))
		return BEHIND_NOTHING;
	if (code[LONGEST - 5] == CALL)
		return BEHIND_CALL;
	for (unsigned length = 2; length <= LONGEST; length++)     /* its second byte has the kind of a call: 2 */
		if (code[LONGEST - length] == INDIRECT && (code[LONGEST - length + 1] >> 3 & 7) == 2)
			return BEHIND_CALL;
	return BEHIND_OTHER;
#endif
}

static int is_behind_call(uintptr_t returns_to)
{
	return behind(returns_to) == BEHIND_CALL;
}

/*
 * Interpreters that are made at run time jump to what returns to them, so that no call stands in front of that place.
 * Their frames are believed if the chain of frame pointers leads to one that a call has made, or is long.
 */
static int leads_to_call(const struct tr2p_regs *regs, struct tr2p_guard *guard, uintptr_t frame)
{
	enum { FRAMES = 64, FRAME_BYTES = 1 << 16 };
	uintptr_t outer, returns_to;

	if (frame == guard->chain && frame <= guard->chain_end)
		return 1;
	if (tr2p_frame_is_of_module(regs->pc))
		return 0;
	for (unsigned i = 0; i < FRAMES; i++, frame = outer) {
		enum behind what;
		if (!tr2p_guard_word(guard, frame, &outer) || !tr2p_guard_word(guard, frame + WORD, &returns_to))
			return 0;
		returns_to = tr2p_regs_plain(returns_to);
		what = behind(returns_to);
		if (what == BEHIND_CALL || i == FRAMES - 1) {
			guard->chain_end = frame;
			return i > 0;
		}
		if (what == BEHIND_NOTHING || tr2p_frame_is_of_module(returns_to) || outer % WORD || outer <= frame ||
		    outer - frame > FRAME_BYTES)
			return 0;
	}
	return 0;
}

/*
 * A signal may come where a function has no frame yet, or none any more: then the frame pointer is the caller's still,
 * whom a step by it would leave out.  The instruction at hand tells: the first two of a function that makes a frame,
 * and the return.
 * returns_to  set to where the function returns to
 * Return      how many words lie on the stack up to behind that; -1: it is none of these
 */
static int find_no_frame(const struct tr2p_regs *regs, struct tr2p_guard *guard, uintptr_t *returns_to)
{
#ifdef __aarch64__
	uint32_t code;

	(void)guard;
	if (!tr2p_guard_copy(&code, regs->pc, sizeof(code)) || !(regs->known >> TR2P_RA & 1) ||
	    ((code & 0xffc07fff) != 0xa9807bfd && code != 0xd65f03c0))    /* stp x29, x30, [sp, #-n]!; ret */
		return -1;
	*returns_to = regs->at[TR2P_RA];
	return 0;
#else
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e };
	unsigned char code[3];
	int words;

	if (!tr2p_guard_copy(code, regs->pc, sizeof(code)))
		return -1;
	if (code[0] == 0x55 || code[0] == 0xc3 || code[0] == 0xc2 || !memcmp(code, endbr, sizeof(endbr)))
		words = 0;                        /* push; ret; endbr in front of a push */
	else if (WORD == 8 ? code[0] == 0x48 && ((code[1] == 0x89 && code[2] == 0xe5) ||
						 (code[1] == 0x8b && code[2] == 0xec))
			   : (code[0] == 0x89 && code[1] == 0xe5) || (code[0] == 0x8b && code[1] == 0xec))
		words = 1;                        /* the frame pointer becomes the stack pointer */
	else
		return -1;
	if (!tr2p_guard_word(guard, regs->at[TR2P_SP] + (unsigned)words * WORD, returns_to))
		return -1;
	return words + 1;
#endif
}

/* Return  0: there is a frame, or nobody knows */
static int step_without_frame(struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	uintptr_t returns_to = 0;
	int words = regs->is_exact ? find_no_frame(regs, guard, &returns_to) : -1;

	returns_to = tr2p_regs_plain(returns_to);
	if (words < 0 || !returns_to || !is_behind_call(returns_to))
		return 0;
	regs->pc = returns_to;
	regs->is_exact = 0;
	regs->at[TR2P_SP] += (unsigned)words * WORD;
	regs->known = UINT64_C(1) << TR2P_FP | UINT64_C(1) << TR2P_SP;
	return 1;
}

/*
 * Where a sandbox refuses to copy memory, code that no module has cannot be read, for it may go at any moment.  Then
 * frames are believed that lie one above the other in the stack at hand and return to where something is.
 */
static int may_be_made(struct tr2p_guard *guard, uintptr_t frame, uintptr_t outer, uintptr_t returns_to)
{
	uintptr_t word;

	return tr2p_guard_is_refused() && outer > frame && outer % WORD == 0 && tr2p_guard_word(guard, outer, &word) &&
	       !tr2p_frame_is_of_module(returns_to) && tr2p_guard_is_there(returns_to);
}

int tr2p_step_by_frame(struct tr2p_regs *regs, struct tr2p_guard *guard, int has_to_prove)
{
	const uintptr_t frame = regs->at[TR2P_FP];
	uintptr_t outer, returns_to;

	if (!(regs->known >> TR2P_FP & 1))
		return 0;
	if (has_to_prove && step_without_frame(regs, guard))
		return 1;
	if (frame < regs->at[TR2P_SP] || frame > UINTPTR_MAX - 2 * WORD || !tr2p_guard_word(guard, frame, &outer) ||
	    !tr2p_guard_word(guard, frame + WORD, &returns_to))
		return 0;
	returns_to = tr2p_regs_plain(returns_to);
	if (!returns_to || ((has_to_prove || !tr2p_guard_is_own(guard, frame + WORD)) && !is_behind_call(returns_to) &&
			    !leads_to_call(regs, guard, frame) && !may_be_made(guard, frame, outer, returns_to)))
		return 0;
	guard->chain = outer;
	regs->pc = returns_to;
	regs->is_exact = 0;
	regs->at[TR2P_FP] = outer;
	regs->at[TR2P_SP] = frame + 2 * WORD;
	regs->known = UINT64_C(1) << TR2P_FP | UINT64_C(1) << TR2P_SP;
	return 1;
}
#else
int tr2p_step_by_frame(struct tr2p_regs *regs, struct tr2p_guard *guard, int has_to_prove)
{
	(void)regs, (void)guard, (void)has_to_prove;
	return 0;
}
#endif

/* ---- neither --------------------------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__i386__)
/* Whether a return address is one: of the words that a function has left behind, few lead on in the same way. */
enum leads { LEADS_NOWHERE, LEADS_ON, LEADS_BY_FRAME /* to whoever knows the frame pointer */ };

static enum leads leads(const struct tr2p_regs *caller, struct tr2p_guard *guard)
{
	struct tr2p_regs next = *caller;

	switch (tr2p_step_by_table(&next, guard, 0)) {
	case TR2P_STEP_DONE:
		return next.is_exact || is_behind_call(next.pc) ? LEADS_ON : LEADS_NOWHERE;
	case TR2P_STEP_END:
		return LEADS_ON;
	case TR2P_STEP_LOST:
		return caller->known >> TR2P_FP & 1 ? LEADS_NOWHERE : LEADS_BY_FRAME;
	case TR2P_STEP_NO_TABLE:
		break;
	}
	return LEADS_NOWHERE;
}

/* The function may use the frame pointer for something else: only one that lies above its frame is the caller's. */
static void set_frame(struct tr2p_regs *caller, uintptr_t frame)
{
	enum { FRAME_BYTES = 1 << 16 };
	const uintptr_t distance = frame - caller->at[TR2P_SP];

	caller->known = UINT64_C(1) << TR2P_SP;
	if (distance >= FRAME_BYTES || distance % WORD != 0)
		return;
	caller->at[TR2P_FP] = frame;
	caller->known |= UINT64_C(1) << TR2P_FP;
}

/* The caller needs its frame pointer, which the function has saved, from sp on.  Without it the caller is the last. */
static void find_saved_frame(struct tr2p_regs *caller, struct tr2p_guard *guard, uintptr_t sp)
{
	struct tr2p_regs tried = *caller;
	uintptr_t frame;

	for (uintptr_t at = sp; at < caller->at[TR2P_SP] - WORD; at += WORD) {
		if (!tr2p_guard_word(guard, at, &frame))
			return;
		set_frame(&tried, frame);
		if (tried.known >> TR2P_FP & 1 && leads(&tried, guard) == LEADS_ON) {
			*caller = tried;
			return;
		}
	}
}

/* Return  0: nothing returns to what this slot has */
static int try_slot(struct tr2p_regs *regs, struct tr2p_guard *guard, uintptr_t slot, uintptr_t returns_to)
{
	struct tr2p_regs caller = *regs;
	enum leads how;

	caller.pc = returns_to;
	caller.is_exact = 0;
	caller.at[TR2P_SP] = slot + WORD;
	set_frame(&caller, regs->known >> TR2P_FP & 1 ? regs->at[TR2P_FP] : 0);
	how = leads(&caller, guard);
	if (how == LEADS_NOWHERE && caller.known >> TR2P_FP & 1) {
		set_frame(&caller, 0);
		how = leads(&caller, guard);
	}
	if (how == LEADS_BY_FRAME)
		find_saved_frame(&caller, guard, regs->at[TR2P_SP]);
	if (how != LEADS_NOWHERE)
		*regs = caller;
	return how != LEADS_NOWHERE;
}

/* below  no return address from there on */
static int step_by_search(struct tr2p_regs *regs, struct tr2p_guard *guard, uintptr_t below)
{
	enum { WORDS = 32 };
	const uintptr_t sp = regs->at[TR2P_SP];
	uintptr_t returns_to;

	if (sp % WORD != 0 || sp > UINTPTR_MAX - WORDS * WORD || !tr2p_frame_is_of_module(regs->pc))
		return 0;
	for (uintptr_t slot = sp; slot < sp + WORDS * WORD && slot < below; slot += WORD) {
		if (!tr2p_guard_word(guard, slot, &returns_to))
			return 0;
		if (tr2p_frame_may_return_to(returns_to) && try_slot(regs, guard, slot, returns_to))
			return 1;
	}
	return 0;
}

int tr2p_step_without_table(struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	struct tr2p_regs by_frame = *regs;
	const int has_frame = tr2p_step_by_frame(&by_frame, guard, 1);

	if (step_by_search(regs, guard, has_frame ? by_frame.at[TR2P_SP] - WORD : UINTPTR_MAX))
		return 1;
	*regs = by_frame;
	return has_frame;
}
#else
int tr2p_step_without_table(struct tr2p_regs *regs, struct tr2p_guard *guard)
{
	return tr2p_step_by_frame(regs, guard, 1);
}
#endif
#else
extern int tr2p_step_is_left_to_libgcc;
#endif
