/* SPDX-License-Identifier: MIT */
/* t2x_crash.c - see t2x_crash.h. */
#include "t2x_crash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_samples_private.h"

enum { FIRST_THREADS = 16, MAX_THREADS = 16384 };

/* What one thread answered. */
struct t2x_crash_thread {
	uint32_t pid, stream;
	int64_t question;                 /* 0: of an older writer, which did not count them */
	char name[sizeof(((struct t2x_thread *)0)->name)];
	char *labels;                     /* " key=value" of each */
	unsigned depth;
	uint32_t stack[];                 /* locations */
};

/* ---- what was answered -------------------------------------------------------------------------- */

static void free_thread(struct t2x_crash_thread *thread)
{
	if (thread)
		free(thread->labels);
	free(thread);
}

/* Of the regions all are shown as one label, and thread and process are no labels here. */
static int is_shown(const struct t2x_samples_label *label)
{
	return label->text && strcmp(label->key, "thread") != 0 && strcmp(label->key, "region") != 0;
}

/* Return  NULL: no memory */
static char *join_labels(const struct t2x_sample *sample)
{
	size_t n = 1;
	char *text, *p;

	for (unsigned i = 0; i < sample->nlabels; i++)
		if (is_shown(&sample->labels[i]))
			n += strlen(sample->labels[i].key) + strlen(sample->labels[i].text) + strlen(" =");
	p = text = malloc(n);
	if (!text)
		return NULL;
	*p = '\0';
	for (unsigned i = 0; i < sample->nlabels; i++)
		if (is_shown(&sample->labels[i]))
			p += sprintf(p, " %s=%s", sample->labels[i].key, sample->labels[i].text);
	return text;
}

static struct t2x_crash_thread *make_thread(const struct t2x_event *ev, const struct t2x_sample *sample)
{
	struct t2x_crash_thread *thread = malloc(sizeof(*thread) + sample->depth * sizeof(thread->stack[0]));

	if (!thread)
		return NULL;
	*thread = (struct t2x_crash_thread){
		.pid = ev->thread->process->pid, .stream = ev->thread->process->stream,
		.question = sample->value, .depth = sample->depth, .labels = join_labels(sample),
	};
	memcpy(thread->name, ev->thread->name, sizeof(thread->name));
	if (sample->depth)
		memcpy(thread->stack, sample->stack, sample->depth * sizeof(thread->stack[0]));
	if (thread->labels)
		return thread;
	free_thread(thread);
	return NULL;
}

static int is_earlier(const struct t2x_crash_thread *thread, const struct t2x_crash_thread *other)
{
	return thread->question < other->question ||
	       (thread->question == other->question && !strcmp(thread->name, other->name));
}

/* Earlier answers of the process are no longer wanted.  Return  0: it is this one, a late answer */
static int drop_others(struct t2x_crash *crash, const struct t2x_crash_thread *thread)
{
	unsigned left = 0;
	int is_last = 1;

	for (unsigned i = 0; i < crash->n; i++) {
		struct t2x_crash_thread *other = crash->threads[i];
		int is_same = other->pid == thread->pid && other->stream == thread->stream;

		if (is_same && other->question > thread->question)
			is_last = 0;
		if (is_same && is_earlier(other, thread))
			free_thread(other);
		else
			crash->threads[left++] = other;
	}
	crash->n = left;
	return is_last;
}

/* Return  0: no memory */
static int make_room(struct t2x_crash *crash)
{
	unsigned max = crash->max ? 2 * crash->max : FIRST_THREADS;
	struct t2x_crash_thread **threads;

	if (crash->n < crash->max)
		return 1;
	threads = realloc(crash->threads, max * sizeof(*threads));
	if (!threads)
		return 0;
	crash->threads = threads;
	crash->max = max;
	return 1;
}

void t2x_crash_add(struct t2x_crash *crash, const struct t2x_event *ev, const struct t2x_sample *sample)
{
	struct t2x_crash_thread *thread = make_thread(ev, sample);

	if (!thread || !make_room(crash))
		crash->error = ENOMEM;
	else if (drop_others(crash, thread)) {
		if (crash->n < MAX_THREADS) {
			crash->threads[crash->n++] = thread;
			return;
		}
		crash->left_out++;
	}
	free_thread(thread);
}

/* ---- the report --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct t2x_crash_thread *first = *(struct t2x_crash_thread *const *)a;
	const struct t2x_crash_thread *second = *(struct t2x_crash_thread *const *)b;

	if (first->pid != second->pid)
		return first->pid < second->pid ? -1 : 1;
	if (first->stream != second->stream)
		return first->stream < second->stream ? -1 : 1;
	return strcmp(first->name, second->name);
}

/* A text of the trace, in its line. */
static void put_text(struct t2x_out *out, const char *text)
{
	for (; *text; text++)
		t2x_out_char(out, (unsigned char)*text < ' ' || *text == 0x7f ? '_' : *text);
}

static void put_address(struct t2x_out *out, unsigned number, uint64_t address)
{
	char text[64];

	snprintf(text, sizeof(text), "#%-3u 0x%016" PRIx64, number, address);
	t2x_out_string(out, text);
}

/* Where the code of a location is in its file. */
static void put_module(struct t2x_out *out, const struct t2x_samples *samples, uint32_t number)
{
	const struct t2x_samples_location *location =
		t2x_samples_row(&samples->locations, const struct t2x_samples_location, number - 1);
	const struct t2x_samples_module *module;
	char text[32];

	if (!location->module)
		return;
	module = t2x_samples_row(&samples->modules, const struct t2x_samples_module, location->module - 1);
	if (t2x_samples_is_made(samples, module))
		return;
	t2x_out_literal(out, " (");
	put_text(out, t2x_samples_text(samples, module->file));
	snprintf(text, sizeof(text), "+0x%" PRIx64 ")", location->address - module->start + module->offset);
	t2x_out_string(out, text);
}

static void put_function(struct t2x_out *out, const struct t2x_samples *samples, const struct t2x_samples_source *line)
{
	const struct t2x_samples_function *function =
		t2x_samples_row(&samples->functions, const struct t2x_samples_function, line->function - 1);
	const char *file = t2x_samples_text(samples, function->file);

	t2x_out_literal(out, " in ");
	put_text(out, t2x_samples_text(samples, function->name));
	if (!*file)
		return;
	t2x_out_char(out, ' ');
	put_text(out, file);
	if (line->line) {
		t2x_out_char(out, ':');
		t2x_out_int(out, line->line);
	}
}

/* A line for each function, also for those that are inlined.  Return  the number of the next frame */
static unsigned put_location(struct t2x_out *out, const struct t2x_samples *samples, uint32_t number, unsigned frame)
{
	const struct t2x_samples_location *location =
		t2x_samples_row(&samples->locations, const struct t2x_samples_location, number - 1);

	for (uint32_t i = 0; i < location->nlines || !i; i++) {
		put_address(out, frame++, location->address);
		if (i < location->nlines)
			put_function(out, samples, t2x_samples_row(&samples->lines, const struct t2x_samples_source,
								   location->line + i));
		if (i + 1 < location->nlines)
			t2x_out_literal(out, " (inlined)");
		else
			put_module(out, samples, number);
		t2x_out_char(out, '\n');
	}
	return frame;
}

static void put_thread(struct t2x_out *out, const struct t2x_samples *samples, const struct t2x_crash_thread *thread)
{
	unsigned frame = 0;

	t2x_out_literal(out, "thread \"");
	put_text(out, thread->name);
	t2x_out_literal(out, "\" of process ");
	t2x_out_uint(out, thread->pid);
	put_text(out, thread->labels);
	t2x_out_literal(out, ":\n");
	for (unsigned i = 0; i < thread->depth; i++)
		if (thread->stack[i])
			frame = put_location(out, samples, thread->stack[i], frame);
	if (!thread->depth)
		t2x_out_literal(out, "did not answer: it blocks the signal, or the kernel has it\n");
}

int t2x_crash_write(struct t2x_crash *crash, const struct t2x_samples *samples, struct t2x_out *out)
{
	if (crash->n)
		qsort(crash->threads, crash->n, sizeof(crash->threads[0]), compare);
	for (unsigned i = 0; i < crash->n; i++) {
		if (i)
			t2x_out_char(out, '\n');
		put_thread(out, samples, crash->threads[i]);
	}
	if (crash->left_out) {
		t2x_out_char(out, '\n');
		t2x_out_uint(out, crash->left_out);
		t2x_out_literal(out, " more threads\n");
	}
	return crash->error ? crash->error : samples->error;
}

void t2x_crash_free(struct t2x_crash *crash)
{
	for (unsigned i = 0; i < crash->n; i++)
		free_thread(crash->threads[i]);
	free(crash->threads);
	*crash = (struct t2x_crash){ .n = 0 };
}
