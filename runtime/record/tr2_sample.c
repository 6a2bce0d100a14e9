/* SPDX-License-Identifier: MIT */
/* tr2_sample.c - a sample as any other checkpoint, with names that no call site has. */
#include "tr2_sample.h"

#include <errno.h>

#include "tr2_emit.h"
#include "ring/tr2_thread.h"

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

	if (!tr2_is_enabled() || tr2_scope_is_crowded())
		return 0;
	scope = tr2_scope_intern(&key);
	errno = saved;
	return scope;
}

int tr2_sample_v1(const struct tr2_sample_v1 *sample)
{
	struct tr2_scope_key key;
	struct tr2_args args;

	if (!tr2_is_enabled())
		return 0;
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
