/* SPDX-License-Identifier: MIT */
/* t2x_filter.c - what the filters are asked for, and which threads and names match. */
#include "t2x_filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "t2x_filtered.h"
#include "text/t2x_text.h"

const struct t2x_filter_help t2x_filter_options[T2X_FILTER_OPTIONS] = {
#define T2X_FILTER_OPTION(name, option, value, help) { option, value, help },
#include "t2x_filter.def"
#undef T2X_FILTER_OPTION
};

/* A number from 1 up. */
static int set_depth(struct t2x_filter *filter, const char *value)
{
	uint64_t depth = 0;

	for (; *value >= '0' && *value <= '9' && depth <= UINT32_MAX; value++)
		depth = 10 * depth + (uint64_t)(*value - '0');
	if (*value || !depth || depth > UINT32_MAX)
		return -EINVAL;
	filter->max_depth = (unsigned)depth;
	return 0;
}

/* Return  NULL: the option has no patterns */
static struct t2x_patterns *find_patterns(struct t2x_filter *filter, enum t2x_filter_option option)
{
	switch (option) {
	case T2X_FILTER_thread:
		return &filter->thread;
	case T2X_FILTER_pid:
		return &filter->pid;
	case T2X_FILTER_sid:
		return &filter->sid;
	case T2X_FILTER_category:
		return &filter->category;
	case T2X_FILTER_label:
		return &filter->label;
	case T2X_FILTER_event:
		return &filter->event;
	default:
		return NULL;
	}
}

int t2x_filter_set(struct t2x_filter *filter, enum t2x_filter_option option, const char *value)
{
	filter->is_on = 1;
	switch (option) {
	case T2X_FILTER_since:
		return t2x_when_parse(&filter->since, value);
	case T2X_FILTER_until:
		return t2x_when_parse(&filter->until, value);
	case T2X_FILTER_min_duration:
		return t2x_when_parse_duration(&filter->min_ns, value);
	case T2X_FILTER_max_depth:
		return set_depth(filter, value);
	default:
		return t2x_patterns_add(find_patterns(filter, option), value);
	}
}

int t2x_filter_needs_end(const struct t2x_filter *filter)
{
	return filter->since.kind == T2X_WHEN_FROM_END || filter->until.kind == T2X_WHEN_FROM_END;
}

int t2x_filter_selects_process(const struct t2x_filter *filter, const struct t2x_process *process)
{
	char pid[T2X_MAX_DIGITS + 1];

	*t2x_put_uint(pid, process->pid) = '\0';
	/* all patterns are looked at, for t2x_filter_report() */
	return t2x_patterns_select(&filter->pid, pid) & t2x_patterns_select_path(&filter->sid, process->sid);
}

int t2x_filter_selects_thread(const struct t2x_filter *filter, const struct t2x_thread *thread)
{
	return t2x_patterns_select(&filter->thread, thread->name) &
	       t2x_filter_selects_process(filter, thread->process);
}

unsigned t2x_filter_match(const struct t2x_filter *filter, const struct t2x_event *event)
{
	const char *category = event->scope ? event->scope->category : NULL;
	const char *label = event->scope ? event->scope->label : NULL;
	unsigned match = 0;

	if (t2x_patterns_select(&filter->event, t2x_text_event_name(event->style)))
		match |= T2X_FILTER_KIND;
	if (t2x_patterns_select(&filter->category, category) & t2x_patterns_select(&filter->label, label))
		match |= T2X_FILTER_NAMES;
	else if (t2x_patterns_exclude(&filter->category, category) || t2x_patterns_exclude(&filter->label, label))
		match |= T2X_FILTER_EXCLUDED;
	if (event->style == TLG_STYLE_sample)
		match = (match & T2X_FILTER_KIND) | T2X_FILTER_NAMES;
	return match;
}

/* Its labels as --label has them: whether one is selected by name, whether one is excluded. */
static unsigned match_recorded(const struct t2x_filter *filter, const struct t2x_event *event)
{
	unsigned within = 0;
	char text[512];

	for (unsigned i = T2X_SAMPLE_LABELS; filter->label.n && i + 1 < event->nargs; i += 2) {
		const struct t2x_arg *key = &event->args[i], *value = key + 1;
		snprintf(text, sizeof(text), "%.*s=%.*s", (int)key->length, key->text, (int)value->length, value->text);
		if (t2x_patterns_exclude(&filter->label, text))
			within |= T2X_WITHIN_EXCLUDED;
		else if (filter->label.included && !filter->category.n && t2x_patterns_select(&filter->label, text))
			within |= T2X_WITHIN_WANTED;
	}
	return within;
}

int t2x_filter_selects_sample(const struct t2x_filter *filter, const struct t2x_event *event, unsigned within)
{
	within |= match_recorded(filter, event);
	if (within & T2X_WITHIN_EXCLUDED)
		return 0;
	return within & T2X_WITHIN_WANTED || (!filter->category.included && !filter->label.included);
}

unsigned t2x_filter_report(const struct t2x_filter *filter, struct t2x_report *report)
{
	unsigned n = 0;

	for (enum t2x_filter_option option = 0; option < T2X_FILTER_OPTIONS; option++) {
		const struct t2x_patterns *patterns = find_patterns((struct t2x_filter *)(uintptr_t)filter, option);

		for (unsigned i = 0; patterns && i < patterns->n; i++) {
			char name[256];

			if (patterns->excludes[i] || patterns->matched[i])
				continue;
			n++;
			snprintf(name, sizeof(name), "--%s=%s", t2x_filter_options[option].option,
				 patterns->pattern[i]);
			if (report)
				t2x_report_note(report, name, "nothing in the trace matches");
		}
	}
	return n;
}

int t2x_filter_nests(const struct t2x_event *ev)
{
	switch (ev->style) {
	case TLG_STYLE_region_enter:
	case TLG_STYLE_region_leave:
	case TLG_STYLE_data:
	case TLG_STYLE_data_intmax:
	case TLG_STYLE_data_json:
	case TLG_STYLE_step:
	case TLG_STYLE_sample:
		return !ev->lost;
	default:
		return 0;
	}
}

void t2x_filter_free(struct t2x_filter *filter)
{
	t2x_patterns_free(&filter->thread);
	t2x_patterns_free(&filter->pid);
	t2x_patterns_free(&filter->sid);
	t2x_patterns_free(&filter->category);
	t2x_patterns_free(&filter->label);
	t2x_patterns_free(&filter->event);
}

/* ---- the first and the last event -------------------------------------------------------------- */

static void note_time(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_filter *filter = printer->options.filter;

	if (ev->is_repeated)
		return;
	/* 0, too, is larger then */
	if (ev->ns - 1 < filter->first_ns - 1) {
		filter->first_ns = ev->ns;
		filter->utcoff = ev->thread->process->utcoff;
	}
	if (ev->ns > filter->end_ns)
		filter->end_ns = ev->ns;
}

const struct t2x_writer t2x_writer_span = {
	.unresolved = note_time,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = note_time,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
