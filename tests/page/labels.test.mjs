// SPDX-License-Identifier: MIT
/** What is left of names that do not fit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cutLabel, frontWith, sharedFronts } from "../../expand/page/src/labels.mjs";

/** With letters that are one wide. */
const cut = (text, front, room) => cutLabel(text, front, room, ({ length }) => length);
const fronts = (...names) => {
	const shared = sharedFronts(names);
	return names.map((name) => name.slice(0, shared.get(name) ?? 0));
};

test("test_labels_name_that_fits_is_whole", () => {
	assert.equal(cut("ZSTD_compress", 4, 13), "ZSTD_compress");
	assert.equal(cut("read", 0, 4), "read");
});

test("test_labels_shared_front_is_left_out_first", () => {
	assert.equal(cut("ZSTD_compress", 4, 12), "ZS…_compress");
	assert.equal(cut("ZSTD_compress", 4, 11), "…_compress");
	assert.equal(cut("ZSTD_compress", 4, 10), "…_compress");
	assert.equal(cut("ZSTD_compress", 4, 9), "…compress");
	assert.equal(cut("ZSTD_compress", 4, 7), "…compr…");
	assert.equal(cut("ZSTD_compress", 4, 4), "…co…");
});

test("test_labels_where_nothing_own_fits_the_beginning_is_shown", () => {
	assert.equal(cut("ZSTD_compress", 4, 3), "ZS…");
	assert.equal(cut("ZSTD_compress", 4, 1), "");
	assert.equal(cut("ZSTD_compress", 4, -3), "");
});

test("test_labels_name_that_shares_nothing_keeps_its_beginning", () => {
	assert.equal(cut("inflate_block", 0, 8), "inflate…");
	assert.equal(cut("inflate_block", 0, 2), "i…");
});

test("test_labels_message_behind_the_name_goes_last", () => {
	assert.equal(cut("pack_read file.c", 4, 13), "…_read file.c");
	assert.equal(cut("pack_read file.c", 4, 10), "…read fil…");
});

test("test_labels_of_a_path_the_last_part_is_shown", () => {
	assert.equal(frontWith("directory", "/usr/include/net", 0), "directory /usr/include".length);
	assert.equal(frontWith("directory", "/usr/include/net/", 0), "directory /usr/include".length);
	assert.equal(cut("directory /usr/include/net", 22, 12), "directo…/net");
	assert.equal(cut("directory /usr/include/net", 22, 5), "…/net");
	for (const message of ["", "no path", "a/b of c/d", "/"])
		assert.equal(frontWith("pack_read", message, 4), 4);
});

test("test_labels_addresses_keep_their_digits", () => {
	assert.deepEqual(fronts("zstd+0x29a40", "zstd+0x29b80"), ["zstd", "zstd"]);
	assert.equal(cut("zstd+0x29a40", 4, 9), "…+0x29a40");
	assert.equal(cut("zstd+0x29a40", 4, 6), "…29a40");
});

test("test_labels_very_long_text_is_not_measured", () => {
	const measured = [];
	cutLabel("x".repeat(1e6), 0, 10, (text) => measured.push(text.length) && text.length);
	assert.ok(Math.max(...measured) <= 300);
});

test("test_labels_fronts_end_with_a_word", () => {
	assert.deepEqual(fronts("ZSTD_compress", "ZSTD_decompress"), ["ZSTD", "ZSTD"]);
	assert.deepEqual(fronts("readFile", "readFiles", "readLine"), ["read", "read", "read"]);
	assert.deepEqual(fronts("std::list::push", "std::list::pop"), ["std::list", "std::list"]);
	assert.deepEqual(fronts("lib/a/one", "lib/a/two"), ["lib/a", "lib/a"]);
	assert.deepEqual(fronts("compress", "compare"), ["", ""]);
});

test("test_labels_name_that_others_begin_with_keeps_its_last_word", () => {
	assert.deepEqual(fronts("ZSTD_compress", "ZSTD_compress_block"), ["ZSTD", "ZSTD_compress"]);
	assert.deepEqual(fronts("read", "read_all"), ["", "read"]);
});

test("test_labels_parameters_and_suffixes_of_compilers_distinguish_nothing", () => {
	assert.deepEqual(fronts("main(int)", "main(void)"), ["", ""]);
	assert.deepEqual(fronts("hash_find", "hash_find.part.0"), ["hash", "hash"]);
	assert.deepEqual(fronts("alone_here", "db"), ["", ""]);
});

test("test_labels_same_name_twice_shares_nothing", () => {
	assert.deepEqual(fronts("pack_read", "pack_read"), ["", ""]);
});
