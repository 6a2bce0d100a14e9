/* SPDX-License-Identifier: MIT */
/* fuzz.c - see fuzz.h. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expanding.h"
#include "tlg_crc.h"
#include "wellformed.h"
#include "base/t2x_escape.h"
#include "text/t2x_formats.h"

enum {
	KEPT = 4 << 20,               /* bytes of a text; the rest is not checked */
	MOST_BYTES = 1 << 20,         /* of a file; the rest is truncated */
};

/* The beginning of a text.  It ends between two writes, which usually are whole lines. */
struct text {
	char *at;
	size_t n;
	int is_full;
};

static char g_memory[2][KEPT];
static struct text g_plain = { .at = g_memory[0] }, g_shown = { .at = g_memory[1] };

void fuzz_fail(const char *what, const char *wrong, const char *text, size_t n)
{
	fprintf(stderr, "%s: %s\n", what, wrong);
	fwrite(text, 1, n < 4000 ? n : 4000, stderr);
	abort();
}

static void append(void *to, const char *text, size_t n)
{
	struct text *kept = to;

	if (n > KEPT - kept->n)
		kept->is_full = 1;
	if (kept->is_full)
		return;
	memcpy(kept->at + kept->n, text, n);
	kept->n += n;
}

static int write_plain(void *target, const char *text, size_t n)
{
	append(target, text, n);
	return 0;
}

static void check(const char *name, const char *what, const char *wrong, const struct text *text)
{
	char both[64];

	if (!wrong)
		return;
	snprintf(both, sizeof(both), "%s %s", name, what);
	fuzz_fail(both, wrong, text->at, text->n);
}

typedef const char *judge_fn(const char *text, size_t n);

static judge_fn *judge_of(const struct t2x_format *format)
{
	if (!(format->traits & T2X_TRAIT_JSON))
		return wellformed_lines;
	return format->traits & T2X_TRAIT_DOCUMENT ? wellformed_json_document : wellformed_json;
}

/* Check that the text for a terminal is harmless, and still well-formed. */
static void check_screen(const struct t2x_format *format)
{
	const char *name = format->name;
	int is_json = (format->traits & T2X_TRAIT_JSON) != 0;
	struct t2x_escape escape = { .put = append, .to = &g_shown, .is_json = is_json };

	g_shown.n = 0;
	g_shown.is_full = 0;
	for (size_t at = 0, part; at < g_plain.n; at += part) {
		part = g_plain.n - at < 4093 ? g_plain.n - at : 4093;
		t2x_escape_text(&escape, g_plain.at + at, part);
	}
	t2x_escape_end(&escape);
	check(name, "on a terminal", wellformed_screen(g_shown.at, g_shown.n), &g_shown);
	if (is_json && !g_shown.is_full && !g_plain.is_full)
		check(name, "on a terminal", judge_of(format)(g_shown.at, g_shown.n), &g_shown);
}

static void open_text(struct t2x_out *out)
{
	if (t2x_out_init_fn(out, write_plain, &g_plain))
		abort();
	g_plain.n = 0;
	g_plain.is_full = 0;
}

static void expand_text(fuzz_expand_fn *expand, void *source, const struct t2x_format *format)
{
	struct t2x_out out;

	open_text(&out);
	expand(source, format->writer, &out);
	t2x_out_free(&out);
	if (!g_plain.is_full)
		check(format->name, "text", judge_of(format)(g_plain.at, g_plain.n), &g_plain);
	check_screen(format);
}

static void check_listing(const char *name, struct t2x_out *out, int is_xml)
{
	t2x_out_flush(out);
	if (is_xml)
		check(name, "listing", wellformed_xml(g_plain.at, g_plain.n), &g_plain);
	check(name, "listing", wellformed_screen(g_plain.at, g_plain.n), &g_plain);
	g_plain.n = 0;
}

static void list_blocks(struct t2x_in *in, const struct t2x_layout *layout)
{
	/* StackTrack's PROCINFO has two attributes of one name, which XML forbids. */
	int is_xml = !layout || layout->version >= TLG_VERSION;
	struct t2x_out out;
	struct t2x_printer xml = { .out = &out }, raw = { .out = &out };
	struct t2x_blocks blocks;
	struct t2x_block block;

	open_text(&out);
	if (t2x_blocks_init(&blocks, in, layout) || t2x_writer_xml.begin(&xml) || t2x_writer_raw.begin(&raw))
		abort();
	while (t2x_blocks_next(&blocks, &block)) {
		if (t2x_writer_xml.block(&xml, &block))
			abort();
		check_listing("xml", &out, is_xml);
		if (t2x_writer_raw.block(&raw, &block))
			abort();
		t2x_out_flush(&out);
		g_plain.n = 0;
	}
	t2x_writer_xml.finish(&xml);
	t2x_writer_raw.finish(&raw);
	t2x_out_free(&out);
	t2x_blocks_free(&blocks);
}

/* Check the listing, and also the messages of the reader, which go to a terminal. */
static void expand_listing(const void *bytes, size_t n, const struct t2x_layout *layout)
{
	static char said[64 * 1024];
	struct text report_text = { .at = said };
	struct t2x_report report = { .to = fmemopen(said, sizeof(said), "w") };
	struct t2x_in in;

	if (!report.to || t2x_in_open(&in, expanding_store(bytes, n), t2x_blocks_seen(layout), &report))
		abort();
	list_blocks(&in, layout);
	t2x_in_close(&in);
	t2x_report_finish(&report);
	report_text.n = (size_t)ftell(report.to);
	fclose(report.to);
	check("report", "text", wellformed_screen(said, report_text.n), &report_text);
}

/* Return  1: wellformed.h can judge the format: it has lines, and is none of raw events, for which is list_blocks() */
static int is_text(const struct t2x_format *format)
{
	return !(format->traits & (T2X_TRAIT_RAW | T2X_TRAIT_BINARY));
}

void fuzz_texts(fuzz_expand_fn *expand, void *source, const void *bytes, size_t n)
{
	unsigned at = tlg_crc32c(0, bytes, n) % T2X_FORMATS;

	while (!is_text(&t2x_formats[at]))
		at = (at + 1) % T2X_FORMATS;
	expand_text(expand, source, &t2x_formats[at]);
}

/* A file in memory. */
struct file {
	const void *bytes;
	size_t n;
	const struct t2x_layout *layout;
};

static void expand_file(void *source, const struct t2x_writer *writer, struct t2x_out *out)
{
	const struct file *file = source;

	expanding_run(file->bytes, file->n, file->layout, writer, out);
}

void fuzz_expand(const void *bytes, size_t n, const struct t2x_layout *layout)
{
	static uint8_t sealed[MOST_BYTES];
	uint32_t hash = tlg_crc32c(0, bytes, n);
	const struct t2x_format *format = &t2x_formats[hash % T2X_FORMATS];
	struct file file = { sealed, n < MOST_BYTES ? n : MOST_BYTES, layout };

	if (file.n)
		memcpy(sealed, bytes, file.n);
	if (hash >> 8 & 7)
		fuzz_reseal(sealed, file.n, layout);
	if (is_text(format))
		expand_text(expand_file, &file, format);
	else
		expand_listing(sealed, file.n, layout);
}
