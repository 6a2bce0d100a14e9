/* SPDX-License-Identifier: MIT */
/*
 * t2x_firefox_print.c - the processed profile as a JSON document: its head, threads, counters, shared tables.
 *
 * It is of version 63, the first in which stacks are shared by threads and a counter says how it is drawn; the Firefox
 * Profiler, whose newer versions differ, converts it.  Strings are referred to by index: of a frame there are its label
 * and its file.  Categories are those of regions; 255 at most, which is what readers have room for, the rest are
 * "Other".  Times are milliseconds since meta.startTime with six decimals, so nanoseconds.
 */
#include "t2x_firefox_print.h"
#include "t2x_firefox_threads.h"

#include <errno.h>
#include <stdlib.h>

enum { VERSION = 63, GECKO_VERSION = 31 };
enum { CATEGORY_OTHER, CATEGORY_LOST, FIRST_CATEGORY };

/* ---- names -------------------------------------------------------------------------------------- */

static unsigned char find_category(struct t2x_firefox_print *print, const char *name)
{
	unsigned at = FIRST_CATEGORY;

	if (!*name)
		return CATEGORY_OTHER;
	while (at < print->categories && strcmp(print->category[at], name) != 0)
		at++;
	if (at == T2X_FIREFOX_CATEGORIES)
		return CATEGORY_OTHER;
	if (at == print->categories)
		print->category[print->categories++] = name;
	return (unsigned char)at;
}

/* Frames of one file have the number that the first of them gave it. */
static uint32_t find_source(struct t2x_firefox_print *print, struct t2x_index *index, uint32_t frame)
{
	const char *file = print->frames->frames[frame]->file;
	uint32_t hash = (uint32_t)t2x_index_hash(t2x_index_seed(), file, strlen(file)), number;
	struct t2x_index_search search = t2x_index_begin(hash);

	if (!*file)
		return 0;
	while ((number = t2x_index_next(index, &search)))
		if (strcmp(print->frames->frames[number - 1]->file, file) == 0)
			return print->source_of[number - 1];
	return t2x_index_add(index, hash, frame + 1) ? 0 : ++print->sources;
}

/* Return  0: no memory */
static int find_names(struct t2x_firefox_print *print)
{
	struct t2x_index index = { .count = 0 };
	uint32_t count = print->frames->count;

	print->category_of = calloc(count + 1, sizeof(print->category_of[0]));
	print->source_of = calloc(count + 1, sizeof(print->source_of[0]));
	if (!print->category_of || !print->source_of)
		return 0;
	print->categories = FIRST_CATEGORY;
	for (uint32_t i = 0; i < count; i++) {
		const struct t2x_frame *frame = print->frames->frames[i];
		print->category_of[i] = frame == print->firefox->lost_frame ? CATEGORY_LOST :
					find_category(print, frame->category);
		print->source_of[i] = find_source(print, &index, i);
	}
	t2x_index_free(&index);
	return 1;
}

/* ---- the head ----------------------------------------------------------------------------------- */

static void put_categories(const struct t2x_firefox_print *print)
{
	static const char *const colors[] = {
		"blue", "orange", "green", "purple", "yellow", "lightblue", "magenta", "brown", "lightred", "darkgrey",
	};
	struct t2x_out *out = print->out;

	t2x_out_literal(out, "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\n"
			"{\"name\":\"events lost\",\"color\":\"red\",\"subcategories\":[\"Other\"]}");
	for (unsigned i = FIRST_CATEGORY; i < print->categories; i++) {
		t2x_out_literal(out, ",\n{\"name\":");
		t2x_firefox_string(out, print->category[i]);
		t2x_out_literal(out, ",\"color\":\"");
		t2x_out_string(out, colors[(i - FIRST_CATEGORY) % (sizeof(colors) / sizeof(colors[0]))]);
		t2x_out_literal(out, "\",\"subcategories\":[\"Other\"]}");
	}
	t2x_out_literal(out, "],\n");
}

#define DISPLAY "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"]"
#define FIELD(key, label, format) "{\"key\":\"" key "\",\"label\":\"" label "\",\"format\":\"" format "\"}"
#define NUMBER FIELD("value", "Value", "integer")
#define TEXT(label) FIELD("text", label, "string")
#define SCHEMA(name, table, more, fields) \
	"{\"name\":\"" name "\",\"tableLabel\":\"" table "\"," DISPLAY more ",\"fields\":[" fields "]}"

static const char schemas[] = "\"markerSchema\":["
	SCHEMA("region", "{marker.data.text}", ",\"isStackBased\":true",
	       TEXT("Message") "," FIELD("end", "End", "string"))
	",\n" SCHEMA("lost", "{marker.data.value}", ",\"description\":\"Events that are missing here\"", NUMBER)
	",\n" SCHEMA("data", "{marker.data.value}{marker.data.text}", "", NUMBER "," TEXT("Value"))
	",\n" SCHEMA("counter", "{marker.data.value}", "", NUMBER)
	",\n" SCHEMA("timer", "{marker.data.text}", "", TEXT("Timer"))
	",\n" SCHEMA("child", "{marker.data.text}", "", TEXT("Child"))
	",\n" SCHEMA("event", "{marker.data.text}", "", TEXT("Text") "," FIELD("value", "Scope", "integer"))
	"],\n";

static void put_head(const struct t2x_firefox_print *print)
{
	struct t2x_out *out = print->out;
	const struct t2x_firefox_thread *first = print->firefox->thread_count ? print->firefox->threads[0] : NULL;

	t2x_out_literal(out, "{\"meta\":{\"interval\":1,\"startTime\":");
	t2x_out_uint(out, print->firefox->zero_ns / 1000000);
	t2x_out_literal(out, ",\"product\":");
	t2x_firefox_string(out, first && first->process->known->name ? first->process->known->name : "trace2");
	t2x_json_int(out, "preprocessedProfileVersion", VERSION);
	t2x_json_int(out, "version", GECKO_VERSION);
	t2x_out_literal(out, ",\"processType\":0,\"stackwalk\":0,\"platform\":\"Linux\","
			"\"importedFrom\":\"t2expand\",\n"
			"\"symbolicated\":true,\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,"
			"\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,\n");
	put_categories(print);
	t2x_out_string(out, schemas);
	t2x_out_literal(out, "\"extra\":[{\"label\":\"Trace\",\"entries\":[{\"label\":\"Events lost\","
			"\"format\":\"integer\",\"value\":");
	t2x_out_uint(out, print->firefox->lost);
	t2x_out_literal(out, "}]}]},\n\"libs\":[],\n");
}

/* ---- what all threads share --------------------------------------------------------------------- */

/* A column that has the same in all rows. */
static void put_constant(struct t2x_out *out, const char *name, uint64_t rows, const char *value)
{
	t2x_firefox_column(out, name);
	for (uint64_t i = 0; i < rows; i++) {
		t2x_firefox_next(out, i);
		t2x_out_string(out, value);
	}
	t2x_firefox_end_column(out);
}

static void put_stacks(const struct t2x_firefox_print *print)
{
	const struct t2x_stacks *stacks = &print->firefox->stacks;
	struct t2x_out *out = print->out;

	t2x_out_literal(out, "\"stackTable\":{");
	t2x_firefox_column(out, "frame");
	for (uint32_t i = 0; i < stacks->count; i++) {
		t2x_firefox_next(out, i);
		t2x_out_uint(out, stacks->stacks[i].frame - 1);
	}
	t2x_firefox_end_column(out);
	t2x_firefox_column(out, "prefix");
	for (uint32_t i = 0; i < stacks->count; i++) {
		t2x_firefox_next(out, i);
		if (stacks->stacks[i].parent)
			t2x_out_uint(out, stacks->stacks[i].parent - 1);
		else
			t2x_out_literal(out, "null");
	}
	t2x_firefox_end_column(out);
	t2x_firefox_length(out, stacks->count);
	t2x_out_literal(out, "},\n");
}

enum frame_column { NUMBER_OF, CATEGORY_OF, SOURCE_OF, LINE_OF };

/* A column of frames or of their functions, which are the same here. */
static void put_of_frames(const struct t2x_firefox_print *print, const char *name, enum frame_column column)
{
	struct t2x_out *out = print->out;

	t2x_firefox_column(out, name);
	for (uint32_t i = 0; i < print->frames->count; i++) {
		int line = print->frames->frames[i]->line;

		t2x_firefox_next(out, i);
		if (column == NUMBER_OF)
			t2x_out_uint(out, i);
		else if (column == CATEGORY_OF)
			t2x_out_uint(out, print->category_of[i]);
		else if (column == SOURCE_OF && print->source_of[i])
			t2x_out_uint(out, print->source_of[i] - 1);
		else if (column == LINE_OF && line > 0)
			t2x_out_int(out, line);
		else
			t2x_out_literal(out, "null");
	}
	t2x_firefox_end_column(out);
}

static void put_frames(const struct t2x_firefox_print *print)
{
	struct t2x_out *out = print->out;
	uint32_t count = print->frames->count;

	t2x_out_literal(out, "\"frameTable\":{");
	put_of_frames(print, "func", NUMBER_OF);
	put_of_frames(print, "category", CATEGORY_OF);
	put_of_frames(print, "line", LINE_OF);
	put_constant(out, "subcategory", count, "0");
	put_constant(out, "address", count, "-1");
	put_constant(out, "inlineDepth", count, "0");
	put_constant(out, "nativeSymbol", count, "null");
	put_constant(out, "innerWindowID", count, "0");
	put_constant(out, "column", count, "null");
	t2x_firefox_length(out, count);
	t2x_out_literal(out, "},\n\"funcTable\":{");
	put_of_frames(print, "name", NUMBER_OF);
	put_of_frames(print, "source", SOURCE_OF);
	put_of_frames(print, "lineNumber", LINE_OF);
	put_constant(out, "isJS", count, "false");
	put_constant(out, "relevantForJS", count, "false");
	put_constant(out, "resource", count, "-1");
	put_constant(out, "columnNumber", count, "null");
	t2x_firefox_length(out, count);
	t2x_out_literal(out, "},\n");
}

/* The files' names are behind the frames'. */
static void put_sources(const struct t2x_firefox_print *print)
{
	struct t2x_out *out = print->out;

	t2x_out_literal(out, "\"sources\":{");
	put_constant(out, "id", print->sources, "null");
	t2x_firefox_column(out, "filename");
	for (uint32_t i = 0; i < print->sources; i++) {
		t2x_firefox_next(out, i);
		t2x_out_uint(out, (uint64_t)print->frames->count + i);
	}
	t2x_firefox_end_column(out);
	put_constant(out, "startLine", print->sources, "1");
	put_constant(out, "startColumn", print->sources, "1");
	put_constant(out, "sourceMapURL", print->sources, "null");
	t2x_firefox_length(out, print->sources);
	t2x_out_literal(out, "},\n");
}

static void put_strings(const struct t2x_firefox_print *print)
{
	const struct t2x_frames *frames = print->frames;
	struct t2x_out *out = print->out;
	uint32_t sources = 0;

	t2x_firefox_column(out, "stringArray");
	for (uint32_t i = 0; i < frames->count; i++) {
		t2x_firefox_next(out, i);
		t2x_firefox_string(out, frames->frames[i]->label);
	}
	for (uint32_t i = 0; i < frames->count; i++) {
		if (print->source_of[i] != sources + 1)
			continue;
		sources++;
		t2x_firefox_next(out, (uint64_t)frames->count + i);
		t2x_firefox_string(out, frames->frames[i]->file);
	}
	t2x_out_literal(out, "]");
}

static void put_shared(const struct t2x_firefox_print *print)
{
	t2x_out_literal(print->out, ",\n\"shared\":{");
	put_stacks(print);
	put_frames(print);
	put_sources(print);
	t2x_out_literal(print->out, "\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},\n"
				    "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
				    "\"functionSize\":[],\"length\":0},\n");
	put_strings(print);
	t2x_out_literal(print->out, "}}\n");
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* Processes by their first event, their threads by number. */
static int compare_threads(const void *a, const void *b)
{
	const struct t2x_firefox_thread *x = *(struct t2x_firefox_thread *const *)a;
	const struct t2x_firefox_thread *y = *(struct t2x_firefox_thread *const *)b;

	if (x->process != y->process)
		return x->process->order < y->process->order ? -1 : 1;
	return x->tid != y->tid ? (x->tid < y->tid ? -1 : 1) : (int)x->rank - (int)y->rank;
}

void t2x_firefox_print(struct t2x_out *out, struct t2x_firefox *firefox)
{
	struct t2x_firefox_print print = { .out = out, .firefox = firefox, .frames = &firefox->known.frames };

	if (firefox->thread_count)
		qsort(firefox->threads, firefox->thread_count, sizeof(firefox->threads[0]), compare_threads);
	if (find_names(&print)) {
		put_head(&print);
		t2x_firefox_print_threads(&print);
		t2x_firefox_print_counters(&print);
		put_shared(&print);
	} else {
		out->error = ENOMEM;
	}
	free(print.category_of);
	free(print.source_of);
}
