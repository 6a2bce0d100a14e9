/* SPDX-License-Identifier: MIT */
/* fuzz.c - see fuzz.h. */
#include "fuzz.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expanding.h"
#include "t2x_escape.h"
#include "t2x_raw.h"
#include "t2x_xml.h"
#include "tlg_block.h"
#include "tlg_crc.h"
#include "wellformed.h"

enum { KEPT = 4 << 20 };      /* of a text; what comes behind is not looked at */

/* A text, as far as it is kept.  It is cut between two writes, which as a rule are whole lines. */
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

/* The text as it would go to a terminal is harmless, and still what it was. */
static void check_screen(const char *name, int is_json)
{
	struct t2x_escape escape = { .put = append, .to = &g_shown, .is_json = is_json };

	g_shown.n = 0;
	g_shown.is_full = 0;
	for (size_t at = 0, part; at < g_plain.n; at += part) {
		part = g_plain.n - at < 4093 ? g_plain.n - at : 4093;
		t2x_escape_text(&escape, g_plain.at + at, part);
	}
	t2x_escape_end(&escape);
	check(name, "on a terminal", wellformed_screen(g_shown.at, g_shown.n), &g_shown);
	if (is_json && !g_shown.is_full)
		check(name, "on a terminal", wellformed_json(g_shown.at, g_shown.n), &g_shown);
}

static struct t2x_out *open_text(void)
{
	static struct t2x_out out;

	if (!out.buf) {
		/* windows come and go: keep their memory */
		mallopt(M_MMAP_THRESHOLD, 64 << 20);
		mallopt(M_TRIM_THRESHOLD, 256 << 20);
		if (t2x_out_init_fn(&out, write_plain, &g_plain))
			abort();
	}
	g_plain.n = 0;
	g_plain.is_full = 0;
	return &out;
}

static void expand_text(fuzz_expand_fn *expand, void *source, const struct t2x_writer *writer)
{
	int is_json = writer == &t2x_writer_event;

	expand(source, writer, open_text());
	if (!g_plain.is_full)
		check(writer->name, "text",
		      (is_json ? wellformed_json : wellformed_lines)(g_plain.at, g_plain.n), &g_plain);
	check_screen(writer->name, is_json);
}

static void expand_listing(const void *bytes, size_t n, const struct t2x_layout *layout)
{
	struct t2x_report report = { .to = NULL };
	struct t2x_xml xml = { .out = open_text() };
	struct t2x_raw raw = { .out = xml.out };
	struct t2x_blocks blocks;
	struct t2x_block block;
	struct t2x_in in;
	int is_double = layout && layout->version < TLG_VERSION;

	if (t2x_in_open(&in, expanding_store(bytes, n), t2x_blocks_seen(layout), &report) ||
	    t2x_blocks_init(&blocks, &in, layout))
		abort();
	while (t2x_blocks_next(&blocks, &block)) {
		t2x_xml_block(&xml, &block);
		t2x_out_flush(xml.out);
		/* StackTrack's PROCINFO has two attributes of one name */
		if (!is_double)
			check("xml", "listing", wellformed_xml(g_plain.at, g_plain.n), &g_plain);
		check("xml", "listing", wellformed_screen(g_plain.at, g_plain.n), &g_plain);
		g_plain.n = 0;
		if (t2x_raw_block(&raw, &block))
			abort();
		t2x_out_flush(raw.out);
		g_plain.n = 0;
	}
	t2x_xml_free(&xml);
	t2x_raw_free(&raw);
	t2x_blocks_free(&blocks);
	t2x_in_close(&in);
}

/* Whether format i of count is one of those wanted. */
static int is_wanted(unsigned i, unsigned count, const void *bytes, size_t n, enum fuzz_formats formats)
{
	return formats == FUZZ_ALL_FORMATS || tlg_crc32c(0, bytes, n) % count == i;
}

static const struct t2x_writer *const writers[] = {
	&t2x_writer_normal, &t2x_writer_perf, &t2x_writer_event, &t2x_writer_tree
};
enum { WRITERS = sizeof(writers) / sizeof(writers[0]) };

void fuzz_texts(fuzz_expand_fn *expand, void *source, const void *bytes, size_t n, enum fuzz_formats formats)
{
	for (unsigned i = 0; i < WRITERS; i++)
		if (is_wanted(i, WRITERS, bytes, n, formats))
			expand_text(expand, source, writers[i]);
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

void fuzz_expand(const void *bytes, size_t n, const struct t2x_layout *layout, enum fuzz_formats formats)
{
	struct file file = { bytes, n, layout };

	for (unsigned i = 0; i < WRITERS; i++)
		if (is_wanted(i, WRITERS + 1, bytes, n, formats))
			expand_text(expand_file, &file, writers[i]);
	if (is_wanted(WRITERS, WRITERS + 1, bytes, n, formats))
		expand_listing(bytes, n, layout);
}

/* The stream of the last CYCLE among the block's entries, if there is one. */
static void follow_stream(const uint8_t *entries, unsigned count, uint32_t *stream)
{
	for (unsigned i = 0; i < count; i++) {
		struct tlg_event event;

		memcpy(&event, entries + i * sizeof(event), sizeof(event));
		if (tlg_event_type(&event) == TLG_CYCLE)
			*stream = event.u.cycle.stream;
	}
}

void fuzz_reseal(uint8_t *bytes, size_t n)
{
	uint32_t stream = 0;
	size_t at = 0;

	while (n - at >= TLG_EVENT_SIZE) {
		struct tlg_event head;
		size_t size;

		memcpy(&head, bytes + at, sizeof(head));
		size = (head.u.block.size + 1u) * sizeof(head);
		if (tlg_event_type(&head) != TLG_BLOCK || head.u.block.magic != TLG_BLOCK_MAGIC || size > n - at) {
			at += TLG_EVENT_SIZE;
			continue;
		}
		if (head.u.block.tid == TLG_NO_THREAD)
			follow_stream(bytes + at + sizeof(head), head.u.block.size, &stream);
		head.u.block.crc = tlg_block_crc(bytes + at, size, TLG_BLOCK_CRC_AT, stream);
		memcpy(bytes + at, &head, sizeof(head));
		at += size;
	}
}
