/* SPDX-License-Identifier: MIT */
/*
 * Functions by .gopclntab: this program has one, made by hand.  It says that this program's own code is of two
 * functions in Go, main.first and main.(*T).second; where they begin is a relocation, as in a program that may lie
 * anywhere.
 */
#include "t2test.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ownmodule.h"
#include "symbols/t2x_go.h"

enum { FIRST_BYTES = 16, ALL_BYTES = 64 };

static int setup(void **state);

struct record {
	uint32_t entry, name, args, deferreturn, stack, file, line, npcdata, unit, start_line, flags;
};

static struct {
	uint32_t magic;
	uint8_t zeros[2], quantum, word;
	uintptr_t nfunctions, nfiles;
	int (*text)(void **state);
	uintptr_t names, units, files, steps, functions;
	struct {
		char names[40];
		uint32_t units[3];
		char files[32];
		uint8_t steps[32];
		uint32_t list[5];
		struct record records[2];
	} parts;
} table __attribute__((section(".gopclntab"), used)) = {
	.magic = 0xfffffff0, .quantum = 1, .word = sizeof(uintptr_t), .nfunctions = 2, .nfiles = 2, .text = setup,
#define AT(part) offsetof(__typeof__(table), parts.part)
	.names = AT(names), .units = AT(units), .files = AT(files), .steps = AT(steps), .functions = AT(list),
	.parts = {
		.names = "\0main.first\0main.(*T).second",
		.units = { UINT32_MAX, 0, 8 },
		.files = "/src/a.go\0",
		/*
		 * at 1: file 0 everywhere; at 4: line 7, and 5 behind 8 bytes; at 9: file 1; at 12: line 41, and
		 * 42 behind 8 bytes
		 */
		.steps = { 0, 2, 64, 0, 16, 8, 3, 8, 0, 4, 64, 0, 84, 8, 2, 40, 0 },
		.list = { 0, AT(records[0]) - AT(list), FIRST_BYTES, AT(records[1]) - AT(list), ALL_BYTES },
		.records = {
			{ .entry = 0, .name = 1, .file = 1, .line = 4, .unit = 1 },
			{ .entry = FIRST_BYTES, .name = 12, .file = 9, .line = 12, .unit = 0 },
		},
	},
#undef AT
};

static struct t2x_module module;          /* this program */
static const struct t2x_libdw *libdw;

static int setup(void **state)
{
	(void)state;
	libdw = t2x_libdw_load(0);
	return !own_module((uintptr_t)setup, &module);
}

static struct t2x_image *open_image(const char *file, Dwarf_Addr *begin)
{
	const struct t2x_symbols_places places = { .binaries = NULL };
	struct t2x_module other = module;
	struct t2x_image *image;

	other.file = file;
	image = t2x_image_open(libdw, &places, &other);
	assert_non_null(image);
	assert_true(t2x_image_address(image, &other, (uintptr_t)setup, begin));
	return image;
}

static void assert_is(struct t2x_image *image, Dwarf_Addr address, const char *name, const char *file, int line)
{
	struct t2x_go_function function;

	assert_true(t2x_go_find(image, address, &function));
	assert_string_equal(function.name, name);
	assert_string_equal(function.file ? function.file : "", file);
	assert_int_equal(function.line, line);
}

static void test_go_addresses_have_functions_files_and_lines(void **state)
{
	struct t2x_go_function function;
	struct t2x_image *image;
	Dwarf_Addr begin;

	(void)state;
	if (!libdw)
		skip();   /* not there for the other machines of harness_arch */
	image = open_image(module.file, &begin);
	assert_is(image, begin, "main.first", "/src/a.go", 7);
	assert_is(image, begin + 7, "main.first", "/src/a.go", 7);
	assert_is(image, begin + 8, "main.first", "/src/a.go", 5);
	assert_is(image, begin + FIRST_BYTES, "main.(*T).second", "/src/a.go", 41);
	assert_is(image, begin + FIRST_BYTES + 8, "main.(*T).second", "/src/a.go", 42);
	assert_is(image, begin + ALL_BYTES - 1, "main.(*T).second", "/src/a.go", 42);
	assert_false(t2x_go_find(image, begin + ALL_BYTES, &function));
	assert_false(t2x_go_find(image, begin - 1, &function));
	t2x_image_free(image);
}

/* A copy of this program, with its table somewhere in it.  Return  where that is */
static long copy_program(int fd, char **bytes)
{
	struct stat st;
	int from = open(module.file, O_RDONLY | O_CLOEXEC);

	assert_true(from >= 0 && !fstat(from, &st));
	*bytes = malloc((size_t)st.st_size);
	assert_non_null(*bytes);
	assert_int_equal(read(from, *bytes, (size_t)st.st_size), st.st_size);
	assert_int_equal(pwrite(fd, *bytes, (size_t)st.st_size, 0), st.st_size);
	close(from);
	for (long at = 0; at + (long)sizeof(table) <= st.st_size; at++)
		if (!memcmp(*bytes + at, &table, offsetof(__typeof__(table), text)) &&
		    !memcmp(*bytes + at + offsetof(__typeof__(table), parts), &table.parts, sizeof(table.parts)))
			return at;
	return -1;
}

/* Whatever a byte of it is: what is found, if anything is, is a text in the file. */
static void test_go_table_that_is_wrong_is_read_within_its_bounds(void **state)
{
	static const unsigned char others[] = { 0, 1, 0x7f, 0xff };
	char copy[] = "/tmp/test_t2x_go-XXXXXX", *bytes;
	int fd = mkstemp(copy);
	long at;

	(void)state;
	if (!libdw)
		skip();
	assert_true(fd >= 0);
	at = copy_program(fd, &bytes);
	assert_true(at > 0);
	for (size_t i = 0; i < 4 * sizeof(table); i++) {
		size_t of = i / 4;
		struct t2x_go_function function;
		struct t2x_image *image;
		Dwarf_Addr begin;

		assert_int_equal(pwrite(fd, &others[i % 4], 1, at + (long)of), 1);
		image = open_image(copy, &begin);
		for (Dwarf_Addr k = 0; k < ALL_BYTES; k += 7)
			if (t2x_go_find(image, begin + k, &function))
				assert_true(strlen(function.name) + strlen(function.file ? function.file : "") <
					    sizeof(table));
		t2x_image_free(image);
		assert_int_equal(pwrite(fd, bytes + at + of, 1, at + (long)of), 1);
	}
	unlink(copy);
	close(fd);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_addresses_have_functions_files_and_lines),
		cmocka_unit_test(test_go_table_that_is_wrong_is_read_within_its_bounds),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
