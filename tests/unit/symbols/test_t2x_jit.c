/* SPDX-License-Identifier: MIT */
/* Names of code made at run time, as compilers write them, and as a file from nowhere may have them. */
#include "t2test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/t2x_jit_files.h"

static struct t2x_jit g_jit;

static const char *find(uint64_t address)
{
	const char *name = t2x_jit_find(&g_jit, address);

	return name ? name : "";
}

static void add_text(const char *text)
{
	t2x_jit_add_map(&g_jit, text, strlen(text));
}

static int forget(void **state)
{
	(void)state;
	t2x_jit_free(&g_jit);
	return 0;
}

static void test_jit_finds_code_from_its_start_to_its_end(void **state)
{
	(void)state;
	add_text("1000 20 LazyCompile:*fib file.js:1\n0x2000 0x10 two\n7f00deadbeef 1 high\n");
	assert_string_equal(find(0xfff), "");
	assert_string_equal(find(0x1000), "LazyCompile:*fib file.js:1");
	assert_string_equal(find(0x101f), "LazyCompile:*fib file.js:1");
	assert_string_equal(find(0x1020), "");
	assert_string_equal(find(0x2008), "two");
	assert_string_equal(find(0x7f00deadbeef), "high");
	assert_string_equal(find(UINT64_MAX), "");
}

static void test_jit_that_is_made_anew_has_the_later_name(void **state)
{
	(void)state;
	add_text("1000 100 old\n1040 10 new\n3000 10 first\n");
	assert_string_equal(find(0x1045), "new");
	assert_string_equal(find(0x1050), "old");
	assert_string_equal(find(0x3000), "first");
	add_text("2ff0 20 second\n");
	assert_string_equal(find(0x3000), "second");
}

static void test_jit_leaves_out_lines_that_are_none(void **state)
{
	(void)state;
	add_text("\n1000\n1000 \n1000 10\n1000 10 \n1000 0 nothing\nx 10 x\n11111111111111111 1 long\n"
		 "ffffffffffffffff 10 over\n-1 1 minus\n5000 10 a\tb\n6000 10 cut off");
	assert_int_equal(g_jit.n, 1);
	assert_string_equal(find(0x5000), "a b");
	t2x_jit_add_map(&g_jit, "", 0);
	t2x_jit_add_map(&g_jit, "7000 1 a\0b\n", 11);
	assert_string_equal(find(0x7000), "a b");
}

static void test_jit_with_entries_at_one_place_is_searched_in_bounded_time(void **state)
{
	enum { ENTRIES = 100000, ASKED = 20000 };
	char line[64];

	(void)state;
	for (unsigned i = 0; i < ENTRIES; i++) {
		snprintf(line, sizeof(line), "%x %x n%u\n", 1 + i, ENTRIES, i);
		add_text(line);
	}
	for (unsigned i = 0; i < ASKED; i++)
		assert_string_not_equal(find(ENTRIES / 2 + i), "");
}

/* ---- dumps -------------------------------------------------------------------------------------- */

static unsigned char g_dump[4096];
static size_t g_n;

static void put(const void *bytes, size_t n)
{
	memcpy(g_dump + g_n, bytes, n);
	g_n += n;
}

static void put_u32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put_u64(uint64_t value)
{
	put(&value, sizeof(value));
}

static void begin_dump(void)
{
	g_n = 0;
	put_u32(0x4a695444), put_u32(1), put_u32(40), put_u32(62), put_u32(0), put_u32(12), put_u64(1), put_u64(0);
}

static void put_load(uint64_t at, uint64_t size, uint64_t index, const char *name)
{
	put_u32(0), put_u32((uint32_t)(56 + strlen(name) + 1 + size)), put_u64(1);
	put_u32(12), put_u32(12), put_u64(at), put_u64(at), put_u64(size), put_u64(index);
	put(name, strlen(name) + 1);
	memset(g_dump + g_n, 0xcc, (size_t)size);
	g_n += (size_t)size;
}

static void put_move(uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	put_u32(1), put_u32(64), put_u64(1);
	put_u32(12), put_u32(12), put_u64(to), put_u64(from), put_u64(to), put_u64(size), put_u64(index);
}

static void test_jit_dump_has_names_where_code_is_and_was_moved_to(void **state)
{
	(void)state;
	begin_dump();
	put_load(0x1000, 16, 7, "made");
	put_u32(2), put_u32(24), put_u64(1), put_u64(0);      /* lines, which are not read */
	put_load(0x2000, 8, 8, "other");
	put_move(0x1000, 0x3000, 16, 7);
	t2x_jit_add_dump(&g_jit, g_dump, g_n);
	assert_string_equal(find(0x100f), "made");
	assert_string_equal(find(0x2007), "other");
	assert_string_equal(find(0x300f), "made");
	assert_string_equal(find(0x3010), "");
}

static void test_jit_dump_that_is_cut_or_wrong_ends_there(void **state)
{
	size_t whole;

	(void)state;
	begin_dump();
	put_load(0x1000, 16, 7, "made");
	put_load(0x2000, 16, 8, "more");
	put_move(0x1000, 0x3000, 16, 99);
	whole = g_n;
	for (size_t n = 0; n <= whole; n++) {                 /* of its own memory: a sanitizer sees its end */
		unsigned char *copy = malloc(n + 1);
		assert_non_null(copy);
		copy = memcpy(copy, g_dump, n);
		copy = realloc(copy, n ? n : 1);
		t2x_jit_add_dump(&g_jit, copy, n);
		free(copy);
		assert_int_equal(g_jit.n, n < 40 + 77 ? 0 : n < 40 + 2 * 77 ? 1 : 2);
		t2x_jit_free(&g_jit);
	}
	memset(g_dump + 44, 0, 4);                            /* a record of no length */
	t2x_jit_add_dump(&g_jit, g_dump, whole);
	assert_int_equal(g_jit.n, 0);
	memset(g_dump + 44, 0xff, 4);
	t2x_jit_add_dump(&g_jit, g_dump, whole);
	assert_int_equal(g_jit.n, 0);
}

/* ---- where they are ----------------------------------------------------------------------------- */

static char g_path[64];

static const char *path_of(const void *traces, unsigned i)
{
	(void)traces;
	return i ? NULL : g_path;
}

static int make_trace(const char *text, size_t n)
{
	int fd;

	strcpy(g_path, "/tmp/test_t2x_jit.XXXXXX");
	fd = mkstemp(g_path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a trace", 7), 7);
	assert_int_equal(t2x_jit_files_append(fd, text, n), 0);
	return fd;
}

static void test_jit_files_are_found_at_the_end_of_a_trace_by_process(void **state)
{
	static const char text[] = "jit 7\njit 12\n1000 10 of twelve\njit 123\n1000 10 of the other\n"
				   "jit x\n3000 1 of nobody\njit 12\n2000 10 more\n";
	const struct t2x_symbols_places places = { .binaries = "/nowhere", .trace = path_of };
	struct t2x_jit_index index = { .n = 0 };
	unsigned char byte;
	int fd;

	(void)state;
	fd = make_trace(text, strlen(text));
	t2x_jit_files_find(&g_jit, &index, &places, 12);
	assert_int_equal(g_jit.n, 2);
	assert_string_equal(find(0x1000), "of twelve");
	assert_string_equal(find(0x2000), "more");
	t2x_jit_free(&g_jit);
	t2x_jit_files_find(&g_jit, &index, &places, 123);
	assert_string_equal(find(0x1000), "of the other");
	t2x_jit_free(&g_jit);
	t2x_jit_files_find(&g_jit, &index, &places, 1);
	assert_int_equal(g_jit.n, 0);
	/* what is damaged is not believed */
	assert_int_equal(pread(fd, &byte, 1, 30), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, 30), 1);
	t2x_jit_index_free(&index);
	t2x_jit_files_find(&g_jit, &index, &places, 12);
	assert_int_equal(g_jit.n, 0);
	t2x_jit_index_free(&index);
	close(fd);
	unlink(g_path);
}

static void test_jit_files_have_names_of_kernels_by_their_start(void **state)
{
	static const char text[] = "kernel 0123456789abcdef0123456789abcdef\nffffffff81000000 1 old_[k]\n"
				   "kernel 0123\nffffffff81000000 1 short_[k]\njit 12\nffffffff81000000 1 of twelve\n"
				   "kernel ffff456789abcdef0123456789abcdef\nffffffff81000000 1 other_[k]\n"
				   "kernel 0123456789abcdef0123456789abcdef\nffffffff82000000 1 more_[k]\n";
	const struct t2x_symbols_places places = { .binaries = "/nowhere", .trace = path_of };
	struct t2x_jit_index index = { .n = 0 };

	(void)state;
	close(make_trace(text, strlen(text)));
	t2x_jit_files_find_kernel(&g_jit, &index, &places, "0123456789abcdef0123456789abcdef");
	assert_int_equal(g_jit.n, 2);
	assert_string_equal(find(0xffffffff81000000), "old_[k]");
	assert_string_equal(find(0xffffffff82000000), "more_[k]");
	t2x_jit_free(&g_jit);
	t2x_jit_files_find_kernel(&g_jit, &index, &places, "0123");
	assert_int_equal(g_jit.n, 0);
	t2x_jit_files_find_kernel(&g_jit, &index, &places, "");
	assert_int_equal(g_jit.n, 0);
	t2x_jit_files_find(&g_jit, &index, &places, 12);
	assert_int_equal(g_jit.n, 1);
	assert_string_equal(find(0xffffffff81000000), "of twelve");
	t2x_jit_index_free(&index);
	unlink(g_path);
}

static void test_jit_files_are_modules_of_processes(void **state)
{
	static const char *const none[] = {
		"", "[jit:]", "[jit:0]", "[jit:12", "[jit:12]x", "[jit:4294967296]", "/[jit:1]"
	};
	uint32_t pid = 0;

	(void)state;
	assert_true(t2x_jit_files_parse("[jit:4294967295]", &pid));
	assert_int_equal(pid, UINT32_MAX);
	for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(t2x_jit_files_parse(none[i], &pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_jit_finds_code_from_its_start_to_its_end, forget),
		cmocka_unit_test_teardown(test_jit_that_is_made_anew_has_the_later_name, forget),
		cmocka_unit_test_teardown(test_jit_leaves_out_lines_that_are_none, forget),
		cmocka_unit_test_teardown(test_jit_with_entries_at_one_place_is_searched_in_bounded_time, forget),
		cmocka_unit_test_teardown(test_jit_dump_has_names_where_code_is_and_was_moved_to, forget),
		cmocka_unit_test_teardown(test_jit_dump_that_is_cut_or_wrong_ends_there, forget),
		cmocka_unit_test_teardown(test_jit_files_are_found_at_the_end_of_a_trace_by_process, forget),
		cmocka_unit_test_teardown(test_jit_files_have_names_of_kernels_by_their_start, forget),
		cmocka_unit_test_teardown(test_jit_files_are_modules_of_processes, forget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
