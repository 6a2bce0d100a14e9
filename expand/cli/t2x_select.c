/* SPDX-License-Identifier: MIT */
/* t2x_select.c - see t2x_select.h. */
#include "t2x_select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "merge/t2x_merge.h"
#include "model/t2x_model.h"
#include "recover/t2x_join.h"

enum { NS_PER_S = 1000000000 };

/* ---- the head of the ring file ------------------------------------------------------------------ */

/* Seconds since the process is last known to have lived; 0 for one of the future. */
static uint64_t find_age(const struct t2x_ring *ring)
{
	uint64_t last = ring->state.ns > ring->head.start_ns ? ring->state.ns : ring->head.start_ns;
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	return ns > last ? (ns - last) / NS_PER_S : 0;
}

int t2x_select_ring(const struct t2x_selection *select, const struct t2x_ring *ring)
{
	if (select->pid && ring->head.pid != select->pid)
		return 0;
	return (!select->has_older || find_age(ring) >= select->older) &&
	       (!select->has_newer || find_age(ring) < select->newer);
}

/* ---- the start event ---------------------------------------------------------------------------- */

enum { MAX_PROGRAM = 4096 };

/* What is looked for; behind a t2x_out. */
struct search {
	const struct t2x_selection *select;
	int is_found, is_wanted;
};

static void print_start(struct t2x_printer *printer, const struct t2x_event *ev)
{
	if (ev->nargs && ev->args[0].length)
		t2x_out_bytes(printer->out, ev->args[0].text, ev->args[0].length);
	t2x_out_end_line(printer->out);
}

static void print_nothing(struct t2x_printer *printer, const struct t2x_event *ev)
{
	(void)printer;
	(void)ev;
}

/* All but the start are NULL: not printed. */
static const struct t2x_writer writer_program = {
	.unresolved = print_nothing, .print = { .start = print_start },
};

/* A pattern without a slash is one of the last part of the name. */
static int is_match(const char *pattern, const char *program)
{
	const char *slash = strrchr(program, '/');

	if (slash && !strchr(pattern, '/'))
		program = slash + 1;
	return !fnmatch(pattern, program, 0);
}

/* The first line is the program's name. */
static int take_line(void *target, const char *text, size_t n)
{
	struct search *search = target;
	const char *end = memchr(text, '\n', n);
	char program[MAX_PROGRAM];

	if (search->is_found || !n)
		return 0;
	snprintf(program, sizeof(program), "%.*s", (int)(end ? end - text : MAX_PROGRAM), text);
	search->is_found = 1;
	search->is_wanted = is_match(search->select->program, program);
	return 0;
}

/* Hand the blocks of the process's stream to a merge until its start has come out.  Return  0 or -ENOMEM */
static int search_blocks(struct search *search, struct t2x_input *input, struct t2x_merge *merge, struct t2x_out *out)
{
	struct t2x_block block;
	int error = 0;

	while (!error && !search->is_found && t2x_join_next(&input->blocks, &block)) {
		error = t2x_merge_push(merge, &block);
		t2x_out_flush(out);
	}
	if (!error)
		error = t2x_merge_run(merge);
	t2x_out_flush(out);
	return error;
}

/* Return  0 or -ENOMEM */
static int search_input(struct search *search, struct t2x_input *input)
{
	const struct t2x_options options = { 0 };
	struct t2x_report silent = { .to = NULL };
	struct t2x_context context = { .report = &silent };
	struct t2x_merge *merge = NULL;
	struct t2x_out out;
	int error = t2x_out_init_fn(&out, take_line, search);

	if (error)
		return -ENOMEM;
	context.model = t2x_model_new(&writer_program, &out, &options);
	if (context.model)
		merge = t2x_merge_new(&context);
	error = merge ? t2x_merge_add(merge, NULL, "", NULL) : -ENOMEM;
	if (!error)
		error = search_blocks(search, input, merge, &out);
	t2x_merge_free(merge);
	t2x_model_free(context.model);
	t2x_out_free(&out);
	return error;
}

int t2x_select_program(const struct t2x_selection *select, const struct t2x_ring *ring, int has_file)
{
	struct t2x_report silent = { .to = NULL };
	struct t2x_input input = { .path = ring->state.path, .report = &silent };
	struct t2x_join join = {
		.salvage = t2x_salvage_new(ring), .stream = ring->state.stream, .blocks = ring->state.blocks,
		.is_alone = 1,
	};
	struct search search = { .select = select };
	int error = -ENOMEM;

	if (!has_file || !t2x_input_check(&input, 0))
		input = (struct t2x_input){ .report = &silent, .is_done = 1 };
	t2x_join_add(&input, &join);
	if (join.salvage)
		error = search_input(&search, &input);
	t2x_input_close(&input);
	t2x_salvage_free(join.salvage);
	return error ? error : search.is_wanted;
}
