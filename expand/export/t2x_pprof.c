/* SPDX-License-Identifier: MIT */
/*
 * t2x_pprof.c - a profile for `go tool pprof` and its like: gzip of a Profile of profile.proto.  With --profile it is
 * one of samples, which t2x_samples.h writes; else one of regions:
 *
 * A frame is a function and a location, with the file and line of the first place that entered it.  A sample is a stack
 * in a thread: how many regions were left there, and nanoseconds in the innermost alone; its labels are the thread, the
 * process id and the category of the innermost.  The message has fields in any order, so what was written is
 * forgotten: only stacks are in memory.
 */
#include <errno.h>

#include "t2x_deflate.h"
#include "t2x_profile.h"
#include "t2x_protobuf.h"
#include "t2x_sampled.h"
#include "text/t2x_formats.h"

/* Numbers of fields. */
enum { SAMPLE_TYPE = 1, SAMPLE = 2, LOCATION = 4, FUNCTION = 5, STRING = 6, TIME = 9, DURATION = 10, COMMENT = 13,
       DEFAULT_TYPE = 14 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

/* The strings: first these, then three of each frame, then the names of threads, then the comment. */
enum { EMPTY, REGIONS, COUNT, TIME_IN_REGIONS, NANOSECONDS, THREAD, PID, CATEGORY, FIXED_STRINGS };
static const char *const fixed_strings[] = {
	"", "regions", "count", "time", "nanoseconds", "thread", "pid", "category",
};
enum { FRAME_LABEL, FRAME_CATEGORY, FRAME_FILE, FRAME_STRINGS };

enum { LEVEL = 1 };                     /* of compression: Go's own */

struct pprof {
	const struct t2x_profile *profile;
	struct t2x_deflate *deflate;
	struct t2x_bytes field, inner, part;   /* reused */
};

/* A field of the profile goes out. */
static void put_field(struct pprof *pprof)
{
	if (!pprof->field.error)
		t2x_deflate_put(pprof->deflate, pprof->field.bytes, pprof->field.n);
	pprof->field.n = 0;
}

static void put_number(struct pprof *pprof, unsigned field, uint64_t value)
{
	t2x_protobuf_uint(&pprof->field, field, value);
	put_field(pprof);
}

static void put_inner(struct pprof *pprof, unsigned field)
{
	t2x_protobuf_message(&pprof->field, field, &pprof->inner);
	put_field(pprof);
}

static void put_string(struct pprof *pprof, const char *text)
{
	t2x_protobuf_text(&pprof->field, STRING, text, strlen(text));
	put_field(pprof);
}

static uint64_t frame_string(uint32_t frame, unsigned which)
{
	return FIXED_STRINGS + (uint64_t)FRAME_STRINGS * (frame - 1) + which;
}

static uint64_t thread_string(const struct pprof *pprof, uint32_t thread)
{
	return FIXED_STRINGS + (uint64_t)FRAME_STRINGS * pprof->profile->tracks.frames.count + thread;
}

/* ---- what a profile has ------------------------------------------------------------------------- */

static void put_type(struct pprof *pprof, uint64_t type, uint64_t unit)
{
	t2x_protobuf_uint(&pprof->inner, TYPE_TYPE, type);
	t2x_protobuf_uint(&pprof->inner, TYPE_UNIT, unit);
	put_inner(pprof, SAMPLE_TYPE);
}

static void put_frame(struct pprof *pprof, const struct t2x_frame *frame)
{
	uint64_t line = frame->line > 0 ? (uint64_t)frame->line : 0;

	t2x_protobuf_uint(&pprof->inner, FUNCTION_ID, frame->number);
	t2x_protobuf_uint(&pprof->inner, FUNCTION_NAME, frame_string(frame->number, FRAME_LABEL));
	t2x_protobuf_uint(&pprof->inner, FUNCTION_SYSTEM_NAME, frame_string(frame->number, FRAME_LABEL));
	t2x_protobuf_uint(&pprof->inner, FUNCTION_FILE, frame_string(frame->number, FRAME_FILE));
	t2x_protobuf_uint(&pprof->inner, FUNCTION_LINE, line);
	put_inner(pprof, FUNCTION);
	t2x_protobuf_uint(&pprof->part, LINE_FUNCTION, frame->number);
	t2x_protobuf_uint(&pprof->part, LINE_LINE, line);
	t2x_protobuf_uint(&pprof->inner, LOCATION_ID, frame->number);
	t2x_protobuf_message(&pprof->inner, LOCATION_LINE, &pprof->part);
	put_inner(pprof, LOCATION);
}

static void put_label(struct pprof *pprof, uint64_t key, unsigned field, uint64_t value)
{
	t2x_protobuf_uint(&pprof->part, LABEL_KEY, key);
	t2x_protobuf_uint(&pprof->part, field, value);
	t2x_protobuf_message(&pprof->inner, SAMPLE_LABEL, &pprof->part);
}

static void put_sample(struct pprof *pprof, const struct t2x_stack *stack)
{
	const struct t2x_profile *profile = pprof->profile;
	const struct t2x_stack *at;

	for (at = stack; at && !at->is_thread; at = t2x_stacks_parent(&profile->stacks, at))
		t2x_protobuf_packed(&pprof->part, at->frame);
	t2x_protobuf_message(&pprof->inner, SAMPLE_LOCATIONS, &pprof->part);
	t2x_protobuf_packed(&pprof->part, stack->count);
	t2x_protobuf_packed(&pprof->part, stack->self_ns);
	t2x_protobuf_message(&pprof->inner, SAMPLE_VALUES, &pprof->part);
	if (at) {
		put_label(pprof, THREAD, LABEL_TEXT, thread_string(pprof, at->frame - 1));
		put_label(pprof, PID, LABEL_NUMBER, profile->thread[at->frame - 1].pid);
	}
	put_label(pprof, CATEGORY, LABEL_TEXT, frame_string(stack->frame, FRAME_CATEGORY));
	put_inner(pprof, SAMPLE);
}

static void put_strings(struct pprof *pprof)
{
	const struct t2x_profile *profile = pprof->profile;
	char lost[64];

	for (unsigned i = 0; i < FIXED_STRINGS; i++)
		put_string(pprof, fixed_strings[i]);
	for (uint32_t i = 0; i < profile->tracks.frames.count; i++) {
		const struct t2x_frame *frame = profile->tracks.frames.frames[i];
		put_string(pprof, frame->label);
		put_string(pprof, frame->category);
		put_string(pprof, frame->file);
	}
	for (uint32_t i = 0; i < profile->threads; i++)
		put_string(pprof, profile->thread[i].name);
	if (profile->lost) {
		memcpy(t2x_put_uint(lost, profile->lost), " events lost", sizeof(" events lost"));
		put_string(pprof, lost);
		put_number(pprof, COMMENT, thread_string(pprof, profile->threads));
	}
}

static void put_profile(struct pprof *pprof)
{
	const struct t2x_profile *profile = pprof->profile;

	put_type(pprof, REGIONS, COUNT);
	put_type(pprof, TIME_IN_REGIONS, NANOSECONDS);
	for (uint32_t i = 0; i < profile->stacks.count; i++)
		if (profile->stacks.stacks[profile->order[i] - 1].count)
			put_sample(pprof, &profile->stacks.stacks[profile->order[i] - 1]);
	for (uint32_t i = 0; i < profile->tracks.frames.count; i++)
		put_frame(pprof, profile->tracks.frames.frames[i]);
	put_strings(pprof);
	put_number(pprof, TIME, profile->first_ns);
	put_number(pprof, DURATION, profile->last_ns - profile->first_ns);
	put_number(pprof, DEFAULT_TYPE, TIME_IN_REGIONS);
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
	int is_sorted = t2x_profile_sort(printer->own);

	pprof.deflate = t2x_deflate_new(T2X_DEFLATE_GZIP, LEVEL, write_out, printer->out);
	if (pprof.deflate && is_sorted) {
		put_profile(&pprof);
		t2x_deflate_end(pprof.deflate);
	} else {
		printer->out->error = ENOMEM;
	}
	if (pprof.field.error || pprof.inner.error || pprof.part.error)
		printer->out->error = ENOMEM;
	t2x_deflate_free(pprof.deflate);
	t2x_bytes_free(&pprof.field);
	t2x_bytes_free(&pprof.inner);
	t2x_bytes_free(&pprof.part);
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
	.thread_bytes = T2X_TRACKS_THREAD_BYTES + 256,
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
