/* SPDX-License-Identifier: MIT */
/*
 * hostile - writes to standard output a trace that makes a reader without limits use all memory.
 *
 * usage: hostile WHAT MEBIBYTES         about so much of it; without arguments: list the kinds
 *
 * The checksums are right, so nothing of it is damage: the reader needs limits of its own.
 */
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tlgmake.h"

enum { LONG_TEXT = 900, BLOCK_FULL = 3000, FLUSH_BYTES = 1 << 20 };

static struct tlgmake make;
static uint64_t written, wanted;
static uint64_t now_ns = 1000;
static char text[65536];

static void put(const void *bytes, size_t n)
{
	if (fwrite(bytes, 1, n, stdout) != n)
		exit(0);
	written += n;
}

static void flush(void)
{
	put(make.bytes, make.n);
	make.n = 0;
}

static int is_enough(void)
{
	if (make.n > FLUSH_BYTES)
		flush();
	return written >= wanted;
}

/* A further process; the one before has not ended. */
static void next_stream(uint32_t i)
{
	make.stream = 0x10000 + i;
	make.pid = i & 0xffff;
	make.number = make.cycle = 0;
	memset(make.next, 0, sizeof(make.next));
	tlgmake_cycle(&make);
}

static void next_block(uint32_t tid)
{
	tlgmake_seal(&make);
	tlgmake_begin(&make, tid);
}

static uint32_t number(void)
{
	return make.next[make.tid % TLGMAKE_THREADS] + 1;
}

/* Control characters, the texts that become longest when they are printed. */
static void fill_text(unsigned salt, size_t n)
{
	memset(text, 1, sizeof(text));
	snprintf(text, 16, "%u", salt);
	text[strlen(text)] = 1;
	text[n] = '\0';
}

/* ---- what there is ------------------------------------------------------------------------------ */

/* One checkpoint whose chain never ends. */
static void begin_endless(void)
{
	next_block(0);
	tlgmake_hit(&make, now_ns, 1);
	make.block[make.count].flags |= TLG_HAS_INFO;
}

static struct tlg_event *add_endless(enum tlg_type type)
{
	if (make.count == TLG_BLOCK_LIMIT)
		next_block(0);
	return tlgmake_add(&make, type, 1);
}

/* One checkpoint whose text never ends. */
static void make_endless(void)
{
	begin_endless();
	while (!is_enough())
		memset(add_endless(TLG_INFO)->u.info.text.c, 'x', TLG_TEXT_SIZE);
}

/* One checkpoint whose arguments never end, in many chains. */
static void make_arguments(void)
{
	begin_endless();
	while (!is_enough())
		add_endless(TLG_VALUE)->u.value = (struct tlg_value){ 1 << 30, TLG_ARG_TEXT, 0 };
}

/* Chains that are begun in every thread, and not ended. */
static void make_chains(void)
{
	fill_text(0, 2000);
	for (uint32_t i = 0; !is_enough(); i++) {
		next_block(i % 65536);
		tlgmake_hit(&make, now_ns, 1);
		make.block[make.count].flags |= TLG_HAS_INFO;
		for (unsigned k = 0; k < 64; k++)
			memcpy(tlgmake_add(&make, TLG_INFO, number() - 1)->u.info.text.c, text, TLG_TEXT_SIZE);
	}
}

/* Scopes without end, each used once, with names that become six times as long as JSON. */
static void make_scopes(void)
{
	for (uint32_t i = 1; !is_enough(); i++) {
		if (make.count > BLOCK_FULL || i == 1)
			next_block(0);
		fill_text(i, 600);
		tlgmake_scope(&make, i, TLG_STYLE_region_enter, 0, text);
		tlgmake_hit(&make, now_ns++, i);
		if (i % 4096 == 0) {
			tlgmake_seal(&make);
			tlgmake_mark(&make, now_ns);
			next_block(0);
		}
	}
}

/* Short scopes. */
static void make_short_scopes(void)
{
	for (uint32_t i = 1; !is_enough(); i++) {
		if (make.count > BLOCK_FULL || i == 1)
			next_block(0);
		tlgmake_scope(&make, i, TLG_STYLE_region_enter, 0, "x");
		tlgmake_hit(&make, now_ns++, i);
	}
}

/* Scopes whose numbers collide in a hash table. */
static void make_collisions(void)
{
	for (uint32_t i = 0, k = 1; !is_enough(); k += 0xe8b2f51) {
		/* times 0x9e3779b1 this grows by 1 */
		if (make.count > BLOCK_FULL || !i)
			next_block(0);
		if (i++ < 150000)
			tlgmake_scope(&make, k, TLG_STYLE_region_enter, 0, "x");
		tlgmake_hit(&make, now_ns++, k);
	}
}

/* One scope, defined differently each time. */
static void make_changes(void)
{
	for (uint32_t i = 1; !is_enough(); i++) {
		if (make.count > BLOCK_FULL || i == 1)
			next_block(0);
		fill_text(i, LONG_TEXT);
		tlgmake_file(&make, 1, text);
		tlgmake_scope(&make, 1, TLG_STYLE_region_enter, 1, text);
		tlgmake_hit(&make, now_ns++, 1);
	}
}

/* Checkpoints that bring their scopes along. */
static void make_passing(void)
{
	for (uint32_t i = 1; !is_enough(); i++) {
		if (make.count > BLOCK_FULL || i == 1)
			next_block(0);
		fill_text(i, LONG_TEXT);
		tlgmake_hit_with(&make, now_ns++, 0, "iiissssS", (int64_t)TLG_STYLE_data, (int64_t)1, (int64_t)0, text,
				 text, text, NULL, "v");
	}
}

/* Threads, each with a name, open regions, one event. */
static void make_threads(void)
{
	for (uint32_t i = 0; !is_enough(); i++) {
		next_block(i % 100000);
		tlgmake_thread(&make, "thread with a name", 0);
		for (unsigned k = 0; k < 20; k++)
			tlgmake_open_region(&make, 1, 1);
		tlgmake_hit(&make, now_ns++, 1);
	}
}

/* Processes that begin and never end; in each some threads and scopes. */
static void make_streams(void)
{
	for (uint32_t i = 0; !is_enough(); i++) {
		next_stream(i);
		for (uint32_t tid = 0; tid < 4; tid++) {
			next_block(tid);
			tlgmake_thread(&make, "thread", 0);
			tlgmake_scope(&make, 1, TLG_STYLE_region_enter, 0, "label");
			tlgmake_hit(&make, now_ns++, 1);
		}
		tlgmake_seal(&make);
	}
}

/* Processes with many threads each, as many as are followed. */
static void make_queues(void)
{
	for (uint32_t i = 0; i < 4000; i++)
		next_stream(i);
	for (uint32_t tid = 0; !is_enough(); tid++) {
		for (uint32_t i = 0; i < 4000; i++) {
			make.stream = 0x10000 + i;
			make.pid = i;
			make.number = 100 + tid;
			tlgmake_begin(&make, tid);
			tlgmake_hit(&make, now_ns, 1);
			tlgmake_seal(&make);
		}
	}
}

/* Processes that lose events in many threads. */
static void make_losses(void)
{
	for (uint32_t i = 0; !is_enough(); i++) {
		next_stream(i);
		tlgmake_begin(&make, TLG_NO_THREAD);
		for (uint32_t tid = 0; tid < TLG_BLOCK_LIMIT; tid++)
			tlgmake_add(&make, TLG_LOSS, 0)->u.loss = (struct tlg_loss){ 1, tid, 1, 0 };
		tlgmake_seal(&make);
	}
}

/* Regions that are entered and never left. */
static void make_regions(void)
{
	for (uint32_t i = 0; !is_enough(); i++) {
		next_block(i % 1000);
		for (unsigned k = 0; k < BLOCK_FULL; k++)
			tlgmake_hit(&make, now_ns++, 1);
	}
}

/* Cycles, each with the whole context again. */
static void make_cycles(void)
{
	static char sid[400];

	memset(sid, 's', sizeof(sid) - 1);
	make.sid = sid;
	for (uint32_t i = 0; !is_enough(); i++) {
		tlgmake_cycle(&make);
		next_block(i % 8);
		fill_text(i % 50, LONG_TEXT);
		for (uint32_t k = 1; k < 30; k++) {
			tlgmake_scope(&make, k, TLG_STYLE_region_enter, 0, text);
			tlgmake_hit(&make, now_ns++, k);
		}
		tlgmake_seal(&make);
	}
}

/* Children of one process, and their words. */
static void make_children(void)
{
	fill_text(0, LONG_TEXT);
	for (uint32_t i = 0; !is_enough(); i++) {
		if (make.count > BLOCK_FULL || !i)
			next_block(0);
		if (!i)
			tlgmake_scope(&make, 1, TLG_STYLE_child_start, 0, "x");
		tlgmake_hit_with(&make, now_ns++, 1, "iissss", (int64_t)i, (int64_t)0, "c", NULL, NULL, text);
	}
}

/* Time that goes backwards in all threads except one, so that waiting events are never released. */
static void make_waiting(void)
{
	for (uint32_t i = 0; !is_enough(); i++) {
		next_block(i % 5000);
		for (unsigned k = 0; k < 10; k++)
			tlgmake_hit(&make, UINT64_C(1000000000000) - now_ns++, 1);
	}
}

static const struct what {
	const char *name;
	void (*make)(void);
} whats[] = {
	{ "endless", make_endless }, { "arguments", make_arguments }, { "chains", make_chains },
	{ "scopes", make_scopes }, { "short-scopes", make_short_scopes }, { "collisions", make_collisions },
	{ "changes", make_changes }, { "passing", make_passing }, { "threads", make_threads },
	{ "streams", make_streams }, { "queues", make_queues }, { "losses", make_losses }, { "regions", make_regions },
	{ "cycles", make_cycles }, { "children", make_children }, { "waiting", make_waiting },
};

/* An LZ4 frame of zeros, which become 255 times as many; and the same around the rest of the input. */
static void put_bomb(void)
{
	static char zeros[1 << 20];
	static char to[1 << 21];
	LZ4F_cctx *context;
	uint64_t plain = 0;

	if (LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION)))
		abort();
	put(to, LZ4F_compressBegin(context, to, sizeof(to), NULL));
	for (; plain < wanted; plain += sizeof(zeros))
		put(to, LZ4F_compressUpdate(context, to, sizeof(to), zeros, sizeof(zeros), NULL));
	put(to, LZ4F_compressEnd(context, to, sizeof(to), NULL));
	LZ4F_freeCompressionContext(context);
}

int main(int argc, char **argv)
{
	wanted = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) << 20;
	if (argc > 1 && !strcmp(argv[1], "bomb")) {
		put_bomb();
		return fflush(stdout) != 0;
	}
	tlgmake_init(&make, 0xabcdef, 1);
	tlgmake_cycle(&make);
	for (unsigned i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		if (argc < 2)
			puts(whats[i].name);
		else if (!strcmp(argv[1], whats[i].name))
			whats[i].make();
	}
	if (argc < 2)
		return puts("bomb") < 0;
	tlgmake_seal(&make);
	flush();
	return fflush(stdout) != 0;
}
