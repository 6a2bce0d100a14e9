/* SPDX-License-Identifier: MIT */
/*
 * t2x_pprof.c - a profile for `go tool pprof` and its like: gzip of a Profile of profile.proto.  With --profile it is
 * one of samples, which t2x_samples.h writes; else one of regions:
 *
 * A frame is a function and a location, with the file and line of the first place that entered it.  A sample is a stack
 * in a thread: how many regions were left there, and nanoseconds in the innermost alone; its labels are the thread, the
 * process id and the category of the innermost.  Only stacks are in memory.
 */
#include <errno.h>

#include "profile/t2x_pprof_message.h"
#include "profile/t2x_profile.h"
#include "profile/t2x_sampled.h"
#include "text/t2x_formats.h"

/* The strings: first these, then three of each frame, then the names of threads, then the comment. */
enum { EMPTY, REGIONS, COUNT, TIME_IN_REGIONS, NANOSECONDS, THREAD, PID, CATEGORY, FIXED_STRINGS };
static const char *const fixed_strings[] = {
	"", "regions", "count", "time", "nanoseconds", "thread", "pid", "category",
};
enum { FRAME_LABEL, FRAME_CATEGORY, FRAME_FILE, FRAME_STRINGS };

struct pprof {
	const struct t2x_profile *profile;
	struct t2x_pprof_message to;
};

static void put_string(struct pprof *pprof, const char *text)
{
	t2x_pprof_string(&pprof->to, text, strlen(text));
}

static uint64_t frame_string(uint32_t frame, unsigned which)
{
	return FIXED_STRINGS + (uint64_t)FRAME_STRINGS * (frame - 1) + which;
}

static uint64_t thread_string(const struct pprof *pprof, uint32_t thread)
{
	return FIXED_STRINGS + (uint64_t)FRAME_STRINGS * pprof->profile->processes.frames.count + thread;
}

/* ---- what a profile has ------------------------------------------------------------------------- */

static void put_frame(struct pprof *pprof, const struct t2x_frame *frame)
{
	uint64_t line = frame->line > 0 ? (uint64_t)frame->line : 0;

	t2x_protobuf_uint(&pprof->to.inner, T2X_PPROF_FUNCTION_ID, frame->number);
	t2x_protobuf_uint(&pprof->to.inner, T2X_PPROF_FUNCTION_NAME, frame_string(frame->number, FRAME_LABEL));
	t2x_protobuf_uint(&pprof->to.inner, T2X_PPROF_FUNCTION_SYSTEM_NAME, frame_string(frame->number, FRAME_LABEL));
	t2x_protobuf_uint(&pprof->to.inner, T2X_PPROF_FUNCTION_FILE, frame_string(frame->number, FRAME_FILE));
	t2x_protobuf_uint(&pprof->to.inner, T2X_PPROF_FUNCTION_LINE, line);
	t2x_pprof_inner(&pprof->to, T2X_PPROF_FUNCTION);
	t2x_protobuf_uint(&pprof->to.part, T2X_PPROF_LINE_FUNCTION, frame->number);
	t2x_protobuf_uint(&pprof->to.part, T2X_PPROF_LINE_LINE, line);
	t2x_protobuf_uint(&pprof->to.inner, T2X_PPROF_LOCATION_ID, frame->number);
	t2x_protobuf_message(&pprof->to.inner, T2X_PPROF_LOCATION_LINE, &pprof->to.part);
	t2x_pprof_inner(&pprof->to, T2X_PPROF_LOCATION);
}

static void put_label(struct pprof *pprof, uint64_t key, unsigned field, uint64_t value)
{
	t2x_protobuf_uint(&pprof->to.part, T2X_PPROF_LABEL_KEY, key);
	t2x_protobuf_uint(&pprof->to.part, field, value);
	t2x_protobuf_message(&pprof->to.inner, T2X_PPROF_SAMPLE_LABEL, &pprof->to.part);
}

static void put_sample(struct pprof *pprof, const struct t2x_stack *stack)
{
	const struct t2x_profile *profile = pprof->profile;
	const struct t2x_stack *at;

	for (at = stack; at && !at->is_thread; at = t2x_stacks_parent(&profile->stacks, at))
		t2x_protobuf_packed(&pprof->to.part, at->frame);
	t2x_protobuf_message(&pprof->to.inner, T2X_PPROF_SAMPLE_LOCATIONS, &pprof->to.part);
	t2x_protobuf_packed(&pprof->to.part, stack->count);
	t2x_protobuf_packed(&pprof->to.part, stack->self_ns);
	t2x_protobuf_message(&pprof->to.inner, T2X_PPROF_SAMPLE_VALUES, &pprof->to.part);
	if (at) {
		put_label(pprof, THREAD, T2X_PPROF_LABEL_TEXT, thread_string(pprof, at->frame - 1));
		put_label(pprof, PID, T2X_PPROF_LABEL_NUMBER, profile->thread[at->frame - 1].pid);
	}
	put_label(pprof, CATEGORY, T2X_PPROF_LABEL_TEXT, frame_string(stack->frame, FRAME_CATEGORY));
	t2x_pprof_inner(&pprof->to, T2X_PPROF_SAMPLE);
}

static void put_strings(struct pprof *pprof)
{
	const struct t2x_profile *profile = pprof->profile;
	char lost[64];

	for (unsigned i = 0; i < FIXED_STRINGS; i++)
		put_string(pprof, fixed_strings[i]);
	for (uint32_t i = 0; i < profile->processes.frames.count; i++) {
		const struct t2x_frame *frame = profile->processes.frames.frames[i];
		put_string(pprof, frame->label);
		put_string(pprof, frame->category);
		put_string(pprof, frame->file);
	}
	for (uint32_t i = 0; i < profile->threads; i++)
		put_string(pprof, profile->thread[i].name);
	if (profile->lost) {
		memcpy(t2x_put_uint(lost, profile->lost), " events lost", sizeof(" events lost"));
		put_string(pprof, lost);
		t2x_pprof_number(&pprof->to, T2X_PPROF_COMMENT, thread_string(pprof, profile->threads));
	}
}

static void put_profile(struct pprof *pprof)
{
	const struct t2x_profile *profile = pprof->profile;

	t2x_pprof_type(&pprof->to, T2X_PPROF_SAMPLE_TYPE, REGIONS, COUNT);
	t2x_pprof_type(&pprof->to, T2X_PPROF_SAMPLE_TYPE, TIME_IN_REGIONS, NANOSECONDS);
	for (uint32_t i = 0; i < profile->stacks.count; i++)
		if (profile->stacks.stacks[profile->order[i] - 1].count)
			put_sample(pprof, &profile->stacks.stacks[profile->order[i] - 1]);
	for (uint32_t i = 0; i < profile->processes.frames.count; i++)
		put_frame(pprof, profile->processes.frames.frames[i]);
	put_strings(pprof);
	t2x_pprof_number(&pprof->to, T2X_PPROF_TIME, profile->first_ns);
	t2x_pprof_number(&pprof->to, T2X_PPROF_DURATION, profile->last_ns - profile->first_ns);
	t2x_pprof_number(&pprof->to, T2X_PPROF_DEFAULT_TYPE, TIME_IN_REGIONS);
}

/* ---- the writer --------------------------------------------------------------------------------- */

/* --debug; what is no word of it was refused */
static char find_debug(const struct t2x_printer *printer)
{
	const char *debug = t2x_option(&printer->options, T2X_OPTION_debug);

	return debug ? *debug : '0';
}

static int begin_pprof(struct t2x_printer *printer)
{
	const char *profile = t2x_sampled_profile(printer);
	int error = profile ? t2x_sampled_begin(printer, profile, 1) : t2x_profile_begin(printer, 1);

	if (!error && profile && find_debug(printer) == '2' && !strcmp(profile, "threads"))
		t2x_sampled_as_crash(printer);
	return error;
}

static void take(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (t2x_sampled_profile(printer))
		t2x_sampled_event(printer, ev);
	else
		t2x_profile_event(printer, ev);
}

static int write_out(void *target, const char *bytes, size_t n)
{
	t2x_out_bytes(target, bytes, n);
	return 0;
}

static void finish_regions(struct t2x_printer *printer)
{
	struct pprof pprof = { .profile = printer->own };

	t2x_profile_hint(pprof.profile);
	if (t2x_profile_sort(printer->own) && !t2x_pprof_begin(&pprof.to, write_out, printer->out)) {
		put_profile(&pprof);
		if (t2x_pprof_end(&pprof.to))
			printer->out->error = ENOMEM;
	} else {
		printer->out->error = ENOMEM;
	}
	t2x_profile_free(printer->own);
	printer->own = NULL;
}

static void finish_pprof(struct t2x_printer *printer)
{
	if (t2x_sampled_profile(printer))
		t2x_sampled_finish(printer, find_debug(printer) != '0' ? t2x_samples_write_text : t2x_samples_write);
	else
		finish_regions(printer);
}

const struct t2x_writer t2x_writer_pprof = {
	.thread_bytes = T2X_SPANS_THREAD_BYTES + 256,
	.begin = begin_pprof,
	.finish = finish_pprof,
	.unresolved = take,
	.ignores_messages = 1,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = take,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
