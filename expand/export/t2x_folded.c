/* SPDX-License-Identifier: MIT */
/*
 * t2x_folded.c - folded stacks, a line each: labels from the outermost region to the innermost with semicolons between
 * them, a blank, nanoseconds in the innermost alone.  For flamegraph.pl, inferno, speedscope.  Threads are added up.
 * With --profile they are functions, and the value of their samples.
 */
#include <errno.h>
#include <stdlib.h>

#include "profile/t2x_profile.h"
#include "profile/t2x_sampled.h"
#include "text/t2x_utf8.h"

static int begin_folded(struct t2x_printer *printer)
{
	const char *profile = t2x_sampled_profile(printer);

	return profile ? t2x_sampled_begin(printer, profile, 0) : t2x_profile_begin(printer, 0);
}

static void take(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (t2x_sampled_profile(printer))
		t2x_sampled_event(printer, ev);
	else
		t2x_profile_event(printer, ev);
}

/* What means something in a line becomes something else. */
static void put_label(struct t2x_out *out, const char *label)
{
	static const char special[] = ";\x7f\1\2\3\4\5\6\a\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17"
				      "\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f";

	while (*label) {
		size_t n = strcspn(label, special);

		t2x_utf8_text(out, label, n);
		label += n;
		if (*label)
			t2x_out_char(out, *label++ == ';' ? ':' : '?');
	}
}

/* A stack and those around it, outermost first. */
static void put_stack(struct t2x_out *out, const struct t2x_profile *profile, const struct t2x_stack *stack,
		     uint32_t *frames)
{
	uint32_t n = 0;

	for (; stack; stack = t2x_stacks_parent(&profile->stacks, stack))
		frames[n++] = stack->frame;
	while (n--) {
		put_label(out, profile->processes.frames.frames[frames[n] - 1]->label);
		t2x_out_char(out, n ? ';' : ' ');
	}
}

static void finish_regions(struct t2x_printer *printer)
{
	struct t2x_profile *profile = printer->own;
	uint32_t *frames = malloc((profile->stacks.count + 1) * sizeof(frames[0]));   /* no stack is deeper */
	int is_sorted = frames && t2x_profile_sort(profile);

	t2x_profile_hint(profile);
	if (!is_sorted)
		printer->out->error = ENOMEM;
	for (uint32_t i = 0; is_sorted && i < profile->stacks.count; i++) {
		const struct t2x_stack *stack = &profile->stacks.stacks[profile->order[i] - 1];
		if (!stack->self_ns)
			continue;
		put_stack(printer->out, profile, stack, frames);
		t2x_out_uint(printer->out, stack->self_ns);
		t2x_out_end_line(printer->out);
	}
	free(frames);
	t2x_profile_free(printer->own);
	printer->own = NULL;
}

static void finish_folded(struct t2x_printer *printer)
{
	if (t2x_sampled_profile(printer))
		t2x_sampled_finish(printer, t2x_samples_write_folded);
	else
		finish_regions(printer);
}

const struct t2x_writer t2x_writer_folded = {
	.thread_bytes = T2X_SPANS_THREAD_BYTES,
	.begin = begin_folded,
	.finish = finish_folded,
	.unresolved = take,
	.ignores_messages = 1,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = take,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
