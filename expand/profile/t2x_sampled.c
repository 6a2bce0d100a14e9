/* SPDX-License-Identifier: MIT */
/* t2x_sampled.c - see t2x_sampled.h. */
#include "t2x_sampled.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_prof_kinds.h"
#include "base/t2x_report.h"
#include "text/t2x_formats.h"

enum { MAX_LABELS = 64, OWN_LABELS = 5 };

/* ---- labels ------------------------------------------------------------------------------------- */

/* A text of n bytes as a string, at a place that moves: first all are put, then they are found. */
static size_t put_string(struct t2x_bytes *bytes, const char *text, size_t n)
{
	size_t at = bytes->n;

	t2x_bytes_put(bytes, text, n);
	t2x_bytes_put(bytes, "", 1);
	return at;
}

static void put_frame(struct t2x_bytes *bytes, const struct t2x_frame *frame)
{
	if (*frame->category) {
		t2x_bytes_put(bytes, frame->category, strlen(frame->category));
		t2x_bytes_put(bytes, "/", 1);
	}
	t2x_bytes_put(bytes, frame->label, strlen(frame->label));
}

/*
 * The regions that are open, the outermost first, with semicolons between them.
 * innermost  where the last begins    Return  how many
 */
static unsigned put_regions(struct t2x_bytes *bytes, const struct t2x_spans *spans, size_t *innermost)
{
	unsigned n = 0;

	for (uint32_t i = 0; spans && i < spans->open; i++) {
		const struct t2x_frame *frame = t2x_span_frame(&spans->spans[i]);
		if (!frame || !frame->number)
			continue;
		if (n++)
			t2x_bytes_put(bytes, ";", 1);
		*innermost = bytes->n;
		put_frame(bytes, frame);
	}
	t2x_bytes_put(bytes, "", 1);
	return n;
}

/* The labels that the sample was recorded with.  Return  how many */
static unsigned put_recorded(struct t2x_samples_label *labels, struct t2x_bytes *texts, const struct t2x_event *ev)
{
	size_t key[MAX_LABELS], value[MAX_LABELS];
	unsigned n = 0;

	for (unsigned i = T2X_SAMPLE_LABELS; i + 1 < ev->nargs && n < MAX_LABELS - OWN_LABELS; i += 2, n++) {
		key[n] = put_string(texts, ev->args[i].text, ev->args[i].length);
		value[n] = put_string(texts, ev->args[i + 1].text, ev->args[i + 1].length);
	}
	for (unsigned i = 0; i < n && !texts->error; i++)
		labels[i] = (struct t2x_samples_label){
			.key = (const char *)texts->bytes + key[i], .text = (const char *)texts->bytes + value[i]
		};
	return texts->error ? 0 : n;
}

static const char *program_of(const struct t2x_spans *spans)
{
	const char *name = spans ? t2x_traced_of(spans)->name : NULL;

	return name ? name : "?";
}

static unsigned put_labels(struct t2x_sampled *sampled, const struct t2x_spans *spans, const struct t2x_event *ev,
			   struct t2x_samples_label *labels)
{
	unsigned n, open;
	size_t innermost = 0;

	sampled->texts.n = sampled->regions.n = 0;
	n = put_recorded(labels, &sampled->texts, ev);
	labels[n++] = (struct t2x_samples_label){ .key = "thread", .text = ev->thread->name };
	labels[n++] = (struct t2x_samples_label){
		.key = "pid", .number = spans ? t2x_traced_of(spans)->pid : ev->thread->process->pid
	};
	if (sampled->has_programs)
		labels[n++] = (struct t2x_samples_label){ .key = "program", .text = program_of(spans) };
	open = put_regions(&sampled->regions, spans, &innermost);
	if (open && !sampled->regions.error) {
		const char *text = (const char *)sampled->regions.bytes;
		labels[n++] = (struct t2x_samples_label){ .key = "region", .text = text + innermost };
		labels[n++] = (struct t2x_samples_label){ .key = "regions", .text = text };
	}
	return n;
}

/* ---- samples ------------------------------------------------------------------------------------ */

static void take_sample(struct t2x_sampled *sampled, const struct t2x_spans *spans, const struct t2x_event *ev)
{
	const struct t2x_backtrace *backtrace = t2x_backtraces_get(&sampled->backtraces, ev->scope);
	uint32_t stack[T2X_BACKTRACE_DEPTH];
	struct t2x_samples_label labels[MAX_LABELS];
	struct t2x_sample sample = {
		.stack = stack, .labels = labels, .count = ev->args[T2X_SAMPLE_COUNT].value,
		.value = ev->args[T2X_SAMPLE_VALUE].value, .period = ev->args[T2X_SAMPLE_PERIOD].value,
	};

	if (!backtrace)
		return;
	for (; sample.depth < backtrace->depth; sample.depth++) {
		const struct t2x_address *at = &backtrace->at[sample.depth];
		uint32_t mapping = 0;

		if (at->module)
			mapping = t2x_samples_mapping(sampled->samples, &(struct t2x_samples_mapping){
				.start = at->module->start, .limit = at->module->limit, .offset = at->module->offset,
				.file = at->module->file, .build_id = at->module->build_id,
			});
		stack[sample.depth] = t2x_samples_location(sampled->samples, mapping, at->address);
	}
	sample.nlabels = sampled->has_labels ? put_labels(sampled, spans, ev, labels) : 0;
	if (sampled->is_crash)
		t2x_crash_add(&sampled->crash, ev, &sample);
	else
		t2x_samples_add(sampled->samples, &sample);
}

/* Return  0: no memory, or too many */
static int add_profile(struct t2x_sampled *sampled, const char *category)
{
	struct t2x_sampled_one *one = &sampled->each[sampled->neach];

	if (sampled->neach >= T2X_SAMPLED_MAX)
		return 0;
	one->category = strdup(category);
	one->samples = one->category ? t2x_samples_new(category) : NULL;
	if (!one->samples) {
		free(one->category);
		return 0;
	}
	sampled->neach++;
	return 1;
}

static void use_profile(struct t2x_sampled *sampled, unsigned i)
{
	sampled->category = sampled->each[i].category;
	sampled->samples = sampled->each[i].samples;
}

/* Whether the sample is of the profile that is made; of each profile, it becomes that of the sample. */
static int is_of_profile(struct t2x_sampled *sampled, const char *category)
{
	if (!category)
		return 0;
	if (sampled->category && !strcmp(category, sampled->category))
		return 1;
	if (!sampled->is_each)
		return 0;
	for (unsigned i = 0; i < sampled->neach; i++)
		if (!strcmp(category, sampled->each[i].category)) {
			use_profile(sampled, i);
			return 1;
		}
	if (!add_profile(sampled, category)) {
		sampled->left_out++;
		return 0;
	}
	use_profile(sampled, sampled->neach - 1);
	return 1;
}

void t2x_sampled_event(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_sampled *sampled = printer->own;

	/* 0, too, is larger then: events of one file need not come in the order of time */
	if (ev->ns - 1 < sampled->first_ns - 1 && !ev->is_repeated)
		sampled->first_ns = ev->ns;
	if (ev->ns > sampled->last_ns)
		sampled->last_ns = ev->ns;
	if (ev->lost && ev->lost->what == T2X_LOST_EVENTS)
		sampled->lost += (uint64_t)ev->args[0].value;
	if (ev->style == TLG_STYLE_sample && is_of_profile(sampled, ev->scope->category)) {
		sampled->is_there = 1;
		take_sample(sampled, ev->spans, ev);
	}
	if (sampled->has_programs && ev->spans)
		t2x_processes_name(t2x_traced_of(ev->spans), ev);
	if (ev->style == TLG_STYLE_region_enter)
		t2x_processes_enter(&sampled->processes, ev);
	else if (ev->spans && ev->style == TLG_STYLE_thread_exit)
		t2x_spans_end_thread(printer->spans, ev->spans);
}

/* ---- life --------------------------------------------------------------------------------------- */

static void free_sampled(struct t2x_printer *printer)
{
	struct t2x_sampled *sampled = printer->own;

	if (!sampled->is_each)
		t2x_samples_free(sampled->samples);
	for (unsigned i = 0; i < sampled->neach; i++) {
		t2x_samples_free(sampled->each[i].samples);
		free(sampled->each[i].category);
	}
	free(sampled->each);
	t2x_processes_free(&sampled->processes);
	t2x_backtraces_free(&sampled->backtraces);
	t2x_crash_free(&sampled->crash);
	t2x_bytes_free(&sampled->regions);
	t2x_bytes_free(&sampled->texts);
	free(sampled);
	printer->own = NULL;
}

const char *t2x_sampled_profile(const struct t2x_printer *printer)
{
	return t2x_option(&printer->options, T2X_OPTION_profile);
}

/* Return  0: no memory */
static int begin_one(struct t2x_sampled *sampled, const char *profile)
{
	const struct t2x_prof_kind *kind = t2x_prof_kind_of(profile);

	sampled->category = kind->name ? t2x_prof_kinds[kind->recorded].name : profile;
	sampled->samples = t2x_samples_new(profile);
	return sampled->samples != NULL;
}

static int begin_each(struct t2x_sampled *sampled)
{
	sampled->is_each = 1;
	sampled->each = calloc(T2X_SAMPLED_MAX, sizeof(sampled->each[0]));
	return sampled->each != NULL;
}

int t2x_sampled_begin(struct t2x_printer *printer, const char *profile, int has_labels)
{
	struct t2x_sampled *sampled = calloc(1, sizeof(*sampled));

	if (!sampled)
		return -ENOMEM;
	sampled->processes.forgets_frames = 1;   /* a sample's regions are open ones, by their names */
	sampled->processes.frames.max_bytes = T2X_FRAMES_BYTES;
	t2x_processes_begin(&sampled->processes, printer);
	sampled->has_labels = has_labels;
	printer->own = sampled;
	if (profile ? begin_one(sampled, profile) : begin_each(sampled))
		return 0;
	free_sampled(printer);
	return -ENOMEM;
}

void t2x_sampled_label_programs(struct t2x_printer *printer)
{
	struct t2x_sampled *sampled = printer->own;

	sampled->has_programs = 1;
}

void t2x_sampled_as_crash(struct t2x_printer *printer)
{
	struct t2x_sampled *sampled = printer->own;

	sampled->is_crash = 1;
}

static void name_location(struct t2x_samples *samples, struct t2x_namer *namer, uint32_t location)
{
	struct t2x_samples_line lines[T2X_NAMES_MAX];
	struct t2x_samples_mapping mapping;
	const struct t2x_names *names;
	struct t2x_module module;

	if (!t2x_samples_mapping_of(samples, location, &mapping))
		return;
	module = (struct t2x_module){ mapping.start, mapping.limit, mapping.offset, mapping.file, mapping.build_id };
	names = t2x_namer_find(namer, &module, t2x_samples_address(samples, location));
	for (unsigned i = 0; names && i < names->n; i++)
		lines[i] = (struct t2x_samples_line){
			.function = names->at[i].function, .system_name = names->at[i].system_name,
			.file = names->at[i].file, .line = names->at[i].line, .start_line = names->at[i].start_line,
		};
	t2x_samples_symbolize(samples, location, lines, names ? names->n : 0);
}

static void end_profile(struct t2x_printer *printer)
{
	struct t2x_sampled *sampled = printer->own;
	char lost[T2X_MAX_DIGITS + sizeof(" events lost")];

	if (!sampled->is_there)
		t2x_report_note(&(struct t2x_report){ .to = stderr }, sampled->category,
				"there are no samples of this profile to show");
	for (uint32_t i = 1; i <= t2x_samples_locations(sampled->samples); i++)
		name_location(sampled->samples, printer->options.namer, i);
	t2x_samples_set_time(sampled->samples, sampled->first_ns, sampled->last_ns - sampled->first_ns);
	if (!sampled->lost)
		return;
	memcpy(t2x_put_uint(lost, sampled->lost), " events lost", sizeof(" events lost"));
	t2x_samples_comment(sampled->samples, lost);
}

static int write_out(void *target, const char *bytes, size_t n)
{
	t2x_out_bytes(target, bytes, n);
	return 0;
}

void t2x_sampled_finish(struct t2x_printer *printer,
			int write(struct t2x_samples *samples, t2x_write_fn *write, void *target))
{
	struct t2x_sampled *sampled = printer->own;
	int error;

	end_profile(printer);
	if (sampled->is_crash)
		error = t2x_crash_write(&sampled->crash, sampled->samples, printer->out);
	else
		error = write(sampled->samples, write_out, printer->out);
	if (error && !printer->out->error)
		printer->out->error = error;
	free_sampled(printer);
}

unsigned t2x_sampled_show(struct t2x_printer *printer, t2x_show_samples_fn *show)
{
	struct t2x_sampled *sampled = printer->own;
	unsigned n = sampled->is_each ? sampled->neach : 1;
	int error = 0;

	if (sampled->left_out)
		t2x_report_note(&(struct t2x_report){ .to = stderr }, "samples",
				"%" PRIu64 " are left out: of more than %d profiles",
				sampled->left_out, T2X_SAMPLED_MAX);
	for (unsigned i = 0; i < n && !error; i++) {
		if (sampled->is_each)
			use_profile(sampled, i);
		end_profile(printer);
		error = show(sampled->samples, printer, i);
	}
	if (error && !printer->out->error)
		printer->out->error = error;
	free_sampled(printer);
	return n;
}
