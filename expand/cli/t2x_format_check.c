/* SPDX-License-Identifier: MIT */
/* t2x_format_check.c - see t2x_format_check.h. */
#include "t2x_format_check.h"

#include <stdio.h>
#include <string.h>

#include "t2x_refuse.h"
#include "t2x_usage.h"
#include "t2x_value.h"
#include "query/t2x_lines.h"
#include "text/t2x_formats.h"

enum { MAX_NESTING = 1000000 };

void t2x_check_word(const struct t2x_format_option *option, const char *text)
{
	char what[128];

	if (!option->value || !strchr(option->value, '|') || t2x_format_is_one_of(option->value, text))
		return;
	snprintf(what, sizeof(what), "--%s is %s, not", option->name, option->value);
	t2x_refuse(what, text);
}

/* Both formats that have --by know words that mean nothing to the other. */
static void check_by(const struct t2x_format *format, const char *by)
{
	static const char of_both[] = "process|thread", of_report[] = "program|region|label:KEY";
	int is_report = format == &t2x_formats[T2X_FORMAT_report];
	int is_of_report = by && t2x_format_is_one_of(of_report, by);

	if (by && is_report && !is_of_report && !t2x_format_is_one_of(of_both, by))
		t2x_refuse("--by of a report is process, program, thread, region or label:KEY, not", by);
	if (is_of_report && !is_report)
		t2x_refuse("--by of a summary is process, thread, message or data:CATEGORY/KEY, not", by);
}

void t2x_check_format_options(const struct t2x_format *format, const char *const *values, struct t2x_options *options)
{
	char names[256], what[320];
	const char *nesting;

	for (unsigned i = 0; i < T2X_OPTIONS; i++) {
		const struct t2x_format_option *option = &t2x_format_options[i];

		if (!values[i])
			continue;
		snprintf(what, sizeof(what), "--%s is not a number", option->name);
		if (option->value && !strcmp(option->value, "N"))
			t2x_value_number(what, values[i], UINT32_MAX);
		t2x_check_word(option, values[i]);
		snprintf(what, sizeof(what), "--%s is not for --format=%s, only for", option->name,
			 format->name);
		if (!t2x_format_has(format, option))
			t2x_refuse(what, t2x_usage_names(names, sizeof(names), option));
	}
	options->values = values;
	if (t2x_option(options, T2X_OPTION_columns) && !t2x_lines_columns(t2x_option(options, T2X_OPTION_columns)))
		t2x_refuse("--columns is pid, program or pid,program, not", t2x_option(options, T2X_OPTION_columns));
	if (t2x_option(options, T2X_OPTION_last) &&
	    !t2x_value_number("", t2x_option(options, T2X_OPTION_last), UINT32_MAX))
		t2x_refuse("--last is at least 1, not", t2x_option(options, T2X_OPTION_last));
	if (t2x_option(options, T2X_OPTION_debug) && !t2x_option(options, T2X_OPTION_profile))
		t2x_refuse("--debug needs --profile", NULL);
	check_by(format, t2x_option(options, T2X_OPTION_by));
	options->samples = t2x_option(options, T2X_OPTION_samples) != NULL;
	options->brief = t2x_option(options, T2X_OPTION_brief) != NULL;
	options->ns = t2x_option(options, T2X_OPTION_ns) != NULL;
	nesting = t2x_option(options, T2X_OPTION_nesting);
	options->nesting = nesting ? t2x_value_number("", nesting, MAX_NESTING) : T2X_DEFAULT_NESTING;
}
