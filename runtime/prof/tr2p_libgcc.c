/* SPDX-License-Identifier: MIT */
/* tr2p_libgcc.c - see tr2p_libgcc.h. */
#include "tr2p_libgcc.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <unwind.h>

#include "tr2p_thread.h"
#include "tr2p_unwind.h"

static uintptr_t g_start, g_end;

int tr2p_is_libgcc(uintptr_t ip)
{
	return ip >= g_start && ip < g_end;
}

void tr2p_unwind_give_up(const void *caller)
{
	jmp_buf *there = tr2p_g_thread.unwinding;

	if (tr2p_is_libgcc((uintptr_t)caller))     /* and not a handler that has interrupted it */
		_longjmp(*there, 1);
}

/* Linked into the program libgcc is part of it: what lies around its functions. */
static void find_linked(void)
{
	enum { AROUND = 8192 };
	const uintptr_t functions[] = {
		(uintptr_t)_Unwind_Backtrace, (uintptr_t)_Unwind_GetCFA, (uintptr_t)_Unwind_RaiseException,
		(uintptr_t)_Unwind_ForcedUnwind, (uintptr_t)_Unwind_Resume
	};

	g_start = g_end = functions[0];
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (functions[i] < g_start)
			g_start = functions[i];
		if (functions[i] > g_end)
			g_end = functions[i];
	}
	g_start -= AROUND;
	g_end += AROUND;
}

void tr2p_libgcc_find(void)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)(uintptr_t)_Unwind_Backtrace, &found))
		return;
	g_start = (uintptr_t)found.dlfo_map_start;
	g_end = (uintptr_t)found.dlfo_map_end;
	if (tr2p_is_libgcc((uintptr_t)tr2p_libgcc_find))
		find_linked();
}

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

struct walk {
	struct tr2p_stack *stack;
	uintptr_t from;           /* begins with the frame that was interrupted here; 0: begins by skip */
	unsigned skip, frames;
	uintptr_t sp;             /* of the frame before */
};

/* Frames lie one above the other in the thread's stack: one that does not was made of nonsense, and no further. */
static int is_sane(const struct walk *walk, uintptr_t sp)
{
	const struct tr2p_thread *thread = &tr2p_g_thread;

	if (walk->sp && sp < walk->sp)
		return 0;
	return !thread->stack_high || (sp >= thread->stack_low && sp <= thread->stack_high);
}

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *data)
{
	enum { SP = 13 };
	struct walk *walk = data;
	uintptr_t ip = _Unwind_GetIP(context), sp = _Unwind_GetGR(context, SP);   /* _Unwind_GetCFA() is always 1 */
	int is_exact = 0;

	if (walk->from) {
		if (ip != walk->from)
			return _URC_NO_REASON;   /* still in the handler, perhaps on a stack of its own */
		is_exact = 1;                    /* it is never said */
		walk->from = 0;
	} else if (walk->skip) {
		walk->skip--;
		return _URC_NO_REASON;
	}
	if (!ip)
		return _URC_END_OF_STACK;
	walk->stack->at[walk->stack->n++] = is_exact ? ip : ip - 1;
	if (walk->stack->n == walk->frames || !is_sane(walk, sp) || (is_exact && tr2p_is_libgcc(ip)))
		return _URC_END_OF_STACK;
	walk->sp = sp;
	return _URC_NO_REASON;
}

/* To the end of the stack, or until it gives up.  noinline: its frame is left out. */
__attribute__((noinline)) void tr2p_libgcc_walk(struct tr2p_stack *stack, uintptr_t from, unsigned skip,
						unsigned frames)
{
	struct walk walk = { .stack = stack, .from = from, .skip = skip + 1, .frames = frames };
	struct tr2p_thread *thread = &tr2p_g_thread;
	void *const outer = thread->unwinding;    /* that a signal has interrupted */
	jmp_buf here;

	if (!_setjmp(here)) {
		thread->unwinding = &here;
		tr2_fence_compiler();
		_Unwind_Backtrace(take_frame, &walk);
	}
	tr2_fence_compiler();
	thread->unwinding = outer;
}
#endif
