/* SPDX-License-Identifier: MIT */
/*
 * grow - writes a trace with N of one thing, so that check_growth.sh can measure what twice as many cost a reader.
 *
 * usage: grow WHAT N FILE         without arguments: list the things
 *        grow programs N DIRECTORY   for check_start.sh: files of small programs that ran one after the other
 *
 * Checksums are right, and nothing is damaged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tlgmake.h"

enum { TICK_NS = 10000000, BLOCK_FULL = 3000, ENTER = 1, LEAVE, ENTER_INNER, LEAVE_INNER, UNKNOWN, FIRST_OWN };

static struct tlgmake make;
static uint64_t now_ns = 1000;
static FILE *out;

static void flush(void)
{
	if (fwrite(make.bytes, 1, make.n, out) != make.n)
		exit(1);
	make.n = 0;
}

/* Open a block of this thread, unless the open one is and has space for a few more events. */
static void open_block(uint32_t tid)
{
	if (make.count && make.tid == tid && make.count < BLOCK_FULL)
		return;
	if (make.count)
		tlgmake_seal(&make);
	flush();
	tlgmake_begin(&make, tid);
}

static void close_block(void)
{
	if (make.count)
		tlgmake_seal(&make);
	make.count = 0;
}

static void begin_stream(uint32_t i)
{
	static char sid[64];

	close_block();
	snprintf(sid, sizeof(sid), "20260101T000000.%06uZ-Hcafe-P%08x", i % 1000000, i);
	make.stream = 0x10000 + i;
	make.pid = i & 0xffff;
	make.sid = sid;
	make.number = make.cycle = 0;
	make.hits = 0;
	make.cycle_ns = now_ns++;
	memset(make.next, 0, sizeof(make.next));
	tlgmake_cycle(&make);
}

static void begin_thread(uint32_t tid)
{
	close_block();
	make.next[tid % TLGMAKE_THREADS] = 0;   /* this is a new thread */
	open_block(tid);
	tlgmake_thread(&make, "thread", now_ns);
}

static void define(uint32_t scope, unsigned style, const char *label)
{
	tlgmake_scope(&make, scope, style, 0, label);
}

static void begin_regions(void)
{
	begin_thread(0);
	define(ENTER, TLG_STYLE_region_enter, "region");
	define(LEAVE, TLG_STYLE_region_leave, "region");
	define(ENTER_INNER, TLG_STYLE_region_enter, "inner");
	define(LEAVE_INNER, TLG_STYLE_region_leave, "inner");
}

static void hit(uint32_t scope)
{
	open_block(0);
	tlgmake_hit(&make, now_ns++, scope);
}

/* ---- what there is ------------------------------------------------------------------------------ */

/* Processes that have not ended. */
static void make_processes(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		begin_stream(i);
		begin_regions();
		hit(ENTER);
	}
}

static void make_threads(uint32_t n)
{
	begin_stream(1);
	for (uint32_t i = 0; i < n; i++) {
		begin_thread(i);
		if (!i)
			define(ENTER, TLG_STYLE_region_enter, "region");
		tlgmake_hit(&make, now_ns++, ENTER);
	}
}

/* N regions around as many others; nothing is known of the checkpoints in these. */
static void make_depth(uint32_t n)
{
	begin_stream(1);
	begin_regions();
	for (uint32_t i = 0; i < n; i++)
		hit(ENTER);
	for (uint32_t i = 0; i < n; i++) {
		hit(ENTER_INNER);
		hit(UNKNOWN);
		hit(LEAVE_INNER);
	}
}

/* The same, but with everything known. */
static void make_nested(uint32_t n)
{
	begin_stream(1);
	begin_regions();
	for (uint32_t i = 0; i < n; i++)
		hit(ENTER);
	for (uint32_t i = 0; i < n; i++) {
		hit(ENTER);
		hit(LEAVE);
	}
}

/* Deep in a recursion, regions that share a bit with the outermost: see t2x_totals_regions.h. */
static void make_colliding(uint32_t n)
{
	enum { ROWS = 32, INNER = FIRST_OWN + 2 * (ROWS - 1), DEEP = INNER - 2 };
	char label[32];

	begin_stream(1);
	begin_thread(0);
	open_block(0);
	for (uint32_t i = 0; i < ROWS; i++) {
		snprintf(label, sizeof(label), "name %u", i);
		define(FIRST_OWN + 2 * i, TLG_STYLE_region_enter, label);
		define(FIRST_OWN + 2 * i + 1, TLG_STYLE_region_leave, label);
		tlgmake_hit(&make, now_ns++, FIRST_OWN + 2 * i);
		if (i)
			tlgmake_hit(&make, now_ns++, FIRST_OWN + 2 * i + 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		open_block(0);
		tlgmake_hit(&make, now_ns++, DEEP);
	}
	for (uint32_t i = 0; i < n; i++) {
		open_block(0);
		tlgmake_hit(&make, now_ns++, INNER);
		tlgmake_hit(&make, now_ns++, INNER + 1);
	}
}

static void make_names(uint32_t n)
{
	char label[32];

	begin_stream(1);
	begin_thread(0);
	for (uint32_t i = 0; i < n; i++) {
		open_block(0);
		snprintf(label, sizeof(label), "name %u", i);
		define(FIRST_OWN + 2 * i, TLG_STYLE_region_enter, label);
		tlgmake_hit(&make, now_ns++, FIRST_OWN + 2 * i);
		define(FIRST_OWN + 2 * i + 1, TLG_STYLE_region_leave, label);
		tlgmake_hit(&make, now_ns++, FIRST_OWN + 2 * i + 1);
	}
}

/* Samples, each with another stack. */
static void make_samples(uint32_t n)
{
	char text[64];

	begin_stream(1);
	begin_thread(0);
	for (uint32_t i = 0; i < n; i++) {
		int bytes = snprintf(text, sizeof(text), "cpu%c%x %x 1000", '\0', 0x1000 + i, 0x9000 + i / 7);

		open_block(0);
		define(FIRST_OWN + i, TLG_STYLE_sample, "");
		make.block[make.count - 1].u.sourceloc.names = TLG_NAME_CATEGORY | TLG_NAME_FORMAT;
		make.count--;
		make.block[make.count].flags &= (uint16_t)~TLG_INFO_END;
		tlgmake_text(&make, make.next[0] + 1, text, (size_t)bytes + 1);
		tlgmake_hit_with(&make, now_ns++, FIRST_OWN + i, "iii", (int64_t)1, (int64_t)TICK_NS, (int64_t)TICK_NS);
	}
}

/* Gaps.  Behind each gap the open regions are not known. */
static void make_losses(uint32_t n)
{
	begin_stream(1);
	begin_regions();
	for (uint32_t i = 0; i < n; i++) {
		hit(ENTER);
		if (i % 3)
			hit(LEAVE);
		tlgmake_lose(&make, 0, 3);
	}
}

/* N files; FILE is a directory. */
static void make_files(uint32_t n, const char *directory)
{
	char path[4096];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%u.tlg", directory, i);
		out = fopen(path, "w");
		if (!out)
			exit(1);
		begin_stream(i);
		begin_regions();
		hit(ENTER);
		hit(LEAVE);
		close_block();
		tlgmake_mark(&make, now_ns);
		tlgmake_end(&make);
		flush();
		if (fclose(out))
			exit(1);
	}
}

/* The file of a small program: ten regions with data in each, packed, in LZ4 frames. */
static void make_program(uint32_t i)
{
	enum { DATA = FIRST_OWN };

	make.is_packed = 1;
	make.start_ns = now_ns;
	begin_stream(i);
	tlgmake_begin(&make, 0);
	tlgmake_thread(&make, "main", now_ns);
	define(ENTER, TLG_STYLE_region_enter, "region");
	define(LEAVE, TLG_STYLE_region_leave, "region");
	define(DATA, TLG_STYLE_data_intmax, "key");
	for (int k = 0; k < 10; k++) {
		tlgmake_hit(&make, now_ns += 100, ENTER);
		tlgmake_hit_with(&make, now_ns += 100, DATA, "i", (int64_t)k);
		tlgmake_hit(&make, now_ns += 100, LEAVE);
	}
	close_block();
	tlgmake_mark(&make, now_ns);
	tlgmake_end(&make);
	now_ns += TICK_NS;
}

static void make_programs(uint32_t n, const char *directory)
{
	char path[4096];

	for (uint32_t i = 0; i < n; i++) {
		unsigned char *frames;
		size_t bytes;

		make_program(i);
		frames = tlgmake_lz4(&make, TLG_FRAME_BYTES, &bytes);
		snprintf(path, sizeof(path), "%s/%05u.tlg", directory, i);
		out = fopen(path, "w");
		if (!out || fwrite(frames, 1, bytes, out) != bytes || fclose(out))
			exit(1);
		free(frames);
		make.n = 0;
	}
}

static const struct what {
	const char *name;
	void (*make)(uint32_t n);
} whats[] = {
	{ "processes", make_processes }, { "threads", make_threads }, { "depth", make_depth },
	{ "nested", make_nested }, { "colliding", make_colliding }, { "names", make_names },
	{ "samples", make_samples }, { "losses", make_losses },
};

int main(int argc, char **argv)
{
	uint32_t n = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;

	tlgmake_init(&make, 1, 1);
	if (n && !strcmp(argv[1], "files")) {
		make_files(n, argv[3]);
		return 0;
	}
	if (n && !strcmp(argv[1], "programs")) {
		make_programs(n, argv[3]);
		return 0;
	}
	out = n ? fopen(argv[3], "w") : stdout;
	if (!out)
		return 1;
	for (unsigned i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		if (!n)
			puts(whats[i].name);
		else if (!strcmp(argv[1], whats[i].name))
			whats[i].make(n);
	}
	if (!n)
		return puts("files") < 0;
	close_block();
	flush();
	return fclose(out) != 0;
}
