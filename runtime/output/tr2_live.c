/* SPDX-License-Identifier: MIT */
/* tr2_live.c - from blocks to text, in the traced program. */
#include "tr2_live.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/t2x_memory.h"
#include "base/tr2_atomic.h"
#include "base/tr2_heap.h"
#include "base/tr2_memory.h"
#include "base/tr2_sys.h"
#include "merge/t2x_merge.h"
#include "model/t2x_model.h"
#include "settings/tr2_env.h"

enum { NORMAL, PERF, EVENT, TARGETS };   /* in git's order */

static const struct kind {
	const char *name;
	const char *target;               /* the setting's name */
	const struct t2x_writer *writer;
} kinds[TARGETS] = {
	[NORMAL] = { "normal", "", &t2x_writer_normal },
	[PERF] = { "perf", "PERF", &t2x_writer_perf },
	[EVENT] = { "event", "EVENT", &t2x_writer_event },
};

TR2_LARGE static struct live {
	int is_on;
	int is_pipe;
	struct tr2_dst dst;
	char *rest;                       /* of a line that has begun to go out, of tr2_heap_resize(); NULL: none */
	size_t rest_at, rest_end;         /* what is left of it */
	uint64_t dropped;                 /* lines that could not be written */
	uint64_t reported;                /* of these, the model knows; and the stream that said so */
	uint32_t reported_in;
	struct t2x_options options;
	struct t2x_out out;
	struct t2x_report report;
	struct t2x_context context;
	struct t2x_model *model;
	struct t2x_merge *merge;
} g_live[TARGETS];

TR2_LARGE static struct live g_left_behind[TARGETS] __attribute__((used));   /* the parent's, for leak checkers */
static int g_is_muted[TARGETS];        /* its text is thrown away; a forked child has inherited it */
static int g_on;                       /* how many are; asked for without the drain's lock, too */

static int count_on(void)
{
	return tr2_load_rlx(&g_on); /* relaxed: a number by itself */
}

static void set_on(int on)
{
	tr2_store_rlx(&g_on, on); /* relaxed: as above */
}

/* ---- output ------------------------------------------------------------------------------------- */

static int is_pipe(int fd)
{
	struct stat st;

	return !tr2_sys_fstat(fd, &st) && S_ISFIFO(st.st_mode);
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

static uint64_t count_lines(const char *text, size_t n)
{
	const char *end = text + n;
	uint64_t lines = 0;

	for (; text < end && (text = memchr(text, '\n', (size_t)(end - text))); text++)
		lines++;
	return lines;
}

/* Save the rest of a line that the peer has the beginning of: the next line must not stand behind that. */
static int save_rest(struct live *live, const char *text, size_t n)
{
	live->rest = tr2_heap_resize(NULL, n);
	if (!live->rest)
		return ENOMEM;
	memcpy(live->rest, text, n);
	live->rest_at = 0;
	live->rest_end = n;
	return 0;
}

static int write_rest(struct live *live)
{
	size_t done;
	int error;

	if (!live->rest)
		return 0;
	error = -tr2_dst_write(&live->dst, live->rest + live->rest_at, live->rest_end - live->rest_at, &done);
	live->rest_at += done;
	if (error)
		return error;
	tr2_heap_resize(live->rest, 0);
	live->rest = NULL;
	return 0;
}

/* The peer takes nothing.  Of n bytes the first done are there: drop the lines that have not begun. */
static int drop_lines(struct live *live, const char *text, size_t n, size_t done)
{
	size_t begun = 0;
	int error = 0;

	if (done && text[done - 1] != '\n') {
		const char *end = memchr(text + done, '\n', n - done);
		begun = end ? (size_t)(end - text) + 1 - done : n - done;
		error = save_rest(live, text + done, begun);
	}
	live->dropped += count_lines(text + done + begun, n - done - begun);
	return error;
}

/*
 * git's rule is that a target stays off after a failed write.  But git waits for a peer without an end; ours may be
 * there again.
 */
static int write_part(struct live *live, const char *text, size_t n)
{
	size_t done = 0;
	int error = write_rest(live);

	if (!error)
		error = -tr2_dst_write(&live->dst, text, n, &done);
	return error == EAGAIN || error == ENOBUFS ? drop_lines(live, text, n, done) : error;
}

static int write_text(void *target, const char *text, size_t n)
{
	struct live *live = target;
	int error = 0;

	if (tr2_load_rlx(&g_is_muted[live - g_live])) /* relaxed: a flag, which orders nothing */
		return write_rest(live);
	while (n && !error) {
		size_t part = find_part(live, text, n);
		error = write_part(live, text, part);
		text += part;
		n -= part;
	}
	return error;
}

/* ---- muting ------------------------------------------------------------------------------------- */

static struct live *find_target(const char *name, size_t length)
{
	for (int i = 0; i < TARGETS; i++)
		if (strlen(kinds[i].name) == length && !strncmp(kinds[i].name, name, length))
			return &g_live[i];
	return NULL;
}

int tr2_live_is_target(const char *name, size_t length)
{
	const struct live *live = find_target(name, length);

	return live ? 1 + (count_on() && live->is_on) : 0;
}

void tr2_live_mute(const char *name, size_t length, int is_muted)
{
	tr2_store_rlx(&g_is_muted[find_target(name, length) - g_live], is_muted); /* relaxed: as in write_text() */
}

/* ---- opening ------------------------------------------------------------------------------------ */

static void free_target(struct live *live)
{
	t2x_merge_free(live->merge);
	t2x_model_free(live->model);
	t2x_out_free(&live->out);
	tr2_heap_resize(live->rest, 0);
	tr2_dst_close(&live->dst);
	memset(live, 0, sizeof(*live));
}

static int start_target(struct live *live, const struct kind *kind)
{
	static const struct t2x_memory memory = { tr2_heap_resize, tr2_heap_zeroed, tr2_heap_aligned };

	t2x_memory_use(&memory);
	live->is_pipe = is_pipe(live->dst.fd);
	if (t2x_out_init_fn(&live->out, write_text, live))
		return -ENOMEM;
	t2x_out_in_whole_lines(&live->out);
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
	set_on(0);
	for (int i = 0; i < TARGETS; i++)
		set_on(count_on() + open_target(i, name, rules));
	return count_on();
}

int tr2_live_is_on(void)
{
	return count_on();
}

int tr2_live_has_only_files(void)
{
	int has = 1;

	for (int i = 0; count_on() && i < TARGETS; i++)
		has &= !g_live[i].is_on || tr2_dst_is_file(&g_live[i].dst);
	return has;
}

int tr2_live_is_sentinel(void)
{
	return count_on() && g_live[EVENT].is_on ? g_live[EVENT].dst.is_sentinel : -1;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static void push(struct live *live, const struct t2x_block *block)
{
	/* git's rule: after a failed write the target stays off */
	if (live->is_on && (t2x_merge_push(live->merge, block) || live->out.error))
		live->is_on = 0;
}

/* What writing the raw target has dropped is not missing in a text. */
static void void_raw_drops(struct tlg_event *events, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (tlg_event_type(&events[i]) == TLG_LOSS && events[i].u.loss.reason == TLG_LOSS_WRITE)
			events[i].u.loss.count = 0;
}

/* But what writing the text has dropped is. */
static void push_own_drops(struct live *live, const struct tlg_event *opening, uint32_t stream)
{
	const struct tlg_event event = {
		.flags = TLG_LOSS, .u.loss = { live->dropped, TLG_NO_THREAD, TLG_LOSS_WRITE, 0 },
	};
	const struct t2x_block block = {
		.is_framed = 1, .stream = stream, .number = opening->sequence, .tid = TLG_NO_THREAD,
		.pid = opening->pid, .events = &event, .count = 1,
	};

	if (!live->dropped || (live->reported == live->dropped && live->reported_in == stream))
		return;
	live->reported = live->dropped;
	live->reported_in = stream;
	push(live, &block);
}

static void push_block(struct tlg_event *opening, uint32_t stream)
{
	const struct t2x_block block = {
		.is_framed = 1, .counts_events = 1, .stream = stream, .number = opening->sequence,
		.tid = opening->u.block.tid, .pid = opening->pid,
		.events = opening + 1, .count = opening->u.block.count,
	};

	if (block.tid == TLG_NO_THREAD)
		void_raw_drops(opening + 1, block.count);
	for (int i = 0; i < TARGETS; i++) {
		push_own_drops(&g_live[i], opening, stream);
		push(&g_live[i], &block);
	}
}

void tr2_live_write(struct tlg_event *blocks, size_t bytes, uint32_t stream)
{
	const struct tlg_event *end = blocks + bytes / sizeof(*blocks);

	for (; count_on() && blocks < end; blocks += blocks->u.block.size + 1u)
		push_block(blocks, stream);
	for (int i = 0; count_on() && i < TARGETS; i++)
		if (g_live[i].is_on && t2x_out_flush(&g_live[i].out))
			g_live[i].is_on = 0;
}

void tr2_live_close(void)
{
	for (int i = 0; count_on() && i < TARGETS; i++) {
		if (!g_live[i].merge)
			continue;
		t2x_merge_run(g_live[i].merge);
		if (g_live[i].is_on)
			t2x_out_flush(&g_live[i].out);
		free_target(&g_live[i]);
	}
	set_on(0);
}

int tr2_live_lacks_files(void)
{
	int lacks = 0;

	for (int i = 0; count_on() && i < TARGETS; i++)
		lacks |= g_live[i].is_on && tr2_dst_lacks_file(&g_live[i].dst);
	return lacks;
}

void tr2_live_open_again(void)
{
	for (int i = 0; count_on() && i < TARGETS; i++) {
		if (!g_live[i].is_on)
			continue;
		tr2_dst_open_again(&g_live[i].dst);
		g_live[i].dst.is_gone |= g_live[i].dst.is_missing;
	}
}

/* What the targets hold stays allocated, and in sight: the memory may be in any state. */
static void leave_behind(void)
{
	if (!count_on())
		return;
	memcpy(g_left_behind, g_live, sizeof(g_left_behind));
	memset(g_live, 0, sizeof(g_live));
	set_on(0);
}

int tr2_live_inherit(void)
{
	int had = count_on();

	leave_behind();
	tr2_heap_reset();
	for (int i = 0; had && i < TARGETS; i++) {
		g_live[i].dst = g_left_behind[i].dst;
		g_live[i].options = g_left_behind[i].options;
		if (!g_left_behind[i].is_on || tr2_dst_inherit(&g_live[i].dst))
			free_target(&g_live[i]);
		else
			set_on(count_on() + switch_on(&g_live[i], &kinds[i]));
	}
	return count_on();
}

void tr2_live_reset(void)
{
	int had = count_on();

	leave_behind();
	for (int i = 0; had && i < TARGETS; i++)
		tr2_dst_close(&g_left_behind[i].dst);
}
