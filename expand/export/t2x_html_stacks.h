/* SPDX-License-Identifier: MIT */
/*
 * t2x_html_stacks.h - the stacks of the samples in a page: distinct functions, and distinct stacks of them.
 *
 * A sample in the page has the number of its stack; what that is comes at the end of the page, once for all.  There are
 * only so many: the stacks beyond are not known to it, functions beyond have one name.
 */
#ifndef T2X_HTML_STACKS_H
#define T2X_HTML_STACKS_H

#include "profile/t2x_frames.h"
#include "profile/t2x_stacks.h"
#include "base/t2x_out.h"
#include "model/t2x_writer.h"

enum {
	T2X_HTML_STACKS = 1024 * 1024,
	T2X_HTML_FUNCTIONS = 256 * 1024,
	T2X_HTML_FUNCTION_BYTES = 32 * 1024 * 1024,
	T2X_HTML_KNOWN_STACKS = 1024,
};

/* All zero: none yet. */
struct t2x_html_stacks {
	struct t2x_frames functions;      /* their labels are the names */
	struct t2x_stacks stacks;
	size_t bytes;                     /* of names */
	struct { uint64_t scope; uint32_t stack; } known[T2X_HTML_KNOWN_STACKS];
};

/*
 * The number of a sample's stack, from 1 up.
 * scope  that names were found for    names  NULL: not known    Return  0: no stack is known; < 0: -ENOMEM
 */
int64_t t2x_html_stack(struct t2x_html_stacks *stacks, const struct t2x_scope *scope,
		       const struct t2x_stack_names *names);

/* ["name",...] of all functions; [parent, function, ...] of all stacks, both counted from 1 up. */
void t2x_html_stacks_print_functions(const struct t2x_html_stacks *stacks, struct t2x_out *out);
void t2x_html_stacks_print(const struct t2x_html_stacks *stacks, struct t2x_out *out);

void t2x_html_stacks_free(struct t2x_html_stacks *stacks);

#endif
