/* SPDX-License-Identifier: MIT */
/* t2x_usage.c - see t2x_usage.h. */
#include "t2x_usage.h"

#include "query/t2x_filter.h"

static const char synopsis[] =
	"usage: t2expand [--format=FORMAT] [FORMAT OPTION]... [FILTER]... [--layout=FILE] [--raw-text]\n"
	"                [--color=WHEN] [--no-pager] [--quiet] [--jobs=N] [-o FILE | --output=FILE] FILE|DIRECTORY...\n"
	"       t2expand [--recover=RINGFILE]... [--recover-all] [--delete] [OPTION]... [FILE|DIRECTORY...]\n"
	"       t2expand --recover-all [--ring-pid=PID] [--ring-program=GLOB] [--ring-user=USER] [--ring-older=AGE]\n"
	"                [--ring-newer=AGE] [--output=DIRECTORY/] [--delete] [OPTION]...\n"
	"       t2expand --live=PID [OPTION]... [FILE|DIRECTORY...]\n"
	"       t2expand --show_format[=xml|md] | --list-formats | --help | --version\n"
	"\n"
	"Expand .tlg files, merged by time; - is standard input, a directory all *.tlg files in it.\n";

static const char options[] =
	"Options:\n"
	"  --layout=FILE    the files come from another platform, whose --show_format wrote FILE\n"
	"  --raw-text       to a terminal, too, control characters and other unsafe bytes as they are, not as \\xNN\n"
	"  --color=WHEN     auto (default): perf and tree have colours on a terminal; always; never\n"
	"  --no-pager       not through a pager ($T2_PAGER, $PAGER, less), which is for terminals\n"
	"  --quiet          no line that shows the progress\n"
	"  --recover=FILE   what a killed process left in its ring file, joined with its .tlg file\n"
	"  --recover-all    the same of all ring files of your dead processes\n"
	"  --ring-pid=PID   of these only those of the process; likewise\n"
	"  --ring-program=GLOB, --ring-user=USER   of programs with such a name; of another user\n"
	"  --ring-older=AGE, --ring-newer=AGE      whose last sign of life is older, newer: 90s, 10m, 2h, 7d, 4w\n"
	"  --output=DIR/    of ring files: one new file for each process, named after it\n"
	"  --delete         remove these ring files when the output is complete\n"
	"  --live=PID       what a running process has recorded up to now; it is not disturbed\n"
	"  --jobs=N         use up to N threads (default 1): reading and formatting go on side by side\n"
	"  --show_format    print the layout of this machine's events\n"
	"  --list-formats   print the formats, a line each\n"
	"  --summary[=FORM] the same as --format=summary [--as=FORM]\n"
	"Exit status: 0; 3 parts are damaged, the rest was expanded; 1 unusable input or output; 2 usage\n";

static void put_option(FILE *to, const struct t2x_format_option *option)
{
	char words[80];

	snprintf(words, sizeof(words), "--%s%s%s", option->name, option->value ? "=" : "",
		 option->value ? option->value : "");
	fprintf(to, "  %-16s %s%s%s\n", words, option->formats, *option->formats ? ": " : "", option->help);
}

static void put_filter(FILE *to, const struct t2x_filter_help *filter)
{
	char words[32];

	snprintf(words, sizeof(words), "--%s=%s", filter->option, filter->value);
	fprintf(to, "  %-19s %s\n", words, filter->help);
}

void t2x_usage_help(FILE *to)
{
	fputs(synopsis, to);
	fputs("Formats (the default is perf):\n", to);
	for (unsigned i = 0; i < T2X_FORMATS; i++)
		fprintf(to, "  %-16s %s\n", t2x_formats[i].name, t2x_formats[i].help);
	fputs("Options of formats:\n", to);
	for (unsigned i = 0; i < T2X_OPTIONS; i++)
		put_option(to, &t2x_format_options[i]);
	fputs("Filters (GLOBS: patterns with commas between them; !GLOB: not these):\n", to);
	for (unsigned i = 0; i < T2X_FILTER_OPTIONS; i++)
		put_filter(to, &t2x_filter_options[i]);
	fputs(options, to);
}

void t2x_usage_formats(FILE *to)
{
	static const char *const names[] = { "live", "json", "binary", "raw" };

	for (unsigned i = 0; i < T2X_FORMATS; i++) {
		const struct t2x_format *format = &t2x_formats[i];
		char traits[64];
		size_t n = 0;

		for (unsigned bit = 0; bit < sizeof(names) / sizeof(names[0]); bit++)
			if (format->traits >> bit & 1)
				n += (size_t)snprintf(traits + n, sizeof(traits) - n, "%s%s", n ? "," : "", names[bit]);
		fprintf(to, "%-10s %-10s %-10s %s\n", format->name, format->suffix, n ? traits : "-", format->help);
	}
}

const char *t2x_usage_names(char *to, size_t size, const struct t2x_format_option *option)
{
	size_t n = 0;

	to[0] = '\0';
	for (unsigned i = 0; i < T2X_FORMATS; i++)
		if ((!option || t2x_format_has(&t2x_formats[i], option)) && n < size)
			n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", " : "", t2x_formats[i].name);
	return to;
}
