/* SPDX-License-Identifier: MIT */
/* t2x_import.c - see t2x_import.h. */
#include "t2x_import.h"

#include <errno.h>
#include <string.h>

#include "t2x_git_process.h"
#include "base/t2x_hash.h"
#include "base/t2x_map.h"
#include "base/t2x_memory.h"

/* A process. */
struct entry {
	struct entry *before, *behind;            /* of all processes, in the order of their first lines */
	struct entry *next_of_hash;               /* another one whose session id has the same hash */
	struct entry *next_ended;
	uint32_t hash;                            /* of the session id */
	int has_ended;                            /* it is in that list */
	struct t2x_git_process *process;
};

struct t2x_import {
	struct t2x_raw_trace *trace;
	enum t2x_import_detail detail;
	struct t2x_git_parser *parser;
	struct t2x_import_counts counts;
	struct entry *first, *last;
	struct entry *ended, **last_ended;        /* in the order in which they ended */
	struct t2x_map by_hash;                   /* entries */
	size_t waiting;                           /* bytes of lines */
};

struct t2x_import *t2x_import_new(struct t2x_raw_sink *sink, enum t2x_import_detail detail)
{
	struct t2x_import *import = t2x_calloc(1, sizeof(*import));

	if (!import)
		return NULL;
	import->detail = detail;
	import->last_ended = &import->ended;
	import->trace = t2x_raw_trace_new(sink);
	import->parser = t2x_git_parser_new();
	if (import->trace && import->parser)
		return import;
	t2x_import_free(import);
	return NULL;
}

const struct t2x_import_counts *t2x_import_counts(const struct t2x_import *import)
{
	return &import->counts;
}

/* ---- processes ---------------------------------------------------------------------------------- */

/* Return  NULL: no memory */
static struct entry *add_process(struct t2x_import *import, const struct t2x_git_text *sid, uint32_t hash)
{
	struct entry *entry = t2x_calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->hash = hash;
	entry->next_of_hash = t2x_map_get(&import->by_hash, hash);
	entry->process = t2x_git_process_new(import->trace, sid, import->counts.processes);
	if (!entry->process || t2x_map_put(&import->by_hash, hash, entry)) {
		if (entry->process)
			t2x_git_process_free(entry->process);
		t2x_free(entry);
		return NULL;
	}
	entry->before = import->last;
	*(import->last ? &import->last->behind : &import->first) = entry;
	import->last = entry;
	import->counts.processes++;
	return entry;
}

/* Return  NULL: no memory */
static struct entry *find_process(struct t2x_import *import, const struct t2x_git_text *sid)
{
	const uint32_t hash = t2x_hash(t2x_hash_seed(import), sid->at, sid->length);
	struct entry *entry = t2x_map_get(&import->by_hash, hash);

	for (; entry; entry = entry->next_of_hash)
		if (t2x_git_process_is(entry->process, sid))
			return entry;
	return add_process(import, sid, hash);
}

/* Return  0 or -ENOMEM: others with the same hash are not found any more, but are still written */
static int forget_hash(struct t2x_import *import, const struct entry *entry)
{
	struct entry *list = t2x_map_get(&import->by_hash, entry->hash);

	if (list == entry) {
		t2x_map_remove(&import->by_hash, entry->hash);
		return list->next_of_hash ? t2x_map_put(&import->by_hash, entry->hash, list->next_of_hash) : 0;
	}
	while (list && list->next_of_hash != entry)
		list = list->next_of_hash;
	if (list)
		list->next_of_hash = entry->next_of_hash;
	return 0;
}

/* Write a process to its end.  Return  0 or -ENOMEM */
static int complete(struct t2x_import *import, struct entry *entry)
{
	const size_t bytes = t2x_git_process_bytes(entry->process);
	int error = t2x_git_process_write(entry->process, 0), failed = forget_hash(import, entry);

	import->waiting -= bytes;
	*(entry->before ? &entry->before->behind : &import->first) = entry->behind;
	*(entry->behind ? &entry->behind->before : &import->last) = entry->before;
	t2x_git_process_free(entry->process);
	t2x_free(entry);
	return error ? error : failed;
}

static void empty_ended(struct t2x_import *import)
{
	import->ended = NULL;
	import->last_ended = &import->ended;
}

/* There is no memory for more lines: all that wait are written. */
static int write_waiting(struct t2x_import *import)
{
	int error = 0;

	empty_ended(import);
	for (struct entry *entry = import->first, *next; entry; entry = next) {
		int failed;
		next = entry->behind;
		if (entry->has_ended)
			failed = complete(import, entry);
		else
			failed = t2x_git_process_write(entry->process, 1);
		error = error ? error : failed;
	}
	import->waiting = 0;
	return error;
}

int t2x_import_flush(struct t2x_import *import, enum t2x_import_until until)
{
	struct entry *entry = until == T2X_IMPORT_ALL ? import->first : import->ended;
	int error = 0;

	for (struct entry *next; entry; entry = next) {
		int failed;
		next = until == T2X_IMPORT_ALL ? entry->behind : entry->next_ended;
		failed = complete(import, entry);
		error = error ? error : failed;
	}
	empty_ended(import);
	if (until != T2X_IMPORT_ENDED)
		t2x_raw_trace_flush(import->trace);
	return error;
}

void t2x_import_free(struct t2x_import *import)
{
	if (!import)
		return;
	if (import->trace)
		t2x_import_flush(import, T2X_IMPORT_ALL);
	t2x_raw_trace_free(import->trace);
	t2x_map_free(&import->by_hash);
	t2x_git_parser_free(import->parser);
	t2x_free(import);
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* The least detail that has this kind. */
static enum t2x_import_detail detail_of(unsigned style)
{
	switch (style) {
	case TLG_STYLE_child_start:
	case TLG_STYLE_child_exit:
	case TLG_STYLE_child_ready:
	case TLG_STYLE_exec:
	case TLG_STYLE_exec_result:
	case TLG_STYLE_def_repo:
		return T2X_IMPORT_PROCESS;
	case TLG_STYLE_region_enter:
	case TLG_STYLE_region_leave:
	case TLG_STYLE_data:
	case TLG_STYLE_data_json:
	case TLG_STYLE_printf:
	case TLG_STYLE_thread_start:
	case TLG_STYLE_thread_exit:
	case TLG_STYLE_th_timer:
	case TLG_STYLE_th_counter:
		return T2X_IMPORT_VERBOSE;
	default:
		return T2X_IMPORT_SUMMARY;
	}
}

static int add_line(struct t2x_import *import, const struct t2x_git_line *line)
{
	struct entry *entry;
	size_t before;
	int error;

	import->counts.others += line->others;
	if (detail_of(line->style) > import->detail) {
		import->counts.left_out++;
		return 0;
	}
	entry = find_process(import, &line->sid);
	if (!entry)
		return -ENOMEM;
	before = t2x_git_process_bytes(entry->process);
	error = t2x_git_process_add(entry->process, line);
	import->waiting += t2x_git_process_bytes(entry->process) - before;
	if (!entry->has_ended && t2x_git_process_has_ended(entry->process)) {
		entry->has_ended = 1;
		*import->last_ended = entry;
		import->last_ended = &entry->next_ended;
	}
	if (!error && import->waiting > T2X_IMPORT_BYTES)
		error = write_waiting(import);
	return error;
}

int t2x_import_line(struct t2x_import *import, const char *text, size_t n)
{
	struct t2x_git_line line;

	if (n && text[n - 1] == '\r')
		n--;
	if (!n)
		return 0;
	import->counts.lines++;
	switch (t2x_git_parse(import->parser, text, n, &line)) {
	case T2X_GIT_OK:
		return add_line(import, &line);
	case T2X_GIT_UNKNOWN:
		import->counts.unknown++;
		return 0;
	case T2X_GIT_BROKEN:
		import->counts.broken++;
		return 0;
	default:
		return -ENOMEM;
	}
}

/* ---- pieces of lines ---------------------------------------------------------------------------- */

/* Keep n bytes of a line whose end is still to come. */
static int keep(struct t2x_import_rest *rest, const char *bytes, size_t n)
{
	size_t max = rest->max ? rest->max : 4096;
	char *larger;

	if (rest->is_too_long || rest->n + n > T2X_IMPORT_LINE) {
		rest->is_too_long = 1;
		rest->n = 0;
		return 0;
	}
	while (max < rest->n + n)
		max *= 2;
	if (max > rest->max) {
		larger = t2x_realloc(rest->text, max);
		if (!larger)
			return -ENOMEM;
		rest->text = larger;
		rest->max = max;
	}
	memcpy(rest->text + rest->n, bytes, n);
	rest->n += n;
	return 0;
}

/* The kept line is complete. */
static int finish(struct t2x_import *import, struct t2x_import_rest *rest)
{
	size_t n = rest->n;

	rest->n = 0;
	if (rest->is_too_long) {
		rest->is_too_long = 0;
		import->counts.lines++;
		import->counts.broken++;
		import->counts.long_lines++;
		return 0;
	}
	return t2x_import_line(import, rest->text, n);
}

int t2x_import_bytes(struct t2x_import *import, struct t2x_import_rest *rest, const char *bytes, size_t n)
{
	const char *end = bytes + n, *newline;
	int error = 0;

	for (; !error && (newline = memchr(bytes, '\n', (size_t)(end - bytes))); bytes = newline + 1) {
		if (!rest->n && !rest->is_too_long) {
			error = t2x_import_line(import, bytes, (size_t)(newline - bytes));
			continue;
		}
		error = keep(rest, bytes, (size_t)(newline - bytes));
		if (!error)
			error = finish(import, rest);
	}
	return !error && bytes < end ? keep(rest, bytes, (size_t)(end - bytes)) : error;
}

int t2x_import_end(struct t2x_import *import, struct t2x_import_rest *rest)
{
	int error = rest->n || rest->is_too_long ? finish(import, rest) : 0;

	t2x_free(rest->text);
	*rest = (struct t2x_import_rest){ 0 };
	return error;
}
