/* SPDX-License-Identifier: MIT */
/* test_t2x_scope.c - definitions of files, scopes and threads: t2x_stream and t2x_definitions. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "merge/t2x_stream.h"
#include "base/t2x_memory.h"

static struct record g_record;    /* takes what the model would be given */

static struct t2x_stream *make_stream(struct t2x_context *context)
{
	struct t2x_stream *stream;

	record_run(&g_record, NULL, 0, NULL);
	memset(context, 0, sizeof(*context));
	context->report = &g_record.report;
	stream = t2x_stream_new(context, "test", 77, 7, 1);
	assert_non_null(stream);
	return stream;
}

static void free_stream(struct t2x_stream *stream)
{
	struct t2x_context *context = stream->context;

	t2x_stream_free(stream);
	assert_int_equal(context->used_bytes, 0);
	record_free(&g_record);
}

static void define(struct t2x_stream *stream, uint32_t index, uint16_t filenum, int line, const char *names,
		   size_t n)
{
	const struct tlg_sourceloc place = {
		.scopeIndex = index, .linenum = line, .filenum = filenum, .style = 24, .repo = 3, .names = 7
	};

	t2x_scope_define(&stream->scopes, &place, names, n);
}

static void test_scope_names_are_split(void **state)
{
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);
	const struct t2x_scope *scope;

	(void)state;
	t2x_scope_define_file(&stream->scopes, 2, "dir/file.c\0\0\0\0\0\0", 16);
	define(stream, 5, 2, 42, "cat\0label\0%s\0\0\0\0", 16);
	scope = t2x_scope_get(&stream->scopes, 5);
	assert_non_null(scope);
	assert_string_equal(scope->file, "dir/file.c");
	assert_string_equal(scope->category, "cat");
	assert_string_equal(scope->label, "label");
	assert_string_equal(scope->format, "%s");
	assert_int_equal(scope->line, 42);
	assert_int_equal(scope->repo, 3);
	assert_int_equal(scope->style, 24);
	free_stream(stream);
}

static void test_scope_names_that_end_early_are_empty(void **state)
{
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);
	const struct t2x_scope *scope;

	(void)state;
	define(stream, 5, 0, 42, "0123456789abcdef", 16);
	scope = t2x_scope_get(&stream->scopes, 5);
	assert_non_null(scope);
	assert_null(scope->file);
	assert_string_equal(scope->category, "0123456789abcdef");
	assert_string_equal(scope->label, "");
	assert_string_equal(scope->format, "");
	free_stream(stream);
}

static void test_scope_posted_again_keeps_its_address(void **state)
{
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);
	struct t2x_scope *scope;
	const char *file;
	uint64_t number;

	(void)state;
	t2x_scope_define_file(&stream->scopes, 2, "f.c", 3);
	define(stream, 5, 2, 42, "a\0b\0c", 6);
	scope = t2x_scope_get(&stream->scopes, 5);
	file = scope->file;
	number = scope->number;
	assert_true(number > 0);
	t2x_scope_define_file(&stream->scopes, 2, "f.c\0\0", 5);
	define(stream, 5, 2, 42, "a\0b\0c\0\0\0", 8);
	assert_ptr_equal(t2x_scope_get(&stream->scopes, 5), scope);
	assert_ptr_equal(scope->file, file);
	assert_true(scope->number == number);
	assert_int_equal(context.changed, 0);
	free_stream(stream);
}

static void test_scope_changed_is_counted_and_newest_wins(void **state)
{
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);
	const struct t2x_scope *old;

	(void)state;
	t2x_scope_define_file(&stream->scopes, 2, "f.c", 3);
	define(stream, 5, 2, 42, "a\0b\0c", 6);
	old = t2x_scope_get(&stream->scopes, 5);
	define(stream, 5, 2, 43, "a\0b\0c", 6);
	assert_int_equal(t2x_scope_get(&stream->scopes, 5)->line, 43);
	assert_int_equal(context.changed, 1);
	t2x_scope_define_file(&stream->scopes, 2, "other.c", 7);
	assert_int_equal(context.changed, 2);
	/* those who have the old ones can still read them */
	assert_int_equal(old->line, 42);
	assert_string_equal(old->file, "f.c");
	assert_true(t2x_scope_get(&stream->scopes, 5)->number != old->number);
	free_stream(stream);
}

static void test_scope_without_its_file_stays_unknown(void **state)
{
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);

	(void)state;
	define(stream, 5, 2, 42, "a\0b\0c", 6);
	assert_null(t2x_scope_get(&stream->scopes, 5));
	free_stream(stream);
}

static void test_scope_definitions_are_bounded(void **state)
{
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);
	char *name = calloc(1, 10000);

	(void)state;
	assert_non_null(name);
	memset(name, 'a', 9999);
	for (unsigned i = 1; i < 5000; i++)
		define(stream, i, 0, 1, name, 10000);
	assert_true(context.used_bytes <= T2X_CONTEXT_BYTES);
	assert_true(context.ignored > 1000);
	assert_non_null(t2x_scope_get(&stream->scopes, 1));
	assert_null(t2x_scope_get(&stream->scopes, 4999));
	free(name);
	free_stream(stream);
}

static void test_scope_thread_names_are_cut_and_padding_is_not_theirs(void **state)
{
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);
	const struct tlg_thread thread = { .tid = 4, .start = 7 };
	struct t2x_cursor *cursor;

	(void)state;
	cursor = t2x_stream_cursor(stream, 4);
	assert_string_equal(cursor->thread->name, "?");
	t2x_stream_define_thread(stream, &thread, "th04:w\0\0", 8);
	assert_string_equal(cursor->thread->name, "th04:w");
	t2x_stream_define_thread(stream, &thread, "th04:a-name-that-is-too-long-for-it", 35);
	assert_int_equal(strlen(cursor->thread->name), sizeof(cursor->thread->name) - 1);
	free_stream(stream);
}

static void test_scope_thread_number_changes_with_what_is_printed(void **state)
{
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);
	const struct tlg_thread thread = { .tid = 4 };
	const struct tlg_event procinfo[] = {
		{ .flags = TLG_PROCINFO | TLG_HAS_INFO, .u.procinfo.pid = 7 },
		{ .flags = TLG_INFO | TLG_INFO_END, .u.info.text.c = "parent/child" },
	};
	uint64_t number;

	(void)state;
	t2x_stream_define_thread(stream, &thread, "th04:w", 6);
	number = t2x_stream_cursor(stream, 4)->thread->number;
	t2x_stream_define_thread(stream, &thread, "th04:w\0\0", 8);
	assert_true(t2x_stream_cursor(stream, 4)->thread->number == number);
	t2x_stream_define_thread(stream, &thread, "th04:wo", 7);
	assert_true(t2x_stream_cursor(stream, 4)->thread->number != number);
	number = t2x_stream_cursor(stream, 4)->thread->number;
	t2x_stream_define_thread(stream, &thread, "th04:w", 6);
	assert_true(t2x_stream_cursor(stream, 4)->thread->number != number);
	number = t2x_stream_cursor(stream, 4)->thread->number;
	t2x_stream_read(stream, procinfo, 2);
	assert_int_equal(stream->facts.depth, 1);
	assert_true(t2x_stream_cursor(stream, 4)->thread->number != number);
	free_stream(stream);
}

static void test_scope_interleaved_definitions_find_their_texts(void **state)
{
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);
	struct tlg_event events[] = {
		{ .flags = TLG_FLOC | TLG_HAS_INFO, .sequence = 1, .u.fileloc.filenum = 1 },
		{ .flags = TLG_FLOC | TLG_HAS_INFO, .sequence = 2, .u.fileloc.filenum = 2 },
		{ .flags = TLG_INFO | TLG_INFO_END, .sequence = 2, .u.info.text.c = "second" },
		{ .flags = TLG_INFO, .sequence = 1, .u.info.text.c = "aaaaaaaaaaaaaaa" },
		{ .flags = TLG_INFO | TLG_INFO_END, .sequence = 1, .u.info.text.c = "first" },
	};

	(void)state;
	events[3].u.info.text.c[15] = 'b';
	t2x_stream_define(stream, events, 3);
	t2x_stream_define(stream, events + 3, 2);
	assert_string_equal(((struct t2x_file_box *)t2x_map_get(&stream->scopes.files, 1))->name,
			    "aaaaaaaaaaaaaaabfirst");
	assert_string_equal(((struct t2x_file_box *)t2x_map_get(&stream->scopes.files, 2))->name, "second");
	assert_null(stream->unfinished.newest);
	/* definitions without an end do not pile up */
	for (uint32_t i = 0; i < 100; i++) {
		events[0].sequence = 10 + i;
		t2x_stream_define(stream, events, 1);
	}
	assert_true(stream->unfinished.count < 10);
	free_stream(stream);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static size_t g_bytes, g_pieces;

static void *resize_plainly(void *memory, size_t bytes)
{
	if (bytes)
		return realloc(memory, bytes);
	free(memory);
	return NULL;
}

static void *count_zeroed(size_t bytes)
{
	g_bytes += bytes;
	g_pieces++;
	return calloc(1, bytes);
}

static void *count_aligned(size_t alignment, size_t bytes)
{
	void *memory = aligned_alloc(alignment, bytes);

	g_bytes += bytes;
	g_pieces++;
	return memory ? memset(memory, 0, bytes) : NULL;
}

/* large: each 16th has a text of several KiB */
static void define_many(struct t2x_stream *stream, uint32_t n, int large)
{
	char names[5000];

	for (uint32_t i = 1; i <= n; i++) {
		const int is_large = large && i % 16 == 0;

		memset(names, 'x', sizeof(names));
		snprintf(names, 24, "name %u", i);
		names[strlen(names)] = is_large ? 'y' : '\0';
		define(stream, i, 0, (int)i, names, is_large ? sizeof(names) : 24);
	}
}

static void check_many(struct t2x_stream *stream, uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++) {
		const struct t2x_scope *scope = t2x_scope_get(&stream->scopes, i);
		char name[24];

		assert_non_null(scope);
		assert_int_equal((uintptr_t)scope % T2X_CACHE_LINE, 0);
		snprintf(name, sizeof(name), "name %u", i);
		assert_memory_equal(scope->category, name, strlen(name));
		assert_int_equal(scope->line, (int)i);
	}
}

static void test_scope_many_scopes_take_few_pieces_of_memory(void **state)
{
	const struct t2x_memory counting = { resize_plainly, count_zeroed, count_aligned };
	const uint32_t n = 8192;

	(void)state;
	t2x_memory_use(&counting);
	for (int large = 0; large < 2; large++) {
		struct t2x_context context;
		struct t2x_stream *stream = make_stream(&context);

		g_bytes = g_pieces = 0;
		define_many(stream, n, large);
		assert_true(g_pieces < n / (large ? 12 : 80));
		assert_true(g_bytes < context.used_bytes);
		check_many(stream, n);
		free_stream(stream);
	}
}

/* What the back end has of a thread beside it, and what malloc() takes for each piece of memory. */
enum { OF_BACK_END = T2X_CACHE_LINE + 128, PIECES = 3, OF_PIECE = 8 };

static void test_scope_threads_are_bounded(void **state)
{
	const struct t2x_memory counting = { resize_plainly, count_zeroed, count_aligned };
	struct t2x_context context;
	struct t2x_stream *stream = make_stream(&context);
	struct t2x_cursor *first = t2x_stream_cursor(stream, 0);
	size_t bytes;
	unsigned n;

	(void)state;
	t2x_memory_use(&counting);
	g_bytes = 0;
	for (uint32_t i = 1; i < T2X_MAX_THREADS + 10; i++)
		t2x_stream_cursor(stream, i);
	n = stream->threads.count;
	assert_in_range(n, 45000, T2X_MAX_THREADS);
	/* the map's former tables, as large as the last one together, are gone */
	bytes = g_bytes - t2x_map_slots(&stream->threads) * sizeof(struct t2x_slot);
	assert_in_range(bytes + (size_t)n * (OF_BACK_END + PIECES * OF_PIECE), 0, T2X_CONTEXT_BYTES);
	assert_int_equal(context.ignored, T2X_MAX_THREADS + 10 - n);
	assert_ptr_equal(t2x_stream_cursor(stream, 0), first);
	assert_null(t2x_stream_cursor(stream, T2X_MAX_THREADS + 5));
	free_stream(stream);
	assert_int_equal(g_record.forgotten_threads, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scope_names_are_split),
		cmocka_unit_test(test_scope_names_that_end_early_are_empty),
		cmocka_unit_test(test_scope_posted_again_keeps_its_address),
		cmocka_unit_test(test_scope_changed_is_counted_and_newest_wins),
		cmocka_unit_test(test_scope_without_its_file_stays_unknown),
		cmocka_unit_test(test_scope_definitions_are_bounded),
		cmocka_unit_test(test_scope_threads_are_bounded),
		cmocka_unit_test(test_scope_thread_names_are_cut_and_padding_is_not_theirs),
		cmocka_unit_test(test_scope_thread_number_changes_with_what_is_printed),
		cmocka_unit_test(test_scope_interleaved_definitions_find_their_texts),
		cmocka_unit_test(test_scope_many_scopes_take_few_pieces_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
