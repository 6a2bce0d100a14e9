/* SPDX-License-Identifier: MIT */
/*
 * t2x_chrome.c - trace-event JSON: for Perfetto, chrome://tracing, speedscope, the Firefox profiler.
 *
 * A region is one element, a complete slice ("X"), printed when it ends: half the bytes of a beginning and an end, and
 * viewers have limits; and it has what the leave alone knows, whether its times are right.  A region that never ends is
 * printed at the end.  Elements are therefore not in the order of time, which the format allows.  The place where
 * it was entered is an argument; places beyond PLACES_BYTES have no room.
 *
 * Times are microseconds with three decimals, so nanoseconds.  Readers have them as doubles, which cannot hold
 * nanoseconds since 1970: they count from the midnight before the first event, UTC, so that traces of a day fit
 * together.
 *
 * A reader adds start and length, and what is rounded then may put the end of a slice behind that of the one around it,
 * or behind the start of the next one, if both are of one nanosecond; speedscope takes such slices apart.  So each of
 * several starts and ends of a thread in one nanosecond is put STEP_PS behind the one before, but no half nanosecond
 * away.  All others have three decimals; rounded or cut to nanoseconds all are right.
 */
#include "t2x_chrome_instants.h"
#include "t2x_chrome_names.h"

#include <errno.h>
#include <stdlib.h>

#include "text/t2x_json.h"
#include "text/t2x_text.h"
#include "text/t2x_utf8.h"

#define DAY_NS (UINT64_C(86400) * 1000000000)

enum {
	USUAL_BYTES = 1024,             /* of a slice but for the text of its frame and what the program says */
	PLACE_BYTES = 512,              /* of it, for the place */
	PLACES_BYTES = 4 * 1024 * 1024,
	STEP_PS = 40,                   /* at the end of a day doubles are 15 apart, and two sums are rounded */
	MAX_STEPS = 12,
};

/* ---- slices ------------------------------------------------------------------------------------- */

/* What stands in front of the process id. */
static void put_frame(struct t2x_out *out, const struct t2x_frame *frame)
{
	t2x_out_literal(out, ",{\"name\":");
	t2x_utf8_json(out, frame->label, strlen(frame->label));
	t2x_out_literal(out, ",\"cat\":");
	t2x_utf8_json(out, frame->category, strlen(frame->category));
	t2x_out_literal(out, ",\"ph\":\"X\",\"pid\":");
}

/* Where the region of a span was entered.  Return  NULL: there is no place, or no room for it */
static inline const struct t2x_frame *place_of(const struct t2x_chrome *chrome, const struct t2x_span *span)
{
	return span->node ? chrome->places.frames[span->node - 1] : NULL;
}

/* All arguments; the place's text ends them. */
static void put_arguments(struct t2x_printer *printer, const struct t2x_span *span, enum t2x_span_end end)
{
	const struct t2x_frame *place = place_of(printer->own, span);
	struct t2x_out *out = printer->out;

	t2x_out_literal(out, ",\"args\":{");
	if (span->message) {
		t2x_out_literal(out, "\"message\":");
		t2x_utf8_json(out, span->message, span->message_length);
	}
	if (t2x_span_ending(end)) {
		t2x_out_string(out, span->message ? ",\"end\":" : "\"end\":");
		t2x_utf8_json(out, t2x_span_ending(end), strlen(t2x_span_ending(end)));
	}
	if (place && (span->message || t2x_span_ending(end)))
		t2x_out_char(out, ',');
	if (place)
		t2x_out_bytes(out, place->text, place->length);
	else
		t2x_out_char(out, '}');
}

static inline unsigned steps(uint32_t before)
{
	return before < MAX_STEPS ? before : MAX_STEPS;
}

/* Microseconds, so many steps later: with five decimals unless there are none. */
static inline char *put_stepped(char *p, uint64_t ns, unsigned later)
{
	p = t2x_chrome_put_us(p, ns);
	return __builtin_expect(later == 0, 1) ? p : t2x_put_2(p, later * STEP_PS / 10);
}

static inline char *put_length(char *p, const struct t2x_spans *spans, const struct t2x_span *span)
{
	return put_stepped(p, span->end_ns - span->start_ns, steps(spans->at_once) - steps(span->after));
}

/* What of a thread's slices is always the same. */
struct chrome_thread {
	unsigned char length;
	char text[62];
};

/* Its thread's own slice has the thread's name, and ends as it has to. */
static void end_thread(struct t2x_printer *printer, const struct t2x_spans *spans, const struct t2x_span *span,
		       enum t2x_span_end end)
{
	t2x_chrome_begin(printer, t2x_chrome_place_of(spans), spans->name, "trace2.thread", 'X', span->start_ns);
	t2x_json_key(printer->out, "dur");
	printer->out->pos = put_length(t2x_out_room(printer->out, 2 * T2X_MAX_DIGITS), spans, span);
	if (end == T2X_SPAN_OPEN)
		put_arguments(printer, span, end);
	t2x_chrome_end(printer);
}

static void end_unseen(struct t2x_printer *printer, const struct t2x_spans *spans, const struct t2x_span *span,
		       const struct t2x_frame *frame)
{
	t2x_chrome_begin(printer, t2x_chrome_place_of(spans), frame->label, frame->category, 'i', span->end_ns);
	t2x_out_literal(printer->out, ",\"s\":\"t\"");
	put_arguments(printer, span, T2X_SPAN_UNSEEN);
	t2x_chrome_end(printer);
}

/* Most of what is printed: no function is called but for digits. */
static void end_span(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
		     enum t2x_span_end end)
{
	struct t2x_printer *printer = table->printer;
	struct t2x_chrome *chrome = printer->own;
	const struct t2x_frame *frame = t2x_processes_ended(&chrome->processes, span);
	const struct chrome_thread *thread = spans->own;
	const struct t2x_frame *place = place_of(chrome, span);
	char *p;

	if (!frame || !frame->number || end == T2X_SPAN_UNSEEN) {
		if (frame && frame->number)
			end_unseen(printer, spans, span, frame);
		else if (frame)
			end_thread(printer, spans, span, end);
		return;
	}
	if (__builtin_expect(frame->text != NULL, 1))
		t2x_out_bytes(printer->out, frame->text, frame->length);
	else
		put_frame(printer->out, frame);
	p = t2x_out_room(printer->out, USUAL_BYTES);
	memcpy(p, thread->text, sizeof(thread->text));
	p = put_stepped(p + thread->length, span->start_ns - chrome->zero_ns, steps(span->after));
	memcpy(p, ",\"dur\":", 8);
	p = put_length(p + 7, spans, span);
	if (span->message || end != T2X_SPAN_LEFT || (place && place->length > PLACE_BYTES)) {
		printer->out->pos = p;
		put_arguments(printer, span, end);
		p = t2x_out_room(printer->out, USUAL_BYTES);
	} else if (place) {
		memcpy(p, ",\"args\":{", 9);
		memcpy(p + 9, place->text, place->length);
		p += 9 + place->length;
	}
	*p++ = '}';
	t2x_out_end_line_at(printer->out, p);
}

static int collect(void *to, const char *text, size_t n)
{
	struct t2x_frame *frame = to;
	char *grown = realloc(frame->text, frame->length + n);

	if (!grown)
		return ENOMEM;
	memcpy(grown + frame->length, text, n);
	frame->text = grown;
	frame->length += (unsigned)n;
	return 0;
}

/* Return  malloc'ed; NULL: no memory */
static char *make_text_by(const struct t2x_frame *frame, unsigned *length,
			  void (*put)(struct t2x_out *out, const struct t2x_frame *frame))
{
	struct t2x_frame copy = { .length = 0 };
	struct t2x_out out;

	if (t2x_out_init_fn(&out, collect, &copy))
		return NULL;
	put(&out, frame);
	t2x_out_flush(&out);
	t2x_out_free(&out);
	*length = copy.length;
	return copy.text;
}

static char *make_text(const struct t2x_frame *frame, unsigned *length)
{
	return make_text_by(frame, length, put_frame);
}

/* ---- places ------------------------------------------------------------------------------------- */

/* A place is a frame whose category is a file, and its label a line. */
static void put_place(struct t2x_out *out, const struct t2x_frame *place)
{
	t2x_chrome_put_place(out, "", place->category, place->line);
	t2x_out_char(out, '}');
}

static char *make_place(const struct t2x_frame *frame, unsigned *length)
{
	return make_text_by(frame, length, put_place);
}

static __attribute__((noinline)) const struct t2x_frame *find_place(struct t2x_chrome *chrome,
								    const struct t2x_scope *scope)
{
	char line[T2X_MAX_DIGITS + 1];
	const struct t2x_scope names = {
		.number = scope->number, .category = scope->file, .label = line, .line = scope->line,
	};

	if (!scope->file || !*scope->file || scope->line <= 0)
		return NULL;
	*t2x_put_uint(line, (uint64_t)scope->line) = '\0';
	return t2x_frames_find(&chrome->places, &names);
}

/* A region is entered. */
static void enter(struct t2x_chrome *chrome, const struct t2x_event *ev)
{
	const struct t2x_frame *place = t2x_frames_cached(&chrome->places, ev->scope);

	t2x_processes_enter(&chrome->processes, ev);
	if (!place)
		place = find_place(chrome, ev->scope);
	/* what there was no room for has no line */
	if (ev->spans->at && place && place->line)
		ev->spans->at->node = place->number;
}

/* ---- events ------------------------------------------------------------------------------------- */

static void prepare(struct chrome_thread *thread, const struct t2x_spans *spans)
{
	char *p = t2x_put_uint(thread->text, t2x_traced_of(spans)->pid);

	memcpy(p, ",\"tid\":", 7);
	p = t2x_put_uint(p + 7, (uint64_t)spans->tid + 1);
	memcpy(p, ",\"ts\":", 6);
	thread->length = (unsigned char)(p + 6 - thread->text);
}

/* A thread is named in front of its spans that end: a forked child may begin with one. */
static int meet_thread(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
		       int is_renamed)
{
	struct t2x_chrome *chrome = table->printer->own;

	if (!spans->own)
		spans->own = calloc(1, sizeof(struct chrome_thread));
	if (!spans->own)
		return 0;
	if (!chrome->zero_ns)
		chrome->zero_ns = ev->ns - ev->ns % DAY_NS;
	prepare(spans->own, spans);
	if (is_renamed)
		t2x_chrome_name_thread(table->printer, spans);
	return 1;
}

static void forget_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	(void)table;
	free(spans->own);
}

static int begin_chrome(struct t2x_printer *printer)
{
	struct t2x_chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome)
		return -ENOMEM;
	chrome->processes.meet_thread = meet_thread;
	chrome->processes.spans.end_span = end_span;
	chrome->processes.spans.forget_thread = forget_thread;
	chrome->processes.spans.keeps_messages = 1;
	chrome->processes.forget_process = t2x_chrome_forget_children;
	chrome->processes.forgets_frames = 1;
	chrome->processes.frames.max_bytes = T2X_FRAMES_BYTES;
	chrome->processes.frames.spares_texts = 1;
	chrome->processes.frames.make_text = make_text;
	chrome->places.max_bytes = PLACES_BYTES;
	chrome->places.make_text = make_place;
	printer->own = chrome;
	t2x_processes_begin(&chrome->processes, printer);
	t2x_out_literal(printer->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	return 0;
}

/* The command names the process; a name that the program gives itself is better. */
static void name_process(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (t2x_processes_name(t2x_traced_of(ev->spans), ev))
		t2x_chrome_name_process(printer, ev->spans);
	t2x_chrome_instant(printer, ev);
}

static void print_event(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_chrome *chrome = printer->own;

	if (!ev->spans)
		return;
	switch (ev->style) {
	case TLG_STYLE_region_enter:
		enter(chrome, ev);
		break;
	case TLG_STYLE_region_leave:
	case TLG_STYLE_thread_start:
		break;
	case TLG_STYLE_data_intmax:
	case TLG_STYLE_counter:
	case TLG_STYLE_th_counter:
		t2x_chrome_number(printer, ev);
		break;
	case TLG_STYLE_start:
	case TLG_STYLE_cmd_name:
		name_process(printer, ev);
		break;
	case TLG_STYLE_child_start:
		t2x_chrome_child_start(printer, ev);
		break;
	case TLG_STYLE_child_exit:
	case TLG_STYLE_child_ready:
		t2x_chrome_child_end(printer, ev);
		break;
	case TLG_STYLE_thread_exit:
		t2x_spans_end_thread(printer->spans, ev->spans);
		break;
	case TLG_STYLE_sample:
		t2x_chrome_sample(printer, ev);
		break;
	default:
		t2x_chrome_instant(printer, ev);
		break;
	}
}

/* ---- the writer --------------------------------------------------------------------------------- */

static void finish_chrome(struct t2x_printer *printer)
{
	struct t2x_chrome *chrome = printer->own;

	t2x_spans_end(&chrome->processes.spans);
	t2x_processes_report(&chrome->processes);
	t2x_chrome_finish_children(printer);
	t2x_out_literal(printer->out, "],\"otherData\":{\"clock\":\"microseconds\",\"zero_unix_seconds\":");
	t2x_out_uint(printer->out, chrome->zero_ns / 1000000000);
	t2x_out_literal(printer->out, "}}\n");
	t2x_processes_free(&chrome->processes);
	t2x_frames_free(&chrome->places);
	free(chrome);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_chrome = {
	.thread_bytes = T2X_SPANS_THREAD_BYTES,
	.begin = begin_chrome,
	.finish = finish_chrome,
	.unresolved = t2x_chrome_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_event,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
