/* SPDX-License-Identifier: MIT */
/* t2x_inputs.c - see t2x_inputs.h. */
#include "t2x_inputs.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WINDOW_BYTES = 400 * 1024, KEPT_BYTES = 2 * 1024 * 1024 };

static void complain(struct t2x_inputs *inputs, const char *path, const char *why)
{
	t2x_report_note(inputs->report, path, "%s", why);
	inputs->is_unusable = 1;
}

/* A file in a directory that is no trace is like damage in one. */
static void report_fault(struct t2x_inputs *inputs, const struct t2x_input *input)
{
	if (input->is_listed)
		t2x_report_damage(inputs->report, input->in.name, "byte", 0, "%s", input->fault);
	else
		complain(inputs, input->in.name, input->fault);
}

/* ---- which file is which ------------------------------------------------------------------------ */

static uint32_t key_of(dev_t device, ino_t inode)
{
	return (uint32_t)inode ^ (uint32_t)((uint64_t)inode >> 32) ^ (uint32_t)device * 31;
}

struct t2x_input *t2x_inputs_get(const struct t2x_inputs *inputs, dev_t device, ino_t inode)
{
	struct t2x_input *input = t2x_map_get(&inputs->by_file, key_of(device, inode));

	while (input && (input->device != device || input->inode != inode))
		input = input->next_alike;
	return input;
}

/* Return  0 or -ENOMEM */
static int remember(struct t2x_inputs *inputs, struct t2x_input *input)
{
	uint32_t key = key_of(input->device, input->inode);

	if (!input->is_regular)
		return 0;
	input->next_alike = t2x_map_get(&inputs->by_file, key);
	return t2x_map_put(&inputs->by_file, key, input);
}

static void note_twice(struct t2x_inputs *inputs, const char *name, const char *first)
{
	if (inputs->twice++ >= T2X_REPORT_LINES)
		return;
	if (strcmp(name, first) != 0)
		t2x_report_note(inputs->report, name, "the same file as %s, counts once", first);
	else
		t2x_report_note(inputs->report, name, "given more than once, counts once");
}

/* It was given before: say so. */
static int is_known(struct t2x_inputs *inputs, const struct t2x_input *input)
{
	const struct t2x_input *first = NULL;

	if (input->is_regular)
		first = t2x_inputs_get(inputs, input->device, input->inode);
	if (first)
		note_twice(inputs, input->in.name, first->in.name);
	return first != NULL;
}

/* ---- adding ------------------------------------------------------------------------------------- */

/* Return  the new input, NULL: it cannot be used, or is there */
static struct t2x_input *add(struct t2x_inputs *inputs, const char *path, int is_listed, int is_sentinel)
{
	const struct t2x_settings *settings = inputs->settings;
	struct t2x_input *input = &inputs->items[inputs->n];

	*input = (struct t2x_input){
		.path = path, .layout = inputs->layout, .report = inputs->report, .is_listed = is_listed,
		.open_files = &inputs->open_files,
		/* who recovers has files in mind, which any user may have replaced */
		.needs_file = is_listed || settings->nrings || settings->recover_all || settings->live,
	};
	if (!t2x_input_check(input, !(settings->format->traits & T2X_TRAIT_RAW)))
		report_fault(inputs, input);
	else if ((!is_sentinel || input->good) && !is_known(inputs, input)) {
		if (!remember(inputs, input))
			return &inputs->items[inputs->n++];
		complain(inputs, path, strerror(ENOMEM));
	}
	t2x_input_close(input);
	return NULL;
}

/* What was named; standard input, whatever it is, can be read only once. */
static void add_path(struct t2x_inputs *inputs, const char *path)
{
	if (!strcmp(path, "-") && inputs->is_stdin++)
		note_twice(inputs, "standard input", "standard input");
	else
		add(inputs, path, 0, 0);
}

/* What is not joined with any file. */
static struct t2x_input *add_ring_alone(struct t2x_inputs *inputs, const char *path)
{
	struct t2x_input *input = &inputs->items[inputs->n++];

	*input = (struct t2x_input){ .path = path, .report = inputs->report, .is_done = 1, .in = { .name = path } };
	return input;
}

void t2x_inputs_add_ring(struct t2x_inputs *inputs, struct t2x_recovered *item, int is_unasked)
{
	struct t2x_input *input = NULL;

	if (item->inode)
		input = t2x_inputs_get(inputs, item->device, item->inode);
	if (!item->why && !input && !is_unasked)
		input = add(inputs, item->ring.state.path, 1, 0);
	if (!input && !is_unasked)
		input = add_ring_alone(inputs, item->ring.path);
	if (input)
		t2x_join_add(input, &item->join);
}

/*
 * Each file needs buffers that are large for malloc(), which gives them back to the kernel with each file; the next
 * file pays for new pages, half of what a small one costs.  So what is as large as a window comes from the heap, as
 * malloc() decides by itself once it has freed one, and the heap keeps as much as a file takes.  Not more: tables that
 * grow leave holes in a heap, and memory is promised to be little.
 */
static void keep_buffers(void)
{
#ifdef M_TRIM_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, WINDOW_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

/* How many files the path stands for. */
static unsigned list_path(struct t2x_inputs *inputs, struct t2x_dir *dir, const char *path)
{
	int error = strcmp(path, "-") ? t2x_dir_list(dir, path) : 0;

	if (error)
		complain(inputs, path, strerror(-error));
	else if (dir->is_directory && !dir->n)
		complain(inputs, path, "no .tlg files in this directory");
	return dir->is_directory ? dir->n : 1;
}

int t2x_inputs_find(struct t2x_inputs *inputs, unsigned rings)
{
	unsigned npaths = inputs->settings->npaths, n = 0;

	inputs->dirs = calloc(npaths ? npaths : 1, sizeof(*inputs->dirs));
	if (!inputs->dirs)
		return -ENOMEM;
	for (unsigned i = 0; i < npaths; i++)
		n += list_path(inputs, &inputs->dirs[i], inputs->settings->paths[i]);
	if (n > 1)
		keep_buffers();
	inputs->items = calloc(n + rings + 1, sizeof(*inputs->items));
	if (!inputs->items)
		return -ENOMEM;
	for (unsigned i = 0; i < npaths; i++) {
		const struct t2x_dir *dir = &inputs->dirs[i];
		if (!dir->is_directory)
			add_path(inputs, inputs->settings->paths[i]);
		for (unsigned j = 0; j < dir->n; j++)
			add(inputs, dir->paths[j], 1, dir->has_sentinel && j + 1 == dir->n);
	}
	if (inputs->twice > T2X_REPORT_LINES)
		t2x_report_note(inputs->report, "inputs", "%u more files were given more than once, count once",
				inputs->twice - T2X_REPORT_LINES);
	return 0;
}

uint64_t t2x_inputs_bytes(const struct t2x_inputs *inputs)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < inputs->n; i++) {
		if (!inputs->items[i].is_regular)
			return 0;
		bytes += inputs->items[i].bytes;
	}
	return bytes;
}

/* ---- afterwards --------------------------------------------------------------------------------- */

void t2x_inputs_judge(struct t2x_inputs *inputs)
{
	unsigned left_out = 0, good = 0;

	for (unsigned i = 0; i < inputs->n; i++) {
		const struct t2x_input *input = &inputs->items[i];
		if (input->fault[0])
			report_fault(inputs, input);
		left_out += (unsigned)input->left_out;
		good += input->good > 0;
	}
	if (left_out) {
		/* not a reason to stop: the line says what, exit status 3 that there is one */
		t2x_report_note(inputs->report, "too many open files",
				"%u files left out, see ulimit -n", left_out);
		inputs->report->damages++;
	}
	if (!good)
		inputs->is_unusable = 1;
}

void t2x_inputs_clear(struct t2x_inputs *inputs)
{
	for (unsigned i = 0; i < inputs->n; i++)
		t2x_input_close(&inputs->items[i]);
	inputs->n = 0;
	t2x_map_free(&inputs->by_file);
}

void t2x_inputs_free(struct t2x_inputs *inputs)
{
	t2x_inputs_clear(inputs);
	free(inputs->items);
	for (unsigned i = 0; inputs->dirs && i < inputs->settings->npaths; i++)
		t2x_dir_free(&inputs->dirs[i]);
	free(inputs->dirs);
}
