/* SPDX-License-Identifier: MIT */
/* record.c - see record.h. */
#include "record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tlgmake.h"

enum { MAX_INPUTS = 4 };

static struct record *g_record;   /* the model's functions are given nothing of ours */

static void append(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void append(const char *format, ...)
{
	struct record *record = g_record;
	va_list ap;
	int n;

	if (record->max - record->n < 4096) {
		record->max = 2 * record->max + 65536;
		record->text = realloc(record->text, record->max);
		if (!record->text)
			abort();
	}
	va_start(ap, format);
	n = vsnprintf(record->text + record->n, record->max - record->n, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= record->max - record->n)
		n = (int)(record->max - record->n - 1);
	record->n += (size_t)n;
}

static int64_t from_start(uint64_t ns)
{
	return (int64_t)(ns - (uint64_t)TLGMAKE_SECOND * UINT64_C(1000000000));
}

static void append_argument(const struct t2x_arg *arg)
{
	if (arg->type == TLG_ARG_TEXT)
		append(" \"%.*s\"", arg->length < 2000 ? (int)arg->length : 2000, arg->text);
	else if (arg->type == TLG_ARG_NULL)
		append(" null");
	else if (arg->type == TLG_ARG_UINT)
		append(" %" PRIu64 "u", (uint64_t)arg->value);
	else
		append(" %" PRId64, arg->value);
}

void t2x_model_hit(struct t2x_model *m, const struct t2x_hit *hit)
{
	const struct t2x_scope *scope = hit->scope;

	(void)m;
	append("hit %s %" PRId64, hit->thread->name, from_start(hit->ns));
	if (scope)
		append(" %s", scope->label ? scope->label : "-");
	else
		append(" ?%u", hit->scope_index);
	for (unsigned i = 0; i < hit->nargs; i++)
		append_argument(&hit->args[i]);
	append("\n");
	g_record->process = *hit->thread->process;
	snprintf(g_record->sid, sizeof(g_record->sid), "%s", hit->thread->process->sid);
}

void t2x_model_open_regions(struct t2x_model *m, struct t2x_thread *thread, const struct t2x_opens *opens)
{
	const struct t2x_open *open = opens->open;

	(void)m;
	append("open %s", thread->name);
	for (unsigned i = 0; i < opens->count; i++) {
		int is_shown = opens->is_shown && open[i].scope;
		append("%s", i + 1 == opens->assumed ? " |" : "");
		if (open[i].when == TLG_OPEN_LOST)
			append(" lost");
		else
			append(" %" PRId64 "%s%s", open[i].when ? from_start(open[i].ns) : 0, is_shown ? ":" : "",
			       is_shown ? open[i].scope->label : "");
	}
	append("%s\n", opens->assumed == opens->count + 1 ? " |" : "");
}

/* Nothing is ever behind here. */
void t2x_model_sync(struct t2x_model *m)
{
	(void)m;
}

void t2x_model_gap(struct t2x_model *m, struct t2x_thread *thread, uint64_t ns, const struct t2x_gap *gap)
{
	(void)m, (void)ns;
	if (gap->events)
		append("gap %s %u", thread->name, gap->events);
	else
		append("gap %s ?", thread->name);
	if (gap->is_known)
		append(" -%u +%u", gap->left, gap->entered);
	append("\n");
}

void t2x_model_loss(struct t2x_model *m, struct t2x_process *process, uint32_t tid, unsigned reason,
		    uint64_t total)
{
	(void)m;
	append("loss %u %u %" PRIu64 "\n", tid, reason, total);
	process->model = &g_record;   /* its end is worth telling */
}

void t2x_model_end_process(struct t2x_model *m, struct t2x_process *process, uint64_t ns)
{
	(void)m;
	if (process->model)
		append("end %" PRId64 "\n", from_start(ns));
}

void t2x_model_forget_thread(struct t2x_model *m, struct t2x_thread *thread)
{
	(void)m, (void)thread;
	g_record->forgotten_threads++;
}

void t2x_model_forget_process(struct t2x_model *m, struct t2x_process *process)
{
	(void)m, (void)process;
	g_record->forgotten_processes++;
}

static void must(int good)
{
	if (!good)
		abort();
}

void record_run(struct record *record, const char *const *paths, unsigned n, const struct t2x_layout *layout)
{
	struct t2x_merge *merge;
	struct t2x_blocks blocks[MAX_INPUTS];
	struct t2x_in in[MAX_INPUTS];

	free(record->text);
	memset(record, 0, sizeof(*record));
	g_record = record;
	append("%s", "");
	record->context.report = &record->report;
	merge = t2x_merge_new(&record->context);
	must(merge != NULL && n <= MAX_INPUTS);
	for (unsigned i = 0; i < n; i++) {
		must(!t2x_in_open(&in[i], paths[i], t2x_blocks_seen(layout), &record->report));
		must(!t2x_blocks_init(&blocks[i], &in[i], layout));
		must(!t2x_merge_add(merge, &blocks[i], in[i].name, t2x_blocks_next));
	}
	must(!t2x_merge_run(merge));
	t2x_merge_open_streams(merge, &record->open_streams, 1);
	t2x_merge_free(merge);
	for (unsigned i = 0; i < n; i++) {
		t2x_blocks_free(&blocks[i]);
		t2x_in_close(&in[i]);
	}
}

void record_bytes(struct record *record, const void *bytes, size_t n)
{
	const char *path = tlgmake_path(bytes, n);

	record_run(record, &path, 1, NULL);
	tlgmake_close(path);
}

void record_free(struct record *record)
{
	free(record->text);
	record->text = NULL;
}
