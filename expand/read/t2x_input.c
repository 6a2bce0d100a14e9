/* SPDX-License-Identifier: MIT */
/* t2x_input.c - see t2x_input.h. */
#include "t2x_input.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "t2x_order.h"
#include "t2x_seek.h"

/* Open the file again.  Return  0 or -errno; -ESTALE: the path names another file by now */
static int open_file(struct t2x_input *input, size_t seen, struct t2x_report *report)
{
	int error = t2x_in_open_file(&input->in, input->path, input->begin_at, seen, report);

	if (error)
		return error;
	if (input->in.device == input->device && input->in.inode == input->inode)
		return 0;
	t2x_in_close(&input->in);
	return -ESTALE;
}

/* Return  0 or -errno */
static int open_input(struct t2x_input *input, struct t2x_report *report)
{
	size_t seen = t2x_blocks_seen(input->layout);
	int error = input->is_regular ? open_file(input, seen, report)
				      : t2x_in_open(&input->in, input->path, seen, report);

	if (error)
		return error;
	if (input->joins && input->in.lz4)
		t2x_lz4_defer_cut(input->in.lz4, &input->cut);
	error = t2x_blocks_init(&input->blocks, &input->in, input->layout);
	if (error)
		t2x_in_close(&input->in);
	input->is_open = !error;
	return error;
}

static void close_file(struct t2x_input *input)
{
	if (input->open_files)
		t2x_open_files_leave(input->open_files, &input->open_file);
	if (!input->is_open)
		return;
	t2x_blocks_free(&input->blocks);
	t2x_in_close(&input->in);
	input->is_open = input->is_parked = 0;
}

static void set_fault(struct t2x_input *input, const char *why)
{
	snprintf(input->fault, sizeof(input->fault), "%s", why);
}

static void set_error(struct t2x_input *input, int error)
{
	set_fault(input, error == ESTALE ? "replaced while it was read" : strerror(error));
}

/* It was there when it was looked at.  error  -errno; -ESTALE, see t2x_in_restore() */
static void cannot_open(struct t2x_input *input, int error)
{
	input->left_out = error == -EMFILE || error == -ENFILE;
	if (!input->left_out)
		set_error(input, -error);
	close_file(input);
}

/* ---- many files ------------------------------------------------------------------------------------ */

/* Close the open input until its next block is asked for.  Return  0: it cannot be entered again where it stands */
static int park(struct t2x_open_file *file)
{
	struct t2x_input *input = (struct t2x_input *)(void *)((char *)file - offsetof(struct t2x_input, open_file));

	if (input->fault[0] || !t2x_in_park(&input->in))
		return 0;
	t2x_blocks_park(&input->blocks);
	input->is_parked = 1;
	return 1;
}

/* What is kept for ring files (t2x_join.h) points into the latest block of the file, which stays open for that. */
static void use_open_file(struct t2x_input *input)
{
	if (!input->is_regular || input->joins || input->is_done || input->open_files->newest == &input->open_file)
		return;
	input->open_file.park = park;
	t2x_open_files_use(input->open_files, &input->open_file);
}

void t2x_input_keep_open(struct t2x_input *input)
{
	if (input->open_files)
		t2x_open_files_leave(input->open_files, &input->open_file);
	input->open_files = NULL;
}

/* It could not be opened.  Return  1: for others are open, one of which is parked now, so it is worth another try */
static int has_parked_another(struct t2x_input *input, int error)
{
	return (error == -EMFILE || error == -ENFILE) && input->open_files &&
	       t2x_open_files_park_one(input->open_files, &input->open_file);
}

static void restore(struct t2x_input *input)
{
	int error = t2x_in_restore(&input->in);

	if (has_parked_another(input, error))
		error = t2x_in_restore(&input->in);
	if (!error)
		error = t2x_blocks_restore(&input->blocks);
	input->is_parked = 0;
	if (error)
		cannot_open(input, error);
}

/* ---- the first block ---------------------------------------------------------------------------- */

/* Store the first block, if it is about the process and not too large.  Without memory it is read again later. */
static void keep_first(struct t2x_input *input, const struct t2x_block *block)
{
	size_t bytes = block->count * sizeof(block->events[0]);

	if (!block->is_framed || block->tid != TLG_NO_THREAD || block->count > TLG_BLOCK_EVENTS)
		return;
	input->first_events = malloc(bytes);
	if (!input->first_events)
		return;
	memcpy(input->first_events, block->events, bytes);
	input->first = *block;
	input->first.layout = NULL;
	input->first.raw = NULL;
	input->first.entries = 0;
	input->first.events = input->first_events;
	input->first.own = NULL;
}

static void forget_first(struct t2x_input *input)
{
	free(input->first_events);
	input->first_events = NULL;
	input->first.count = 0;
}

/* Find the order of the LZ4 frames in the open file.  first  its first block, if it was read, or NULL */
static void find_order(struct t2x_input *input, const struct t2x_block *first)
{
	input->order = t2x_order_new(&input->blocks, input->begin_at, first);
	input->has_order = input->order && !t2x_order_is_single(input->order);
}

/* Read the first block without reporting damage: that follows when the file is opened again and read. */
static int look_at_file(struct t2x_input *input, int keeps_first)
{
	struct t2x_report silent = { .to = NULL };
	struct t2x_block block;
	int error = open_input(input, &silent);

	if (error) {
		set_error(input, -error);
		return 0;
	}
	if (t2x_blocks_next(&input->blocks, &block)) {
		input->good = 1;
		if (keeps_first) {
			keep_first(input, &block);
			find_order(input, &block);
		}
		/* With several processes, the first block of the file need not be the first in time. */
		if (input->has_order)
			forget_first(input);
	}
	close_file(input);
	return 1;
}

/* Note which file it is. */
static void note_identity(struct t2x_input *input, const struct stat *st)
{
	input->is_regular = S_ISREG(st->st_mode);
	input->device = st->st_dev;
	input->inode = st->st_ino;
	input->bytes = (uint64_t)st->st_size;
}

int t2x_input_check(struct t2x_input *input, int keeps_first)
{
	struct stat st;
	int is_there = strcmp(input->path, "-") && !stat(input->path, &st);
	int error;

	if (is_there && S_ISREG(st.st_mode)) {
		note_identity(input, &st);
		return look_at_file(input, keeps_first);
	}
	if (is_there && input->needs_file) {
		input->in.name = input->path;
		set_fault(input, S_ISDIR(st.st_mode) ? strerror(EISDIR) : "not a regular file");
		return 0;
	}
	error = open_input(input, input->report);
	if (error)
		set_error(input, -error);
	else if (!fstat(input->in.fd, &st))
		note_identity(input, &st);
	return !error;
}

/* Find the order of the frames from begin_at on. */
static void find_order_again(struct t2x_input *input)
{
	struct t2x_report silent = { .to = NULL };

	t2x_order_free(input->order);
	input->order = NULL;
	input->has_order = 0;
	if (open_input(input, &silent))
		return;
	find_order(input, NULL);
	close_file(input);
}

int t2x_input_seek(struct t2x_input *input, uint64_t ns)
{
	uint64_t offset = 0;

	if (input->is_regular && !input->joins && !input->is_open && !input->fault[0])
		offset = t2x_seek(input->path, input->layout, ns);
	if (!offset)
		return 0;
	forget_first(input);
	input->begin_at = offset;
	if (input->order)
		find_order_again(input);
	return 1;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* Open a file that has been checked and closed. */
static void open_again(struct t2x_input *input)
{
	struct t2x_block block;
	int error = open_input(input, input->report);

	if (has_parked_another(input, error))
		error = open_input(input, input->report);
	if (error)
		cannot_open(input, error);
	if (!error && input->has_order)
		t2x_order_next(input->order, &input->blocks);
	else if (!error && input->skip_first && !t2x_blocks_next(&input->blocks, &block))
		set_fault(input, "changed while it was read");
}

/* The input has ended: decide whether it was a .tlg file, and set fault if not. */
static void judge(struct t2x_input *input)
{
	int error = t2x_in_error(&input->in);

	if (input->cut.is_there && !input->has_cut(input, input->cut.stream))
		t2x_report_damage(input->report, input->path, "byte", input->cut.at, T2X_LZ4_CUT);
	input->good = input->blocks.good;
	if (error)
		set_error(input, error);
	else if (input->good)
		return;
	else if (!input->in.lz4 && !input->in.bytes->offset)
		set_fault(input, input->joins ? "" : "empty");   /* all of it may still be in a ring file */
	else if (input->blocks.unknown_layout)
		snprintf(input->fault, sizeof(input->fault), "raw events of %u bytes, which need --layout",
			 input->blocks.unknown_layout);
	else
		set_fault(input, "not a .tlg file, or nothing in it is whole");
}

static int deliver_first(struct t2x_input *input, struct t2x_block *block)
{
	*block = input->first;
	input->first.count = 0;
	input->skip_first = 1;
	return 1;
}

/* Return  0: the block lies in front of its stream's first cycle behind begin_at, and cannot be resolved */
static int has_begun(struct t2x_input *input, const struct t2x_block *block)
{
	if (!block->is_framed || t2x_map_get(&input->begun, block->stream))
		return 1;
	for (unsigned i = 0; block->tid == TLG_NO_THREAD && i < block->count; i++)
		if (tlg_event_type(&block->events[i]) == TLG_CYCLE)
			return !t2x_map_put(&input->begun, block->stream, input);
	return 0;
}

uint64_t t2x_input_rest_ns(const struct t2x_input *input)
{
	return input->order ? t2x_order_rest_ns(input->order) : 0;
}

static int next_block(struct t2x_input *input, struct t2x_block *block)
{
	int got;

	do {
		got = t2x_blocks_next(&input->blocks, block);
		if (got && input->order)
			t2x_order_follow(input->order, block);
	} while (got ? input->begin_at && !has_begun(input, block)
		     : input->has_order && t2x_order_next(input->order, &input->blocks));
	if (!got)
		return 0;
	block->is_sought = input->begin_at != 0;
	block->rest_ns = t2x_input_rest_ns(input);
	return 1;
}

int t2x_input_is_in_order(const struct t2x_input *input)
{
	return input->order && t2x_order_is_complete(input->order);
}

uint64_t t2x_input_now_ns(const struct t2x_input *input)
{
	return input->order && !input->is_done ? t2x_order_now_ns(input->order) : UINT64_MAX;
}

int t2x_input_next(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct t2x_input *input = (struct t2x_input *)blocks;

	if (input->first.count)
		return deliver_first(input, block);
	if (input->open_files)
		use_open_file(input);
	if (!input->is_open && !input->is_done) {
		free(input->first_events);
		input->first_events = NULL;
		open_again(input);
	}
	if (input->is_parked)
		restore(input);
	if (input->max_blocks && input->is_open && input->blocks.good >= input->max_blocks) {
		close_file(input);
		input->is_done = 1;
	}
	if (input->is_open && !input->fault[0] && next_block(input, block))
		return 1;
	if (input->is_open && !input->fault[0])
		judge(input);
	close_file(input);
	input->is_done = 1;
	return 0;
}

void t2x_input_report_to(struct t2x_input *input, struct t2x_report *report)
{
	input->report = report;
	if (input->is_open)
		t2x_in_report_to(&input->in, report);
}

void t2x_input_close(struct t2x_input *input)
{
	close_file(input);
	t2x_order_free(input->order);
	input->order = NULL;
	t2x_map_free(&input->begun);
	free(input->first_events);
	input->first_events = NULL;
}
