/* SPDX-License-Identifier: MIT */
/* tr2p_sample.c - a sample's way into the totals and into the trace. */
#include "tr2p_sample.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "tr2p_calls.h"
#include "tr2p_exit.h"
#include "tr2p_kernel.h"
#include "tr2p_labels.h"
#include "tr2p_module.h"
#include "tr2p_profile.h"
#include "tr2p_sandbox.h"
#include "tr2p_scratch.h"
#include "tr2p_thread.h"
#include "base/tr2_atomic.h"
#include "record/tr2_sample.h"
#include "tlg.h"

/* The nearest, of an amount that is not below 0. */
static int64_t estimate(int64_t amount, double scale, int64_t parts)
{
	return (int64_t)((double)amount * scale * (double)parts + 0.5);
}

static void add(struct tr2p_bucket *bucket, const struct tr2p_amount *amount)
{
	struct tr2p_totals more = { 0 };
	int64_t count = amount->count, value = amount->value, parts = tr2p_value_parts(bucket->profile);

	if (count >= 0) {
		more.count = count;
		more.value = value;
		more.all_count = estimate(count, amount->scale, TR2P_COUNT_PARTS);
		more.all_value = estimate(value, amount->scale, parts);
	} else {
		more.freed_count = -count;
		more.freed_value = -value;
		more.freed_all_count = estimate(-count, amount->scale, TR2P_COUNT_PARTS);
		more.freed_all_value = estimate(-value, amount->scale, parts);
	}
	tr2p_bucket_add(bucket, &more);
	tr2p_bucket_set_period(bucket, amount->period);
}

/* The scope in the trace, looked up once tracing is on. */
static uint32_t scope_of(struct tr2p_bucket *bucket)
{
	uint32_t scope = tr2_load_rlx(&bucket->scope);   /* relaxed: a number by itself, always the same */

	if (!scope) {
		scope = tr2_sample_scope_v1(tr2p_profile_name(bucket->profile), bucket->module_text,
					    bucket->stack_text);
		tr2_store_rlx(&bucket->scope, scope); /* relaxed: as above */
	}
	return scope;
}

static void record_with(struct tr2p_bucket *bucket, const struct tr2p_amount *amount, const char *const *labels)
{
	const struct tr2_sample_v1 sample = {
		.scope = scope_of(bucket), .profile = tr2p_profile_name(bucket->profile),
		.modules = bucket->module_text, .stack = bucket->stack_text, .count = amount->count,
		.value = amount->value, .period = amount->period, .labels = labels
	};

	tr2p_exit_note();
	tr2_sample_v1(&sample);
}

static void record(struct tr2p_bucket *bucket, const struct tr2p_amount *amount)
{
	record_with(bucket, amount, tr2p_labels_list(bucket->labels));
}

/* Its first label says whose it is: see FORMAT.md. */
static void record_of_other(struct tr2p_bucket *bucket, const struct tr2p_amount *amount,
			    const struct tr2p_other *other)
{
	enum { LABELS = 256, TEXT = 48 };
	const char *const *labels = tr2p_labels_list(bucket->labels), *list[LABELS + 3] = { TLG_LABEL_THREAD };
	char text[TEXT];
	unsigned n = 2;

	snprintf(text, sizeof(text), "%lu %s", (unsigned long)other->tid, *other->name ? other->name : "main");
	list[1] = text;
	for (; labels && labels[n - 2] && n < LABELS + 2; n++)
		list[n] = labels[n - 2];
	list[n] = NULL;
	record_with(bucket, amount, list);
}

/* Totals stay right, if not stacks. */
static void record_without_stack(unsigned profile, const struct trace2_labels *labels, const struct tr2p_amount *amount)
{
	const struct tr2_sample_v1 sample = {
		.profile = tr2p_profile_name(profile), .modules = "", .stack = "", .count = amount->count,
		.value = amount->value, .period = amount->period, .labels = tr2p_labels_list(labels)
	};

	tr2p_exit_note();
	tr2_sample_v1(&sample);
}

static struct tr2p_bucket *find_by(const struct tr2p_module **modules, unsigned profile, const struct tr2p_stack *stack,
				   const struct trace2_labels *labels)
{
	const struct tr2p_module *near = NULL;

	for (unsigned i = 0; i < stack->n; i++) {
		modules[i] = tr2p_calls_module(stack->at[i]);
		modules[i] = modules[i] ? modules[i] : tr2p_kernel_module(stack->at[i]);
		if (modules[i])
			continue;
		modules[i] = tr2p_module_of(stack->at[i], near);
		near = modules[i] ? modules[i] : near;
		if (!modules[i] && stack->at[i] != TR2P_CUT)
			modules[i] = tr2p_module_of_none();
	}
	return tr2p_bucket_of(profile, labels, stack, modules);
}

/* noinline: only here the stack has a buffer of its own. */
static __attribute__((noinline)) struct tr2p_bucket *find_here(unsigned profile, const struct tr2p_stack *stack,
							       const struct trace2_labels *labels)
{
	const struct tr2p_module *modules[TR2P_STACK_MAX];

	return find_by(modules, profile, stack, labels);
}

static struct tr2p_bucket *find(unsigned profile, const struct tr2p_stack *stack, const struct trace2_labels *labels)
{
	const struct tr2p_module **modules = tr2p_scratch_acquire();
	struct tr2p_bucket *bucket;

	static_assert(TR2P_STACK_MAX * sizeof(*modules) <= TR2P_SCRATCH_BYTES, "it has room for all");
	bucket = modules ? find_by(modules, profile, stack, labels) : find_here(profile, stack, labels);
	tr2p_scratch_release(modules);
	return bucket;
}

static inline struct tr2p_bucket *sample(unsigned profile, const struct tr2p_stack *stack,
					 const struct tr2p_amount *amount, int is_counted)
{
	const struct trace2_labels *labels = tr2p_g_thread.labels;
	struct tr2p_bucket *bucket;
	int saved = errno;

	if (tr2p_sandbox_is_closed())
		return NULL;
	tr2p_enter();
	bucket = find(profile, stack, labels);
	if (bucket) {
		if (is_counted)
			add(bucket, amount);
		record(bucket, amount);
	} else {
		record_without_stack(profile, labels, amount);
	}
	tr2p_leave();
	errno = saved;
	return bucket;
}

struct tr2p_bucket *tr2p_sample(unsigned profile, const struct tr2p_stack *stack, const struct tr2p_amount *amount)
{
	return sample(profile, stack, amount, 1);
}

void tr2p_sample_traced(unsigned profile, const struct tr2p_stack *stack, const struct tr2p_amount *amount)
{
	sample(profile, stack, amount, 0);
}

void tr2p_sample_again(struct tr2p_bucket *bucket, const struct tr2p_amount *amount)
{
	int saved = errno;

	if (tr2p_sandbox_is_closed())
		return;
	tr2p_enter();
	add(bucket, amount);
	record(bucket, amount);
	tr2p_leave();
	errno = saved;
}

struct tr2p_bucket *tr2p_sample_bucket(unsigned profile, const struct tr2p_stack *stack,
				       const struct trace2_labels *labels)
{
	struct tr2p_bucket *bucket;
	int saved = errno;

	tr2p_enter();
	bucket = find(profile, stack, labels);
	tr2p_leave();
	errno = saved;
	return bucket;
}

void tr2p_sample_of_other(struct tr2p_bucket *bucket, const struct tr2p_amount *amount,
			  const struct tr2p_other *other)
{
	int saved = errno;

	if (tr2p_sandbox_is_closed())
		return;
	tr2p_enter();
	add(bucket, amount);
	record_of_other(bucket, amount, other);
	tr2p_leave();
	errno = saved;
}
