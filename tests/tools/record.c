/* SPDX-License-Identifier: MIT */
/* record.c - see record.h. */
#include "record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tlgmake.h"
#include "base/t2x_memory.h"
#include "read/t2x_input.h"

enum { MAX_INPUTS = 4 };

static struct record *g_record;   /* the model's functions have no argument for it */

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

static void append_opens(const struct t2x_thread *thread, const struct t2x_opens *opens)
{
	const struct t2x_open *open = opens->open;

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

static void append_gap(const struct t2x_thread *thread, const struct t2x_gap *gap)
{
	if (gap->events)
		append("gap %s %u", thread->name, gap->events);
	else
		append("gap %s ?", thread->name);
	if (gap->is_known)
		append(" -%u +%u", gap->left, gap->entered);
	append("\n");
}

void t2x_model_update(struct t2x_model *m, const struct t2x_update *update)
{
	struct t2x_process *process = update->process;
	void *model;

	(void)m;
	switch (update->kind) {
	case T2X_SET_PROCESS:
		model = process->model;
		*process = update->set_process;
		process->model = model;
		break;
	case T2X_SET_THREAD:
		*update->thread = update->set_thread;
		break;
	case T2X_OPEN_REGIONS:
		append_opens(update->thread, &update->opens);
		break;
	case T2X_GAP:
		append_gap(update->thread, &update->gap);
		break;
	case T2X_DROP:
		append("drop %u %u %" PRIu64 "\n", update->drop.tid, update->drop.reason, update->drop.total);
		process->model = &g_record;   /* not NULL, so the front end reports the end of the process */
		break;
	case T2X_END_PROCESS:
		if (process->model)
			append("end %" PRId64 "\n", from_start(update->ns));
		break;
	case T2X_FORGET_PROCESS:
		g_record->forgotten_processes++;
		break;
	case T2X_FORGET_THREAD:
		g_record->forgotten_threads++;
		break;
	case T2X_RELEASE:
		t2x_cache_line_free(update->release.memory);
		break;
	}
}

/* 0: the front end must pass each checkpoint, because each is a line of its own. */
int t2x_model_adds(const struct t2x_model *m)
{
	(void)m;
	return 0;
}

void t2x_model_run(struct t2x_model *m, struct t2x_run *run)
{
	(void)m;
	(void)run;
}

static void must(int good)
{
	if (!good)
		abort();
}

static struct t2x_merge *begin_run(struct record *record)
{
	struct t2x_merge *merge;

	free(record->text);
	memset(record, 0, sizeof(*record));
	g_record = record;
	append("%s", "");
	record->context.report = &record->report;
	merge = t2x_merge_new(&record->context);
	must(merge != NULL);
	return merge;
}

static void finish_run(struct record *record, struct t2x_merge *merge)
{
	must(!t2x_merge_run(merge));
	t2x_merge_open_streams(merge, &record->open_streams, 1);
	t2x_merge_free(merge);
}

void record_run(struct record *record, const char *const *paths, unsigned n, const struct t2x_layout *layout)
{
	struct t2x_merge *merge = begin_run(record);
	struct t2x_blocks blocks[MAX_INPUTS];
	struct t2x_in in[MAX_INPUTS];

	must(n <= MAX_INPUTS);
	for (unsigned i = 0; i < n; i++) {
		must(!t2x_in_open(&in[i], paths[i], t2x_blocks_seen(layout), &record->report));
		must(!t2x_blocks_init(&blocks[i], &in[i], layout));
		must(!t2x_merge_add(merge, &blocks[i], in[i].name, t2x_blocks_next));
	}
	finish_run(record, merge);
	for (unsigned i = 0; i < n; i++) {
		t2x_blocks_free(&blocks[i]);
		t2x_in_close(&in[i]);
	}
}

void record_sought(struct record *record, const char *path, uint64_t ns)
{
	struct t2x_merge *merge = begin_run(record);
	struct t2x_input input = { .path = path, .report = &record->report };

	must(t2x_input_check(&input, 0));
	must(t2x_input_seek(&input, (uint64_t)TLGMAKE_SECOND * UINT64_C(1000000000) + ns));
	must(!t2x_merge_add(merge, &input.blocks, path, t2x_input_next));
	finish_run(record, merge);
	t2x_input_close(&input);
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
