/* SPDX-License-Identifier: MIT */
/*
 * t2x_firefox_threads.c - the tables of a profile's threads: samples and markers; counters.
 *
 * A sample lasts until the next one and has its length as its weight ("tracing-ms"), so that sums are exact.  Graphs of
 * activity take a sample to be around its time instead: where one is longer than meta.interval, another one without
 * weight stands at its end.
 */
#include "t2x_firefox_threads.h"

#include <stdio.h>

enum { INTERVAL_NS = 1000000, CLOSING_NS = 1000 };    /* meta.interval; how long before its end a sample is repeated */

/* ---- samples ------------------------------------------------------------------------------------ */

/* Samples of a thread: from its start without a stack, then one for each change, and those at the end of long ones. */
struct samples {
	struct t2x_firefox_cursor cursor;
	struct t2x_firefox_point at, then;     /* the sample; the next change */
	uint64_t last_ns, length_ns;
	int has_next, is_closing;
};

static struct samples first_sample(const struct t2x_firefox_thread *thread)
{
	struct samples samples = { .cursor = t2x_firefox_first(&thread->stacks), .last_ns = thread->last_ns };
	struct t2x_firefox_cursor ahead = samples.cursor;
	struct t2x_firefox_point first;

	samples.then.ns = thread->start_ns;
	if (t2x_firefox_next_point(&ahead, &first) && first.ns < thread->start_ns)
		samples.then.ns = first.ns;
	samples.has_next = 1;
	return samples;
}

/* Return  0: there is no more */
static int next_sample(struct samples *samples)
{
	uint64_t end_ns;

	if (samples->length_ns > INTERVAL_NS && !samples->is_closing) {
		samples->at.ns += samples->length_ns - CLOSING_NS;
		samples->length_ns = 0;
		samples->is_closing = 1;
		return 1;
	}
	if (!samples->has_next)
		return 0;
	samples->at = samples->then;
	samples->is_closing = 0;
	samples->has_next = t2x_firefox_next_point(&samples->cursor, &samples->then);
	end_ns = samples->has_next ? samples->then.ns : samples->last_ns;
	samples->length_ns = end_ns > samples->at.ns ? end_ns - samples->at.ns : 0;
	return 1;
}

/* A stack by its number; 0: there is none. */
static void put_stack(struct t2x_out *out, int64_t stack)
{
	if (stack)
		t2x_out_uint(out, (uint64_t)stack - 1);
	else
		t2x_out_literal(out, "null");
}

static void put_stack_column(struct t2x_out *out, const struct t2x_firefox_thread *thread)
{
	struct samples samples = first_sample(thread);

	t2x_firefox_column(out, "stack");
	for (uint64_t i = 0; next_sample(&samples); i++) {
		t2x_firefox_next(out, i);
		put_stack(out, samples.at.value);
	}
	t2x_firefox_end_column(out);
}

/* Columns of samples as they were taken: stacks, times, weights. */
static void put_taken(const struct t2x_firefox_print *print, const struct t2x_firefox_thread *thread)
{
	int is_time = thread->kind->form->unit == T2X_PROF_time;
	struct t2x_firefox_cursor stacks = t2x_firefox_first(&thread->stacks), times = stacks;
	struct t2x_firefox_cursor weights = t2x_firefox_first(&thread->weights);
	struct t2x_firefox_point point;
	struct t2x_out *out = print->out;

	t2x_firefox_column(out, "stack");
	for (uint64_t i = 0; t2x_firefox_next_point(&stacks, &point); i++) {
		t2x_firefox_next(out, i);
		put_stack(out, point.value);
	}
	t2x_firefox_end_column(out);
	t2x_firefox_column(out, "time");
	for (uint64_t i = 0; t2x_firefox_next_point(&times, &point); i++) {
		t2x_firefox_next(out, i);
		t2x_firefox_ms(out, point.ns - print->firefox->zero_ns);
	}
	t2x_firefox_end_column(out);
	t2x_firefox_column(out, "weight");
	for (uint64_t i = 0; t2x_firefox_next_point(&weights, &point); i++) {
		t2x_firefox_next(out, i);
		if (is_time)
			t2x_firefox_ms(out, point.value > 0 ? (uint64_t)point.value : 0);
		else
			t2x_out_int(out, point.value);
	}
	t2x_firefox_end_column(out);
	t2x_firefox_length(out, thread->stacks.count);
	t2x_out_literal(out, "},\n");
}

/*
 * The samples of a profile.  Bytes are allocations: readers show them where a thread has no samples, those that are
 * freed, which weigh less than nothing, apart.
 */
static void put_sampled(const struct t2x_firefox_print *print, const struct t2x_firefox_thread *thread)
{
	static const char *const weights[] = { [T2X_PROF_time] = "tracing-ms", [T2X_PROF_count] = "samples" };
	enum t2x_prof_unit unit = thread->kind->form->unit;
	struct t2x_out *out = print->out;

	if (unit == T2X_PROF_bytes) {
		t2x_out_literal(out, "\"samples\":{\"weightType\":\"samples\",\"stack\":[],\"time\":[],\"weight\":[],"
				"\"length\":0},\n\"nativeAllocations\":{\"weightType\":\"bytes\",\n");
	} else {
		t2x_out_literal(out, "\"samples\":{\"weightType\":\"");
		t2x_out_string(out, weights[unit]);
		t2x_out_literal(out, "\",\n");
	}
	put_taken(print, thread);
}

static void put_samples(const struct t2x_firefox_print *print, const struct t2x_firefox_thread *thread)
{
	struct t2x_out *out = print->out;
	struct samples times = first_sample(thread), weights = times;
	uint64_t i;

	t2x_out_literal(out, "\"samples\":{\"weightType\":\"tracing-ms\",\n");
	put_stack_column(out, thread);
	t2x_firefox_column(out, "time");
	for (i = 0; next_sample(&times); i++) {
		t2x_firefox_next(out, i);
		t2x_firefox_ms(out, times.at.ns - print->firefox->zero_ns);
	}
	t2x_firefox_end_column(out);
	t2x_firefox_column(out, "weight");
	for (i = 0; next_sample(&weights); i++) {
		t2x_firefox_next(out, i);
		t2x_firefox_ms(out, weights.length_ns);
	}
	t2x_firefox_end_column(out);
	t2x_firefox_length(out, i);
	t2x_out_literal(out, "},\n");
}

/* ---- markers ------------------------------------------------------------------------------------ */

static const char *const schema_names[] = {
	[T2X_FIREFOX_REGION] = "region", [T2X_FIREFOX_LOST] = "lost", [T2X_FIREFOX_DATA] = "data",
	[T2X_FIREFOX_COUNTER] = "counter", [T2X_FIREFOX_TIMER] = "timer", [T2X_FIREFOX_CHILD] = "child",
	[T2X_FIREFOX_EVENT] = "event",
};

static void put_data(struct t2x_out *out, const struct t2x_firefox_marker *marker)
{
	t2x_out_literal(out, "{\"type\":\"");
	t2x_out_string(out, schema_names[marker->schema]);
	t2x_out_char(out, '"');
	if (marker->has_value) {
		t2x_out_literal(out, ",\"value\":");
		if (marker->is_unsigned)
			t2x_out_uint(out, (uint64_t)marker->value);
		else
			t2x_out_int(out, marker->value);
	}
	if (marker->text) {
		t2x_out_literal(out, ",\"text\":");
		t2x_utf8_json(out, marker->text, marker->length);
	}
	if (t2x_span_ending(marker->end)) {
		t2x_out_literal(out, ",\"end\":\"");
		t2x_out_string(out, t2x_span_ending(marker->end));
		t2x_out_char(out, '"');
	}
	t2x_out_char(out, '}');
}

static void put_data_column(struct t2x_out *out, const struct t2x_firefox_rows *rows)
{
	struct t2x_firefox_cursor cursor = t2x_firefox_first(rows);
	struct t2x_firefox_marker marker;

	t2x_firefox_column(out, "data");
	for (uint64_t i = 0; t2x_firefox_next_marker(&cursor, &marker); i++) {
		t2x_firefox_next(out, i);
		put_data(out, &marker);
	}
	t2x_firefox_end_column(out);
}

enum marker_column { NAME, CATEGORY, PHASE, START, END, MARKER_COLUMNS };

static void put_marker(const struct t2x_firefox_print *print, const struct t2x_firefox_marker *marker,
		       enum marker_column column)
{
	struct t2x_out *out = print->out;

	if (column == NAME)
		t2x_out_uint(out, marker->name - 1);
	else if (column == CATEGORY)
		t2x_out_uint(out, print->category_of[marker->name - 1]);
	else if (column == PHASE)
		t2x_out_char(out, (char)('0' + marker->phase));
	else if (column == START)
		t2x_firefox_ms(out, marker->start_ns - print->firefox->zero_ns);
	else if (marker->phase == T2X_FIREFOX_INTERVAL)
		t2x_firefox_ms(out, marker->end_ns - print->firefox->zero_ns);
	else
		t2x_out_literal(out, "null");
}

static void put_markers(const struct t2x_firefox_print *print, const struct t2x_firefox_rows *rows)
{
	static const char *const names[] = {
		[NAME] = "name", [CATEGORY] = "category", [PHASE] = "phase", [START] = "startTime", [END] = "endTime",
	};
	struct t2x_out *out = print->out;

	t2x_out_literal(out, "\"markers\":{");
	put_data_column(out, rows);
	for (enum marker_column column = NAME; column < MARKER_COLUMNS; column++) {
		struct t2x_firefox_cursor cursor = t2x_firefox_first(rows);
		struct t2x_firefox_marker marker;

		t2x_firefox_column(out, names[column]);
		for (uint64_t i = 0; t2x_firefox_next_marker(&cursor, &marker); i++) {
			t2x_firefox_next(out, i);
			put_marker(print, &marker, column);
		}
		t2x_firefox_end_column(out);
	}
	t2x_firefox_length(out, rows->count);
	t2x_out_char(out, '}');
}

/* ---- threads ----------------------------------------------------------------------- */

/* A time that may not be known. */
static void put_time(const struct t2x_firefox_print *print, const char *key, uint64_t ns)
{
	t2x_json_key(print->out, key);
	if (ns)
		t2x_firefox_ms(print->out, ns - print->firefox->zero_ns);
	else
		t2x_out_literal(print->out, "null");
}

/* "main", "main: CPU", "main: of-the-program"; with is_id what is behind the number of a thread, "", ":cpu". */
static void put_profile(struct t2x_out *out, const struct t2x_firefox_thread *thread, int is_id)
{
	const struct t2x_prof_kind *kind = thread->kind;
	char text[sizeof(thread->name) + sizeof(thread->profile) + 2 * T2X_MAX_DIGITS + 4];

	if (is_id)
		snprintf(text, sizeof(text), "%u:%u%s%s", thread->process->pid, thread->tid, kind ? ":" : "",
			 thread->profile);
	else
		snprintf(text, sizeof(text), "%s%s%s", thread->name, kind ? ": " : "",
			 kind && kind->name ? kind->title : thread->profile);
	t2x_firefox_string(out, text);
}

/* A process id is a text; a thread's id has to be one of its own in the whole profile. */
static void put_thread(const struct t2x_firefox_print *print, const struct t2x_firefox_thread *thread)
{
	const struct t2x_firefox_process *process = thread->process;
	struct t2x_out *out = print->out;

	t2x_out_literal(out, "{\"name\":");
	put_profile(out, thread, 0);
	t2x_out_literal(out, ",\"processName\":");
	t2x_processes_print_name(out, process->known);
	t2x_out_literal(out, ",\"isMainThread\":");
	t2x_out_string(out, thread->tid || thread->kind ? "false" : "true");
	t2x_out_literal(out, ",\"pid\":\"");
	t2x_out_uint(out, process->pid);
	t2x_out_literal(out, "\",\"tid\":");
	put_profile(out, thread, 1);
	t2x_out_literal(out, ",\"processType\":\"default\",\"pausedRanges\":[],\"showMarkersInTimeline\":true");
	put_time(print, "processStartupTime", process->start_ns);
	put_time(print, "processShutdownTime", process->end_ns);
	put_time(print, "registerTime", thread->start_ns);
	put_time(print, "unregisterTime", thread->end_ns);
	t2x_out_literal(out, ",\n");
	if (thread->kind)
		put_sampled(print, thread);
	else
		put_samples(print, thread);
	put_markers(print, &thread->markers);
	t2x_out_char(out, '}');
}

void t2x_firefox_print_threads(const struct t2x_firefox_print *print)
{
	t2x_out_literal(print->out, "\"threads\":[");
	for (uint32_t i = 0; i < print->firefox->thread_count; i++) {
		t2x_out_string(print->out, i ? ",\n" : "\n");
		put_thread(print, print->firefox->threads[i]);
	}
	t2x_out_literal(print->out, "]");
}

/* ---- counters ----------------------------------------------------------------------------------- */

/* Readers add the differences up, but for the first: that is the value when the process began, 0. */
static void put_differences(struct t2x_out *out, const struct t2x_firefox_rows *points)
{
	struct t2x_firefox_cursor cursor = t2x_firefox_first(points);
	struct t2x_firefox_point point;
	int64_t value = 0, difference;

	t2x_firefox_column(out, "count");
	t2x_out_char(out, '0');
	for (uint64_t i = 1; t2x_firefox_next_point(&cursor, &point); i++) {
		t2x_firefox_next(out, i);
		if (__builtin_sub_overflow(point.value, value, &difference))
			difference = point.value > value ? INT64_MAX : INT64_MIN;
		t2x_out_int(out, difference);
		value = point.value;
	}
	t2x_firefox_end_column(out);
}

static void put_counter(const struct t2x_firefox_print *print, const struct t2x_firefox_process *process,
			const struct t2x_firefox_counter *counter, uint32_t main_thread)
{
	const struct t2x_frame *frame = print->frames->frames[counter->name - 1];
	struct t2x_firefox_cursor cursor = t2x_firefox_first(&counter->points);
	struct t2x_firefox_point point;
	struct t2x_out *out = print->out;

	t2x_out_literal(out, "{\"name\":");
	t2x_firefox_string(out, frame->label);
	t2x_out_literal(out, ",\"category\":");
	t2x_firefox_string(out, frame->category);
	t2x_out_literal(out, ",\"description\":\"\",\"pid\":\"");
	t2x_out_uint(out, process->pid);
	t2x_out_char(out, '"');
	t2x_json_int(out, "mainThreadIndex", main_thread);
	t2x_out_literal(out, ",\"display\":{\"graphType\":\"line-accumulated\",\"unit\":\"\",\"color\":\"blue\","
			"\"markerSchemaLocation\":null,\"sortWeight\":50,\"label\":");
	t2x_firefox_string(out, frame->label);
	t2x_out_literal(out, ",\"tooltipRows\":[{\"type\":\"value\",\"source\":\"accumulated\","
			"\"format\":{\"unit\":\"number\"},\"label\":\"value\"}]},\n\"samples\":{");
	t2x_firefox_column(out, "time");
	t2x_firefox_ms(out, process->start_ns - print->firefox->zero_ns);
	for (uint64_t i = 1; t2x_firefox_next_point(&cursor, &point); i++) {
		t2x_firefox_next(out, i);
		t2x_firefox_ms(out, point.ns - print->firefox->zero_ns);
	}
	t2x_firefox_end_column(out);
	put_differences(out, &counter->points);
	t2x_firefox_length(out, counter->points.count + 1);
	t2x_out_literal(out, "}}");
}

void t2x_firefox_print_counters(const struct t2x_firefox_print *print)
{
	const struct t2x_firefox *firefox = print->firefox;
	const struct t2x_firefox_process *process = NULL;
	int is_begun = 0;

	t2x_out_literal(print->out, ",\n\"counters\":[");
	for (uint32_t i = 0; i < firefox->thread_count; i++) {
		if (firefox->threads[i]->process == process)
			continue;
		process = firefox->threads[i]->process;
		for (const struct t2x_firefox_counter *at = process->first; at; at = at->next) {
			t2x_out_string(print->out, is_begun ? ",\n" : "\n");
			put_counter(print, process, at, i);
			is_begun = 1;
		}
	}
	t2x_out_literal(print->out, "]");
}
