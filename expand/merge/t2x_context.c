/* SPDX-License-Identifier: MIT */
/* t2x_context.c - see t2x_context.h. */
#include "t2x_context.h"

int t2x_context_take(struct t2x_context *context, size_t bytes)
{
	if (bytes > T2X_CONTEXT_BYTES - context->used_bytes) {
		context->ignored++;
		return 0;
	}
	context->used_bytes += bytes;
	return 1;
}

void t2x_context_give(struct t2x_context *context, size_t bytes)
{
	context->used_bytes -= bytes;
}
