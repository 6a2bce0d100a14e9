/* SPDX-License-Identifier: MIT */
/* t2x_context.c - see t2x_context.h. */
#include "t2x_context.h"

#include "base/t2x_memory.h"
#include "model/t2x_hit.h"

enum { FIRST_BYTES = 256 };               /* of memory that grows */

int t2x_context_take(struct t2x_context *context, size_t bytes)
{
	if (bytes > T2X_CONTEXT_BYTES - context->used_bytes) {
		context->ignored++;
		return 0;
	}
	context->used_bytes += bytes;
	if (context->used_bytes > context->peak_bytes)
		context->peak_bytes = context->used_bytes;
	return 1;
}

void t2x_context_give(struct t2x_context *context, size_t bytes)
{
	context->used_bytes -= bytes;
}

int t2x_context_grow(struct t2x_context *context, void **memory, size_t used, size_t more, size_t *max, size_t limit)
{
	size_t want = *max ? *max : FIRST_BYTES;
	void *larger;

	while (want < used + more)
		want *= 2;
	if (want > limit || !t2x_context_take(context, want - *max))
		return 0;
	larger = t2x_realloc(*memory, want);
	if (!larger) {
		t2x_context_give(context, want - *max);
		return 0;
	}
	*memory = larger;
	*max = want;
	return 1;
}

void t2x_context_release(struct t2x_context *context, const void *memory, size_t bytes)
{
	const struct t2x_update update = {
		.kind = T2X_RELEASE, .release = { .memory = (void *)(uintptr_t)memory, .bytes = bytes },
	};

	t2x_model_update(context->model, &update);
}
