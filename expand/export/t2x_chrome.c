/* SPDX-License-Identifier: MIT */
/*
 * t2x_chrome.c - trace-event JSON: for Perfetto, chrome://tracing, speedscope, the Firefox profiler.
 *
 * A region is one element, a complete slice ("X"), printed when it ends: half the bytes of a beginning and an end, and
 * viewers have limits; and it has what the leave alone knows, whether its times are right.  A region that never ends is
 * printed at the end.  Elements are therefore not in the order of time, which the format allows.
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
#include "t2x_chrome.h"

#include <errno.h>
#include <stdlib.h>

#include "text/t2x_json.h"
#include "text/t2x_text.h"
#include "text/t2x_utf8.h"

#define DAY_NS (UINT64_C(86400) * 1000000000)

enum {
	USUAL_BYTES = 1024,             /* of a slice but for the text of its frame and its arguments */
	STEP_PS = 40,                   /* at the end of a day doubles are 15 apart, and two sums are rounded */
	MAX_STEPS = 12,
};

/* ---- elements ----------------------------------------------------------------------------------- */

/* Microseconds; a time before zero is negative. */
static inline char *put_us(char *p, uint64_t ns)
{
	if (__builtin_expect(ns >> 63 != 0, 0)) {
		*p++ = '-';
		ns = 0 - ns;
	}
	p = t2x_put_uint(p, ns / 1000);
	*p++ = '.';
	return t2x_put_3(p, (unsigned)(ns % 1000));
}

static void put_time(struct t2x_printer *printer, const char *key, uint64_t ns)
{
	t2x_json_key(printer->out, key);
	printer->out->pos = put_us(t2x_out_room(printer->out, 2 * T2X_MAX_DIGITS), ns);
}

/* In front of all elements but the first there is a comma. */
static void separate(struct t2x_printer *printer)
{
	struct t2x_chrome *chrome = printer->own;

	if (chrome->is_begun)
		t2x_out_char(printer->out, ',');
	chrome->is_begun = 1;
}

void t2x_chrome_begin(struct t2x_printer *printer, struct t2x_chrome_place place, const char *name,
		      const char *category, char phase, uint64_t ns)
{
	const struct t2x_chrome *chrome = printer->own;
	struct t2x_out *out = printer->out;

	separate(printer);
	t2x_out_literal(out, "{\"name\":");
	t2x_utf8_json(out, name, strlen(name));
	t2x_out_literal(out, ",\"cat\":");
	t2x_utf8_json(out, category, strlen(category));
	t2x_out_literal(out, ",\"ph\":\"");
	t2x_out_char(out, phase);
	t2x_out_char(out, '"');
	t2x_json_int(out, "pid", place.pid);
	t2x_json_int(out, "tid", (int64_t)place.tid + 1);
	put_time(printer, "ts", ns - chrome->zero_ns);
}

void t2x_chrome_end(struct t2x_printer *printer)
{
	t2x_out_char(printer->out, '}');
	t2x_out_end_line(printer->out);
}

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

/* Why a slice is not what it seems to be. */
static const char *const endings[] = {
	[T2X_SPAN_UNSURE] = "not sure: events are missing in it",
	[T2X_SPAN_LOST] = "missing",
	[T2X_SPAN_CUT] = "the thread or process ended",
	[T2X_SPAN_OPEN] = "none: it was open at the end of the trace",
	[T2X_SPAN_UNSEEN] = "left here; its start is missing",
};

static void put_arguments(struct t2x_printer *printer, const struct t2x_span *span, enum t2x_span_end end)
{
	struct t2x_out *out = printer->out;

	t2x_out_literal(out, ",\"args\":{");
	if (span->message) {
		t2x_out_literal(out, "\"message\":");
		t2x_utf8_json(out, span->message, span->message_length);
	}
	if (endings[end]) {
		t2x_out_string(out, span->message ? ",\"end\":" : "\"end\":");
		t2x_utf8_json(out, endings[end], strlen(endings[end]));
	}
	t2x_out_char(out, '}');
}

static inline unsigned steps(uint32_t before)
{
	return before < MAX_STEPS ? before : MAX_STEPS;
}

/* Microseconds, so many steps later: with five decimals unless there are none. */
static inline char *put_stepped(char *p, uint64_t ns, unsigned later)
{
	p = put_us(p, ns);
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
	if (span->message || end != T2X_SPAN_LEFT) {
		printer->out->pos = p;
		put_arguments(printer, span, end);
		p = t2x_out_room(printer->out, USUAL_BYTES);
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

static char *make_text(const struct t2x_frame *frame, unsigned *length)
{
	struct t2x_frame copy = { .length = 0 };
	struct t2x_out out;

	if (t2x_out_init_fn(&out, collect, &copy))
		return NULL;
	put_frame(&out, frame);
	t2x_out_flush(&out);
	t2x_out_free(&out);
	*length = copy.length;
	return copy.text;
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
	printer->own = chrome;
	t2x_processes_begin(&chrome->processes, printer);
	t2x_out_literal(printer->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	return 0;
}

static void put_argument(struct t2x_out *out, const struct t2x_arg *arg)
{
	if (arg->type == TLG_ARG_TEXT && arg->text)
		t2x_utf8_json(out, arg->text, arg->length);
	else if (arg->type == TLG_ARG_INT)
		t2x_out_int(out, arg->value);
	else if (arg->type == TLG_ARG_UINT)
		t2x_out_uint(out, (uint64_t)arg->value);
	else
		t2x_out_literal(out, "null");
}

/* "args":{"message":"...","values":[...]}, behind the members that only instants have. */
static void put_values(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_out *out = printer->out;

	t2x_out_literal(out, ",\"s\":\"t\",\"args\":{");
	if (ev->message) {
		t2x_out_literal(out, "\"message\":");
		t2x_utf8_json(out, ev->message, ev->message_length);
	}
	for (unsigned i = 0; i < ev->nargs; i++) {
		t2x_out_string(out, i ? "," : "\"values\":[");
		put_argument(out, &ev->args[i]);
	}
	t2x_out_string(out, ev->nargs ? "]}" : "}");
}

/* Whatever has no length: an instant, named by its label, or by its kind. */
static void put_instant(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const char *category = ev->scope && ev->scope->category ? ev->scope->category : "trace2";
	const char *name = ev->scope && ev->scope->label ? ev->scope->label : t2x_text_event_name(ev->style);

	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), name, category, 'i', ev->ns);
	put_values(printer, ev);
	t2x_chrome_end(printer);
}

/* A sample is an instant as well, named by the innermost function; the category is the profile. */
static void put_sample(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_options *options = &printer->options;
	const struct t2x_stack_names *names = NULL;
	struct t2x_out *out = printer->out;

	if (options->name_stack)
		names = options->name_stack(options->namer, ev->scope);
	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), names && names->n ? names->at[0] : "sample",
			 ev->scope->category ? ev->scope->category : "", 'i', ev->ns);
	t2x_out_literal(out, ",\"s\":\"t\",\"args\":{\"count\":");
	put_argument(out, &ev->args[T2X_SAMPLE_COUNT]);
	t2x_out_literal(out, ",\"value\":");
	put_argument(out, &ev->args[T2X_SAMPLE_VALUE]);
	for (unsigned i = T2X_SAMPLE_LABELS; i + 1 < ev->nargs; i++) {
		t2x_out_string(out, i == T2X_SAMPLE_LABELS ? ",\"labels\":[" : ",");
		put_argument(out, &ev->args[i]);
		t2x_out_char(out, ',');
		put_argument(out, &ev->args[++i]);
	}
	t2x_out_string(out, ev->nargs > T2X_SAMPLE_LABELS + 1 ? "],\"stack\":[" : ",\"stack\":[");
	for (unsigned i = 0; names && i < names->n; i++) {
		t2x_out_string(out, i ? "," : "");
		t2x_utf8_json(out, names->at[i], strlen(names->at[i]));
	}
	t2x_out_literal(out, "]}");
	t2x_chrome_end(printer);
}

static void print_unresolved(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (!ev->spans)
		return;
	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), "unresolved", "trace2", 'i', ev->ns);
	t2x_out_literal(printer->out, ",\"s\":\"t\",\"args\":{\"scope\":");
	t2x_out_uint(printer->out, ev->scope_index);
	t2x_out_char(printer->out, '}');
	t2x_chrome_end(printer);
}

/* A gap is a slice: from the thread's last event before it to the first behind it. */
static void put_lost_events(struct t2x_printer *printer, const struct t2x_event *ev)
{
	uint64_t since_ns = ev->lost->since_ns ? ev->lost->since_ns : ev->ns;

	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), "events lost", "trace2", 'X', since_ns);
	put_time(printer, "dur", ev->ns > since_ns ? ev->ns - since_ns : 0);
	t2x_out_literal(printer->out, ",\"cname\":\"terrible\",\"args\":{\"count\":");
	t2x_out_uint(printer->out, (uint64_t)ev->args[0].value);
	t2x_out_char(printer->out, '}');
	t2x_chrome_end(printer);
}

/* A number over time: a counter track.  Several labels of a category are several tracks. */
static void put_number(struct t2x_printer *printer, const struct t2x_event *ev)
{
	const char *label = ev->scope->label ? ev->scope->label : "?";
	const char *category = ev->scope->category ? ev->scope->category : "";

	if (ev->lost && ev->lost->what == T2X_LOST_EVENTS) {
		put_lost_events(printer, ev);
		return;
	}
	t2x_chrome_begin(printer, t2x_chrome_place_of(ev->spans), label, category, 'C', ev->ns);
	t2x_out_literal(printer->out, ",\"args\":{\"value\":");
	put_argument(printer->out, &ev->args[0]);
	t2x_out_char(printer->out, '}');
	t2x_chrome_end(printer);
}

/* The command names the process; a name that the program gives itself is better. */
static void name_process(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (t2x_processes_name(t2x_traced_of(ev->spans), ev))
		t2x_chrome_name_process(printer, ev->spans);
	put_instant(printer, ev);
}

static void print_event(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_chrome *chrome = printer->own;

	if (!ev->spans)
		return;
	switch (ev->style) {
	case TLG_STYLE_region_enter:
		t2x_processes_enter(&chrome->processes, ev);
		break;
	case TLG_STYLE_region_leave:
	case TLG_STYLE_thread_start:
		break;
	case TLG_STYLE_data_intmax:
	case TLG_STYLE_counter:
	case TLG_STYLE_th_counter:
		put_number(printer, ev);
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
		put_sample(printer, ev);
		break;
	default:
		put_instant(printer, ev);
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
	free(chrome);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_chrome = {
	.thread_bytes = T2X_SPANS_THREAD_BYTES,
	.begin = begin_chrome,
	.finish = finish_chrome,
	.unresolved = print_unresolved,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_event,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
