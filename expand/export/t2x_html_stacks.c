/* SPDX-License-Identifier: MIT */
/* t2x_html_stacks.c - see t2x_html_stacks.h. */
#include "t2x_html_stacks.h"

#include <errno.h>
#include <string.h>

#include "text/t2x_json.h"

/* Return  NULL: no memory */
static const struct t2x_frame *find_function(struct t2x_html_stacks *stacks, const char *name)
{
	const struct t2x_scope further = { .label = "(one of too many functions)" }, own = { .label = name };
	int has_room = stacks->functions.count < T2X_HTML_FUNCTIONS && stacks->bytes < T2X_HTML_FUNCTION_BYTES;
	uint32_t count = stacks->functions.count;
	const struct t2x_frame *function = t2x_frames_of(&stacks->functions, has_room ? &own : &further);

	if (stacks->functions.count > count)
		stacks->bytes += strlen(name) + 1;
	return function;
}

static int64_t find_stack(struct t2x_html_stacks *stacks, const struct t2x_stack_names *names)
{
	uint32_t stack = 0;

	if (stacks->stacks.count >= T2X_HTML_STACKS)
		return 0;
	for (unsigned i = names ? names->n : 0; i--;) {
		const struct t2x_frame *function = find_function(stacks, names->at[i]);

		stack = function ? t2x_stacks_find(&stacks->stacks, stack, function->number, 0) : 0;
		if (!stack)
			return -ENOMEM;
	}
	return stack;
}

int64_t t2x_html_stack(struct t2x_html_stacks *stacks, const struct t2x_scope *scope,
		       const struct t2x_stack_names *names)
{
	size_t at = scope->number % T2X_HTML_KNOWN_STACKS;
	int64_t stack;

	if (scope->number && stacks->known[at].scope == scope->number)
		return stacks->known[at].stack;
	stack = find_stack(stacks, names);
	if (stack >= 0 && scope->number) {
		stacks->known[at].scope = scope->number;
		stacks->known[at].stack = (uint32_t)stack;
	}
	return stack;
}

void t2x_html_stacks_print_functions(const struct t2x_html_stacks *stacks, struct t2x_out *out)
{
	t2x_out_char(out, '[');
	for (uint32_t i = 0; i < stacks->functions.count; i++) {
		const char *name = stacks->functions.frames[i]->label;

		t2x_out_string(out, i ? ",\"" : "\"");
		t2x_json_escaped(out, name, strlen(name));
		t2x_out_char(out, '"');
	}
	t2x_out_char(out, ']');
}

void t2x_html_stacks_print(const struct t2x_html_stacks *stacks, struct t2x_out *out)
{
	t2x_out_char(out, '[');
	for (uint32_t i = 0; i < stacks->stacks.count; i++) {
		const struct t2x_stack *stack = &stacks->stacks.stacks[i];

		if (i)
			t2x_out_char(out, ',');
		t2x_out_uint(out, stack->parent);
		t2x_out_char(out, ',');
		t2x_out_uint(out, stack->frame);
	}
	t2x_out_char(out, ']');
}

void t2x_html_stacks_free(struct t2x_html_stacks *stacks)
{
	t2x_frames_free(&stacks->functions);
	t2x_stacks_free(&stacks->stacks);
}
