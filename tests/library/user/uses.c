/* SPDX-License-Identifier: MIT */
/* uses.c - what only C can pass to the macros of trace2.h; see uses.h. */
#include "uses.h"

#include <setjmp.h>

struct point {
	int x, y;
	const char *name;
};

#define POINT (struct point){ 1, 2, "point" }

/* The cleanup of a block runs when a goto leaves it, and when the block begins again; a longjmp() goes past it. */
static void use_jumps(int one)
{
	jmp_buf back;
	uint64_t depth = trace2_region_depth();
	volatile int times = 0;

again: {
	TRACE2_SCOPE("c", "left by goto");
	if (++times <= one)
		goto again;
}
	if (!setjmp(back)) {
		TRACE2_SCOPE("c", "left by longjmp");
		longjmp(back, 1);
	}
	trace2_region_unwind(depth);
}

static int use_more(int one)
{
	trace2_data_intmax("c", NULL, "compound literal", (struct point){ 1, 2, "x" }.x);
	trace2_data_intmax("c", NULL, "macro with commas", POINT.y);
	trace2_data_string("c", NULL, "text of one", (struct point){ one, 2, "x" }.name);
	trace2_region_enter("c", POINT.name, &(struct trace2_repository){ "/there", 7 });
	trace2_region_leave("c", (char[]){ "an array" }, &(struct trace2_repository){ "/there", 7 });
	trace2_region_enter_printf("c", "message", NULL, "%d", (struct point){ 3, 4, "x" }.x);
	trace2_region_leave_printf("c", "message", NULL, "%s", POINT.name);
	trace2_data_intmax("c", NULL, "with a call in it", __extension__({ trace2_step("c", "inside"); one; }));
	use_jumps(one);
	trace2_cmd_start((const char *[]){ "of", "a", "literal", NULL });
	trace2_cmd_alias("alias", (const char *const[]){ "of", "literals", NULL });
	trace2_def_param("parameter", "literal", &(struct trace2_key_value_info){ TRACE2_SCOPE_COMMAND });
	return 0;
}

int main(int argc, char **argv)
{
	return uses_all(argc, argv, use_more);
}
