/* SPDX-License-Identifier: MIT */
/* tr2_sample.c - a sample as any other checkpoint, with names that no call site has. */
#include "tr2_sample.h"

#include <errno.h>

#include "tr2_emit.h"
#include "tr2_profiler.h"
#include "tr2_reserve.h"
#include "base/tr2_atomic.h"
#include "base/tr2_mask.h"
#include "drain/tr2_pause.h"
#include "drain/tr2_wake.h"
#include "ring/tr2_shm.h"
#include "ring/tr2_thread.h"
#include "settings/tr2_env.h"

static struct tr2_scope_key make_key(const char *profile, const char *modules, const char *stack)
{
	return (struct tr2_scope_key){
		.file = modules, .category = profile, .format = stack, .style = TLG_STYLE_sample
	};
}

uint32_t tr2_sample_scope_v1(const char *profile, const char *modules, const char *stack)
{
	struct tr2_scope_key key = make_key(profile, modules, stack);
	int saved = errno;
	uint32_t scope;

	/* A forked child has no table before its session, and another thread may be making it. */
	if (!tr2_is_enabled() || !tr2_self_or_new_by_system())
		return 0;
	scope = tr2_scope_is_crowded() ? 0 : tr2_scope_intern(&key);
	errno = saved;
	return scope;
}

int tr2_sample_v1(const struct tr2_sample_v1 *sample)
{
	struct tr2_scope_key key;
	struct tr2_args args;

	if (!tr2_is_enabled())
		return 0;
	if (!tr2_self)
		tr2_self_or_new_by_system();
	else
		tr2_thread_name_at_sample();
	tr2_args_init(&args);
	tr2_args_int(&args, sample->count);
	tr2_args_int(&args, sample->value);
	tr2_args_int(&args, sample->period);
	tr2_args_list(&args, sample->labels, 0);
	if (sample->scope) {
		tr2_emit_scope(sample->scope, &args, 0, 0);
	} else {
		key = make_key(sample->profile, sample->modules, sample->stack);
		tr2_emit_with_scope(&key, &args, 0, 0);
	}
	return 1;
}

void tr2_sample_start_late_v1(void)
{
	tr2_env_configure("trace2.rawthread", "late");   /* below the environment, and git's configuration */
}

void tr2_sample_signal_v1(int signal)
{
	tr2_shm_set_signal((uint32_t)signal);
}

/* NULL: nobody reads the name */
static struct tlg_ring_stacks *find_stacks(void)
{
	return tr2_is_enabled() && !tr2_is_forked_child() && tr2_g_shm.head ? &tr2_g_shm.head->stacks : NULL;
}

void tr2_sample_asked_v1(uint32_t question, uint32_t threads)
{
	struct tlg_ring_stacks *stacks = find_stacks();

	if (!stacks)
		return;
	tr2_add_rlx(&stacks->asked, threads); /* relaxed: a sum.  The next one orders it */
	tr2_store_rel(&stacks->question, question); /* [M17] release: who is asked.  Pairs with readers of the file */
}

void tr2_sample_answered_v1(void)
{
	struct tlg_ring_stacks *stacks = find_stacks();

	if (stacks)
		tr2_add_rel(&stacks->answered, 1); /* [M17] release: the sample.  Pairs with readers of the file */
}

void tr2_sample_renamed_v1(int is_certain)
{
	if (!tr2_is_enabled() || tr2_is_forked_child())
		return;
	if (is_certain)
		tr2_thread_note_rename();
	tr2_thread_name_now();
}

void tr2_sample_tell_v1(struct tr2_reported *to)
{
	if (to && !tr2_is_enabled())
		tr2_reported_set(to, 0, "");
	else
		tr2_thread_report(to);
}

void tr2_sample_stay_out_v1(void)
{
	if (tr2_is_enabled() && tr2_is_forked_child())
		tr2_set_enabled(0);
}

void tr2_sample_await_end_v1(void)
{
	tr2_wake_await_end();
}

int tr2_sample_pause_v1(void)
{
	return tr2_pause_begin();
}

void tr2_sample_resume_v1(void)
{
	tr2_pause_end();
}

int tr2_sample_is_inside_v1(void)
{
	return tr2_mask_is_inside();
}

static tr2_profiler_call *g_profiler;

void tr2_sample_steer_v1(int (*function)(const char *list, char *stop, unsigned long stop_size, char *why,
					 unsigned long why_size))
{
	g_profiler = function;
}

tr2_profiler_call *tr2_profiler(void)
{
	return g_profiler;
}
