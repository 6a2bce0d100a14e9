/* SPDX-License-Identifier: MIT */
/* t2x_import.c - see t2x_import.h. */
#include "t2x_import.h"

#include <errno.h>
#include <string.h>

#include "t2x_git_process.h"
#include "tlg_crc.h"
#include "base/t2x_map.h"
#include "base/t2x_memory.h"

/* A process, and the next one whose session id has the same hash. */
struct entry {
	struct entry *next;
	struct t2x_git_process *process;
};

struct t2x_import {
	struct t2x_raw_sink *sink;
	enum t2x_import_detail detail;
	struct t2x_git_parser *parser;
	struct t2x_import_counts counts;
	struct t2x_map processes;                 /* of entries, by the hash of the session id */
	size_t waiting;                           /* bytes of lines */
};

struct t2x_import *t2x_import_new(struct t2x_raw_sink *sink, enum t2x_import_detail detail)
{
	struct t2x_import *import = t2x_calloc(1, sizeof(*import));

	if (!import)
		return NULL;
	import->sink = sink;
	import->detail = detail;
	import->parser = t2x_git_parser_new();
	if (import->parser)
		return import;
	t2x_free(import);
	return NULL;
}

const struct t2x_import_counts *t2x_import_counts(const struct t2x_import *import)
{
	return &import->counts;
}

/* ---- processes ---------------------------------------------------------------------------------- */

/* Return  NULL: no memory */
static struct t2x_git_process *find_process(struct t2x_import *import, const struct t2x_git_text *sid)
{
	const uint32_t hash = tlg_crc32c(0, sid->at, sid->length);
	struct entry *first = t2x_map_get(&import->processes, hash), *entry;

	for (entry = first; entry; entry = entry->next)
		if (t2x_git_process_is(entry->process, sid))
			return entry->process;
	entry = t2x_calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->next = first;
	entry->process = t2x_git_process_new(import->sink, sid, import->counts.processes);
	if (!entry->process || t2x_map_put(&import->processes, hash, entry)) {
		if (entry->process)
			t2x_git_process_free(entry->process);
		t2x_free(entry);
		return NULL;
	}
	import->counts.processes++;
	return entry->process;
}

/* Whose lines are written.  Those that have ended are completed by each; by ALL every one. */
enum which { ENDED, EVERY, ALL };

/* Write the lines of a list of processes, and take those out of it that are complete.  Return  the new list */
static struct entry *write_list(struct t2x_import *import, struct entry *list, enum which which, int *error)
{
	struct entry **at = &list;

	while (*at) {
		struct entry *entry = *at;
		int has_ended = which == ALL || t2x_git_process_has_ended(entry->process);
		int failed = has_ended || which == EVERY ? t2x_git_process_write(entry->process) : 0;
		if (failed)
			*error = failed;
		import->waiting += t2x_git_process_bytes(entry->process);
		if (has_ended) {
			*at = entry->next;
			t2x_git_process_free(entry->process);
			t2x_free(entry);
		} else {
			at = &entry->next;
		}
	}
	return list;
}

/* The processes that are left get a map of their own: a map may move what it has when it changes. */
static int write_all(struct t2x_import *import, enum which which)
{
	struct t2x_map left = { 0 };
	int error = 0;

	import->waiting = 0;

	for (uint32_t i = 0; i < t2x_map_slots(&import->processes); i++) {
		struct entry *list = t2x_map_at(&import->processes, i);
		const uint32_t hash = import->processes.slots[i].key;
		if (!list)
			continue;
		list = write_list(import, list, which, &error);
		if (list && t2x_map_put(&left, hash, list)) {
			write_list(import, list, ALL, &error);
			error = -ENOMEM;
		}
	}
	t2x_map_free(&import->processes);
	import->processes = left;
	return error;
}

int t2x_import_flush(struct t2x_import *import, int is_last)
{
	return write_all(import, is_last ? ALL : ENDED);
}

void t2x_import_free(struct t2x_import *import)
{
	if (!import)
		return;
	write_all(import, ALL);
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
	struct t2x_git_process *process;
	size_t before;
	int error;

	import->counts.others += line->others;
	if (detail_of(line->style) > import->detail) {
		import->counts.left_out++;
		return 0;
	}
	process = find_process(import, &line->sid);
	if (!process)
		return -ENOMEM;
	before = t2x_git_process_bytes(process);
	error = t2x_git_process_add(process, line);
	import->waiting += t2x_git_process_bytes(process) - before;
	if (!error && import->waiting > T2X_IMPORT_BYTES)
		error = write_all(import, EVERY);
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
