/* SPDX-License-Identifier: MIT */
/* tr2p_unwind.c - by libgcc, or along frame pointers. */
#include "tr2p_unwind.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unwind.h>

#include "tr2p_init.h"

static struct settings {
	int by_frame_pointers;
	unsigned frames;
	uintptr_t libgcc, libgcc_end; /* where that is in memory */
} g_settings = { .frames = TR2P_FRAMES };

/* ---- what a signal has interrupted ---------------------------------------------------------------- */

struct registers {
	uintptr_t pc, fp, sp;
};

static struct registers registers_of(const void *context)
{
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;

#if defined(__x86_64__)
	return (struct registers){ (uintptr_t)m->gregs[REG_RIP], (uintptr_t)m->gregs[REG_RBP],
				   (uintptr_t)m->gregs[REG_RSP] };
#elif defined(__i386__)
	return (struct registers){ (uintptr_t)m->gregs[REG_EIP], (uintptr_t)m->gregs[REG_EBP],
				   (uintptr_t)m->gregs[REG_ESP] };
#elif defined(__aarch64__)
	return (struct registers){ m->pc, m->regs[29], m->sp };
#elif defined(__arm__)
	return (struct registers){ m->arm_pc, m->arm_fp, m->arm_sp };
#elif defined(__s390x__)
	return (struct registers){ m->psw.addr, m->gregs[11], m->gregs[15] };
#else
#error "where do registers lie in a signal's context here?"
#endif
}

/* ---- libgcc --------------------------------------------------------------------------------------- */

#ifdef __arm__
/*
 * There libgcc asks libc for the unwind table of a module, which looks for it under the loader's lock: another thread
 * may have that, or, in a forked child, one that is not there.  So we stand in front of it.
 */
__attribute__((visibility("default"))) _Unwind_Ptr __gnu_Unwind_Find_exidx(_Unwind_Ptr pc, int *count);
_Unwind_Ptr __gnu_Unwind_Find_exidx(_Unwind_Ptr pc, int *count)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)pc, &found)) {
		*count = 0;
		return 0;
	}
	*count = found.dlfo_eh_count;
	return (_Unwind_Ptr)found.dlfo_eh_frame;
}
#endif

struct walk {
	struct tr2p_stack *stack;
	uintptr_t from;           /* begins with the frame that was interrupted here; 0: begins by skip */
	unsigned skip;
	uintptr_t cfa;            /* of the frame before */
};

/* Frames lie one above the other in the thread's stack: one that does not was made of nonsense, and no further. */
static int is_sane(const struct walk *walk, uintptr_t cfa)
{
	const struct tr2p_thread *thread = &tr2p_g_thread;

	if (walk->cfa && cfa < walk->cfa)
		return 0;
	return !thread->stack_high || (cfa >= thread->stack_low && cfa <= thread->stack_high);
}

/*
 * A signal in libgcc itself: when it goes to the handler of an exception, its frame is half its own and half the
 * handler's, and to go on from there ends at an address of nowhere, which it reads.
 */
static int is_libgcc(uintptr_t ip)
{
	return ip >= g_settings.libgcc && ip < g_settings.libgcc_end;
}

/* Where a frame lies in the stack. */
static uintptr_t place_of(struct _Unwind_Context *context)
{
#ifdef __arm__
	enum { SP = 13 };

	return _Unwind_GetGR(context, SP);   /* its _Unwind_GetCFA() is always 1 */
#else
	return _Unwind_GetCFA(context);
#endif
}

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;
	int is_exact = 0;
	uintptr_t ip = _Unwind_GetIPInfo(context, &is_exact), cfa = place_of(context);

	if (walk->from) {
#ifdef __arm__
		is_exact = ip == walk->from;   /* there it is never said */
#endif
		if (!is_exact || ip != walk->from)
			return _URC_NO_REASON;   /* still in the handler, perhaps on a stack of its own */
		walk->from = 0;
	} else if (walk->skip) {
		walk->skip--;
		return _URC_NO_REASON;
	}
	if (!ip)
		return _URC_END_OF_STACK;
	walk->stack->at[walk->stack->n++] = is_exact ? ip : ip - 1;
	if (walk->stack->n == g_settings.frames || !is_sane(walk, cfa) || (is_exact && is_libgcc(ip)))
		return _URC_END_OF_STACK;
	walk->cfa = cfa;
	return _URC_NO_REASON;
}

/* To the end of the stack, or until it gives up.  noinline: tr2p_unwind() counts its frame. */
static __attribute__((noinline)) void walk_by_libgcc(struct walk *walk)
{
	struct tr2p_thread *thread = &tr2p_g_thread;
	void *const outer = thread->unwinding;    /* that a signal has interrupted */
	jmp_buf here;

	if (!_setjmp(here)) {
		thread->unwinding = &here;
		tr2_fence_compiler();
		_Unwind_Backtrace(take_frame, walk);
	}
	tr2_fence_compiler();
	thread->unwinding = outer;
}

void tr2p_unwind_give_up(const void *caller)
{
	jmp_buf *there = tr2p_g_thread.unwinding;

	if (is_libgcc((uintptr_t)caller))     /* and not a handler that has interrupted it */
		_longjmp(*there, 1);
}

/* ---- frame pointers -------------------------------------------------------------------------------- */

#ifdef TR2P_HAS_FRAME_POINTERS
/* Without the signature that aarch64 may have put into it. */
static uintptr_t plain(uintptr_t returns_to)
{
#ifdef __aarch64__
	register uintptr_t x30 __asm__("x30") = returns_to;

	__asm__("hint 7" : "+r"(x30));   /* xpaclri */
	return x30;
#else
	return returns_to;
#endif
}

/* A frame's first two words are the frame pointer of its caller and where it returns to. */
static void walk_frames(struct tr2p_stack *stack, uintptr_t fp, uintptr_t low, unsigned skip)
{
	uintptr_t high = tr2p_g_thread.stack_high;

	while (stack->n < g_settings.frames && fp >= low && fp % sizeof(fp) == 0 && fp + 2 * sizeof(fp) <= high) {
		const uintptr_t *frame = (const void *)fp;
		if (!frame[1])
			break;
		if (skip)
			skip--;
		else
			stack->at[stack->n++] = plain(frame[1]) - 1;
		low = fp + 2 * sizeof(fp);
		fp = frame[0];
	}
}
#else
static void walk_frames(struct tr2p_stack *stack, uintptr_t fp, uintptr_t low, unsigned skip)
{
	(void)stack, (void)fp, (void)low, (void)skip;
}
#endif

/* ---- both ----------------------------------------------------------------------------------------- */

/* Linked into the program libgcc is part of it: what lies around its functions. */
static void find_linked_libgcc(void)
{
	enum { AROUND = 8192 };
	const uintptr_t functions[] = {
		(uintptr_t)_Unwind_Backtrace, (uintptr_t)_Unwind_GetCFA, (uintptr_t)_Unwind_RaiseException,
		(uintptr_t)_Unwind_ForcedUnwind, (uintptr_t)_Unwind_Resume
	};

	g_settings.libgcc = g_settings.libgcc_end = functions[0];
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (functions[i] < g_settings.libgcc)
			g_settings.libgcc = functions[i];
		if (functions[i] > g_settings.libgcc_end)
			g_settings.libgcc_end = functions[i];
	}
	g_settings.libgcc -= AROUND;
	g_settings.libgcc_end += AROUND;
}

static void find_libgcc(void)
{
	const uintptr_t here = (uintptr_t)find_libgcc;
	struct dl_find_object found;

	if (_dl_find_object((void *)(uintptr_t)_Unwind_Backtrace, &found))
		return;
	g_settings.libgcc = (uintptr_t)found.dlfo_map_start;
	g_settings.libgcc_end = (uintptr_t)found.dlfo_map_end;
	if (is_libgcc(here))
		find_linked_libgcc();
}

void tr2p_unwind_init(int by_frame_pointers, unsigned frames)
{
	struct tr2p_stack stack;

	find_libgcc();
	g_settings.by_frame_pointers = by_frame_pointers;
	if (frames)
		g_settings.frames = frames < TR2P_FRAMES_MAX ? frames : TR2P_FRAMES_MAX;
	if (!by_frame_pointers)
		tr2p_unwind(&stack, 0);
}

/* Frames of this function and of its caller are left out. */
__attribute__((noinline)) void tr2p_unwind(struct tr2p_stack *stack, unsigned skip)
{
	struct walk walk = { .stack = stack, .skip = skip + 3 };

	tr2p_is_ready();   /* for threads that were there before: settings, and tables that they sample into */
	stack->n = 0;
	if (g_settings.by_frame_pointers)
		walk_frames(stack, (uintptr_t)__builtin_frame_address(0), tr2p_g_thread.stack_low, skip + 1);
	else
		walk_by_libgcc(&walk);
}

/* Along frame pointers, which functions of ours do not have, it is left out. */
static void put_in_front(struct tr2p_stack *stack, uintptr_t at)
{
	unsigned n = stack->n < TR2P_FRAMES_MAX ? stack->n : TR2P_FRAMES_MAX - 1;

	memmove(stack->at + 1, stack->at, n * sizeof(stack->at[0]));
	stack->at[0] = at;
	stack->n = n + 1;
}

void tr2p_unwind_from(struct tr2p_stack *stack, const void *caller)
{
	const uintptr_t first = tr2p_call_of(caller);
	unsigned ours = 0;

	tr2p_unwind(stack, 0);
	while (ours < stack->n && stack->at[ours] != first)
		ours++;
	if (ours == stack->n) {
		put_in_front(stack, first);
		return;
	}
	stack->n -= ours;
	memmove(stack->at, stack->at + ours, stack->n * sizeof(stack->at[0]));
}

static void unwind_signal(struct tr2p_stack *stack, const void *context)
{
	const struct registers at = registers_of(context);
	struct walk walk = { .stack = stack, .from = at.pc };

	tr2p_is_ready();   /* as above */
	stack->n = 0;
	if (!g_settings.by_frame_pointers)
		walk_by_libgcc(&walk);
	if (stack->n || !at.pc)
		return;
	stack->at[stack->n++] = at.pc;
	if (g_settings.by_frame_pointers)
		walk_frames(stack, at.fp, at.sp, 0);
}

void tr2p_unwind_either(struct tr2p_stack *stack, const void *context, const void *caller)
{
	if (context)
		unwind_signal(stack, context);
	else
		tr2p_unwind_from(stack, caller);
}
