/* SPDX-License-Identifier: MIT */
/* tr2p_unwind.c - frame by frame, by tables or along frame pointers. */
#include "tr2p_unwind.h"

#include <assert.h>
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "tr2p_fde.h"
#include "tr2p_frame.h"
#include "tr2p_guard.h"
#include "tr2p_init.h"
#include "tr2p_libgcc.h"
#include "tr2p_regs.h"
#include "tr2p_room.h"
#include "tr2p_scratch.h"
#include "tr2p_step.h"

static struct settings {
	enum tr2p_way way;
	unsigned frames;
	uintptr_t own, own_end;       /* the profiler's code, as a library; 0: it is a part of the program */
} g_settings = { .frames = TR2P_FRAMES };

#ifndef __arm__
/* ---- tables, and frame pointers -------------------------------------------------------------------- */

struct walk {
	struct tr2p_regs regs;
	struct tr2p_guard guard;
	int is_in_handler;
	int is_of_other;              /* of another thread, of which little is known */
	int has_libgcc;               /* one of the frames is libgcc's */
};

/*
 * libgcc's registry knows code that the program has made.  A handler that asks it may wait for ever, for before GCC 13
 * it allocates, and so may who was called by libgcc, for that may have its lock.
 */
static int may_ask(const struct walk *walk)
{
	return !walk->is_in_handler && !walk->has_libgcc;
}

/* The frame pointer may be what the table needs, and is not known. */
static int step_by_search(struct walk *walk)
{
#ifdef TR2P_HAS_FRAME_POINTERS
	return tr2p_frame_find(&walk->regs, &walk->guard) &&
	       tr2p_step_by_table(&walk->regs, &walk->guard, 0) == TR2P_STEP_DONE;
#else
	(void)walk;
	return 0;
#endif
}

/* To the caller's frame.  Code that no table knows may keep to frame pointers: a call in front of it proves that. */
static int step(struct walk *walk)
{
	if (g_settings.way == TR2P_BY_FRAME_POINTERS && !walk->is_of_other)
		return tr2p_step_by_frame(&walk->regs, &walk->guard, 0);
	switch (tr2p_step_by_table(&walk->regs, &walk->guard, may_ask(walk))) {
	case TR2P_STEP_DONE:
		return 1;
	case TR2P_STEP_LOST:
		if (walk->is_of_other)
			return step_by_search(walk);
		break;
	case TR2P_STEP_NO_TABLE:
		return g_settings.way == TR2P_BY_BOTH && tr2p_step_without_table(&walk->regs, &walk->guard);
	case TR2P_STEP_END:
		return walk->is_of_other && step_by_search(walk);
	}
	return g_settings.way == TR2P_BY_BOTH && tr2p_step_by_frame(&walk->regs, &walk->guard, 1);
}

static int is_own(uintptr_t at)
{
	return at >= g_settings.own && at < g_settings.own_end;
}

/*
 * All frames from the registers on, but for the innermost skip, and those of the profiler.  However a stack is damaged,
 * steps are bounded: each is above the one before.
 */
static void take_frames(struct tr2p_stack *stack, struct walk *walk, unsigned skip)
{
	const struct tr2p_regs *regs = &walk->regs;

	if (walk->is_of_other)
		tr2p_guard_begin_other(&walk->guard);
	else
		tr2p_guard_begin(&walk->guard, regs->at[TR2P_SP]);
	walk->has_libgcc = 0;
	do {
		const uintptr_t at = regs->is_exact ? regs->pc : regs->pc - 1;
		if (!regs->pc)
			break;
		if (stack->n == g_settings.frames) {
			stack->at[stack->n++] = TR2P_CUT;
			break;
		}
		if (skip)
			skip--;
		else if (!is_own(at))
			stack->at[stack->n++] = at;
		if (tr2p_is_libgcc(at)) {
			walk->has_libgcc = 1;
			if (regs->is_exact)
				break;          /* see tr2p_libgcc.h */
		}
	} while (step(walk));
}

static void walk_by(struct walk *walk, struct tr2p_stack *stack, const void *context)
{
	walk->is_in_handler = 1;
	walk->is_of_other = 0;
	tr2p_regs_of_context(&walk->regs, context);
	take_frames(stack, walk, 0);
}

/* noinline: only here the stack has a buffer of its own. */
static __attribute__((noinline)) void walk_here(struct tr2p_stack *stack, const void *context)
{
	struct walk walk;

	walk_by(&walk, stack, context);
}

static void walk_context(struct tr2p_stack *stack, const void *context)
{
	struct walk *walk = tr2p_scratch_acquire();

	static_assert(sizeof(*walk) <= TR2P_SCRATCH_BYTES, "it has room for a walk");
	if (walk)
		walk_by(walk, stack, context);
	else
		walk_here(stack, context);
	tr2p_scratch_release(walk);
}

/* Frames of this function and of its caller are left out. */
__attribute__((noinline)) void tr2p_unwind(struct tr2p_stack *stack, unsigned skip)
{
	struct walk walk;

	tr2p_is_ready();   /* for threads that were there before: settings, and tables that they sample into */
	stack->n = 0;
	walk.is_in_handler = 0;
	walk.is_of_other = 0;
	TR2P_REGS_HERE(&walk.regs);
#ifdef TR2P_HAS_FRAME_POINTERS
	if (g_settings.way == TR2P_BY_FRAME_POINTERS)   /* to name it is to have one */
		walk.regs.at[TR2P_FP] = (uintptr_t)__builtin_frame_address(0);
#endif
	take_frames(stack, &walk, skip + 2);
}

/* As in a handler: libgcc's registry is not asked, for its lock may be anybody's. */
void tr2p_unwind_other(struct tr2p_stack *stack, uintptr_t pc, uintptr_t sp)
{
	struct walk walk = { .is_in_handler = 1, .is_of_other = 1 };

	stack->n = 0;
	walk.regs.pc = pc;
	walk.regs.is_exact = 1;
	walk.regs.at[TR2P_SP] = sp;
	walk.regs.known = UINT64_C(1) << TR2P_SP;
	take_frames(stack, &walk, 0);
}
#else
/* ---- 32-bit ARM ------------------------------------------------------------------------------------ */

static void walk_context(struct tr2p_stack *stack, const void *context)
{
	struct tr2p_regs at;

	tr2p_regs_of_context(&at, context);
	tr2p_libgcc_walk(stack, at.pc, 0, g_settings.frames);
	if (!stack->n && at.pc)
		stack->at[stack->n++] = at.pc;
}

__attribute__((noinline)) void tr2p_unwind(struct tr2p_stack *stack, unsigned skip)
{
	tr2p_is_ready();   /* for threads that were there before: settings, and tables that they sample into */
	stack->n = 0;
	tr2p_libgcc_walk(stack, 0, skip + 2, g_settings.frames);
	tr2_fence_compiler();   /* no tail call: its frame is counted */
}

void tr2p_unwind_other(struct tr2p_stack *stack, uintptr_t pc, uintptr_t sp)
{
	(void)sp;
	stack->n = pc != 0;
	stack->at[0] = pc;
}
#endif

/* ---- both ----------------------------------------------------------------------------------------- */

/* Linked into the program it has no bounds of its own. */
static void find_own(void)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)(uintptr_t)find_own, &found) || !found.dlfo_link_map ||
	    !found.dlfo_link_map->l_name || !*found.dlfo_link_map->l_name)
		return;
	g_settings.own = (uintptr_t)found.dlfo_map_start;
	g_settings.own_end = (uintptr_t)found.dlfo_map_end;
}

void tr2p_unwind_init(enum tr2p_way way, unsigned frames)
{
	struct tr2p_stack stack;

	tr2p_libgcc_find();
#ifndef __arm__
	tr2p_fde_init();
#endif
	g_settings.way = way;
	find_own();
	if (frames)
		g_settings.frames = frames < TR2P_FRAMES_MAX ? frames : TR2P_FRAMES_MAX;
	tr2p_unwind(&stack, 0);
}

void tr2p_unwind_put_in_front(struct tr2p_stack *stack, uintptr_t at)
{
	unsigned n = stack->n < TR2P_STACK_MAX ? stack->n : TR2P_STACK_MAX - 1;

	if (n < stack->n)
		stack->at[n - 1] = TR2P_CUT;
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
		/* Along frame pointers, which functions of ours do not have, the walk has left it out */
		tr2p_unwind_put_in_front(stack, first);
		return;
	}
	stack->n -= ours;
	memmove(stack->at, stack->at + ours, stack->n * sizeof(stack->at[0]));
}

static void unwind_signal(struct tr2p_stack *stack, const void *context)
{
	struct tr2p_regs at;

	tr2p_is_ready();   /* as above */
	stack->n = 0;
	if (tr2p_room(context) == TR2P_ROOM_ENOUGH) {
		walk_context(stack, context);
		return;
	}
	tr2p_regs_of_context(&at, context);
	if (at.pc)
		stack->at[stack->n++] = at.pc;
}

void tr2p_unwind_either(struct tr2p_stack *stack, const void *context, const void *caller)
{
	if (context)
		unwind_signal(stack, context);
	else
		tr2p_unwind_from(stack, caller);
}
