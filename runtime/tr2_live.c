/* SPDX-License-Identifier: MIT */
/* tr2_live.c - from blocks to text, in the traced program. */
#include "tr2_live.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "t2x_memory.h"
#include "t2x_merge.h"
#include "t2x_model.h"
#include "tr2_env.h"
#include "tr2_heap.h"
#include "tr2_memory.h"

enum { NORMAL, PERF, EVENT, TARGETS };   /* in git's order */

static const struct kind {
	const char *target;               /* the setting's name */
	const struct t2x_writer *writer;
} kinds[TARGETS] = {
	[NORMAL] = { "", &t2x_writer_normal },
	[PERF] = { "PERF", &t2x_writer_perf },
	[EVENT] = { "EVENT", &t2x_writer_event },
};

TR2_LARGE static struct live {
	int is_on;
	int is_pipe;
	struct tr2_dst dst;
	struct t2x_options options;
	struct t2x_out out;
	struct t2x_report report;
	struct t2x_context context;
	struct t2x_model *model;
	struct t2x_merge *merge;
} g_live[TARGETS];

TR2_LARGE static struct live g_left_behind[TARGETS] __attribute__((used));   /* the parent's, for leak checkers */
static int g_on;

/* ---- output ------------------------------------------------------------------------------------- */

static int is_pipe(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISFIFO(st.st_mode);
}

/*
 * What is written in one go of n bytes of whole lines: a line as a datagram, as git's readers expect it; into a pipe
 * as many lines as stay together when others write into it, too; everything into anything else.
 */
static size_t find_part(const struct live *live, const char *text, size_t n)
{
	const char *end = NULL;

	if (live->is_pipe && n > PIPE_BUF)
		end = memrchr(text, '\n', PIPE_BUF);
	if (live->dst.kind == TR2_DST_DGRAM || (live->is_pipe && n > PIPE_BUF && !end))
		end = memchr(text, '\n', n);
	return end ? (size_t)(end - text) + 1 : n;
}

static int write_text(void *target, const char *text, size_t n)
{
	struct live *live = target;
	int error = 0;

	while (n && !error) {
		size_t part = find_part(live, text, n);
		error = -tr2_dst_write(&live->dst, text, part, NULL);
		text += part;
		n -= part;
	}
	return error;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static void free_target(struct live *live)
{
	t2x_merge_free(live->merge);
	t2x_model_free(live->model);
	t2x_out_free(&live->out);
	tr2_dst_close(&live->dst);
	memset(live, 0, sizeof(*live));
}

static int start_target(struct live *live, const struct kind *kind)
{
	live->is_pipe = is_pipe(live->dst.fd);
	if (t2x_out_init_fn(&live->out, write_text, live))
		return -ENOMEM;
	live->model = t2x_model_new(kind->writer, &live->out, &live->options);
	live->context = (struct t2x_context){ .model = live->model, .report = &live->report };
	live->merge = live->model ? t2x_merge_new(&live->context) : NULL;
	return live->merge ? t2x_merge_add(live->merge, NULL, "", NULL) : -ENOMEM;
}

/* With destination and options set.  Return  1 if it is on */
static int switch_on(struct live *live, const struct kind *kind)
{
	live->is_on = !start_target(live, kind);
	if (!live->is_on)
		free_target(live);
	return live->is_on;
}

static int open_target(int target, const char *name, const struct tr2_dst_rules *rules)
{
	const struct kind *kind = &kinds[target];
	struct live *live = &g_live[target];
	char variable[64];

	if (tr2_dst_is_off(tr2_env_get(kind->target)))
		return 0;   /* live stays untouched: three pages */
	if (tr2_dst_open(&live->dst, tr2_env_name(kind->target, variable), tr2_env_get(kind->target), name,
			 rules))
		return 0;
	live->options.brief = tr2_g_settings.brief[target];
	live->options.nesting = tr2_g_settings.event_nesting;
	return switch_on(live, kind);
}

int tr2_live_open(const char *name, const struct tr2_dst_rules *rules)
{
	static const struct t2x_memory memory = { tr2_heap_resize, tr2_heap_zeroed, tr2_heap_aligned };

	t2x_memory_use(&memory);
	g_on = 0;
	for (int i = 0; i < TARGETS; i++)
		g_on += open_target(i, name, rules);
	return g_on;
}

int tr2_live_is_on(void)
{
	return g_on;
}

int tr2_live_is_sentinel(void)
{
	return g_on && g_live[EVENT].is_on ? g_live[EVENT].dst.is_sentinel : -1;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static void push(struct live *live, const struct t2x_block *block)
{
	/* git's rule: after a failed write the target stays off */
	if (live->is_on && (t2x_merge_push(live->merge, block) || live->out.error))
		live->is_on = 0;
}

void tr2_live_write(const struct tlg_event *blocks, size_t bytes, uint32_t stream)
{
	const struct tlg_event *end = blocks + bytes / sizeof(*blocks);

	for (; g_on && blocks < end; blocks += blocks->u.block.size + 1u) {
		const struct t2x_block block = {
			.is_framed = 1, .counts_events = 1, .stream = stream, .number = blocks->sequence,
			.tid = blocks->u.block.tid, .pid = blocks->pid,
			.events = blocks + 1, .count = blocks->u.block.count,
		};
		for (int i = 0; i < TARGETS; i++)
			push(&g_live[i], &block);
	}
	for (int i = 0; g_on && i < TARGETS; i++)
		if (g_live[i].is_on && t2x_out_flush(&g_live[i].out))
			g_live[i].is_on = 0;
}

void tr2_live_close(void)
{
	for (int i = 0; g_on && i < TARGETS; i++) {
		if (!g_live[i].merge)
			continue;
		t2x_merge_run(g_live[i].merge);
		if (g_live[i].is_on)
			t2x_out_flush(&g_live[i].out);
		free_target(&g_live[i]);
	}
	g_on = 0;
}

int tr2_live_lacks_files(void)
{
	int lacks = 0;

	for (int i = 0; g_on && i < TARGETS; i++)
		lacks |= g_live[i].is_on && tr2_dst_lacks_file(&g_live[i].dst);
	return lacks;
}

void tr2_live_open_again(void)
{
	for (int i = 0; g_on && i < TARGETS; i++)
		if (g_live[i].is_on)
			tr2_dst_open_again(&g_live[i].dst);
}

/* What the targets hold stays allocated, and in sight: the memory may be in any state. */
static void leave_behind(void)
{
	if (!g_on)
		return;
	memcpy(g_left_behind, g_live, sizeof(g_left_behind));
	memset(g_live, 0, sizeof(g_live));
	g_on = 0;
}

int tr2_live_inherit(void)
{
	int had = g_on;

	leave_behind();
	tr2_heap_reset();
	for (int i = 0; had && i < TARGETS; i++) {
		g_live[i].dst = g_left_behind[i].dst;
		g_live[i].options = g_left_behind[i].options;
		if (!g_left_behind[i].is_on || tr2_dst_inherit(&g_live[i].dst))
			free_target(&g_live[i]);
		else
			g_on += switch_on(&g_live[i], &kinds[i]);
	}
	return g_on;
}

void tr2_live_reset(void)
{
	int had = g_on;

	leave_behind();
	for (int i = 0; had && i < TARGETS; i++)
		tr2_dst_close(&g_left_behind[i].dst);
}
