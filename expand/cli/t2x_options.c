/* SPDX-License-Identifier: MIT */
/* t2x_options.c - the command line: reading it, refusing it, answering what it asks of t2expand itself. */
#include "t2x_options.h"

#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_pool.h"
#include "t2x_usage.h"
#include "tlg.h"
#include "tlg_show.h"
#include "export/t2x_html_page.h"

enum { MAX_NESTING = 1000000 };

/* Options without a letter; from FORMAT_OPTION on, those of formats; from FILTER_OPTION on, the filters. */
enum {
	RING_PID = 256, RING_PROGRAM, RING_USER, RING_OLDER, RING_NEWER, LIST_FORMATS, SUMMARY,
	FORMAT_OPTION, FILTER_OPTION = FORMAT_OPTION + T2X_OPTIONS
};

static void put_to_stdout(void *to, const char *text, size_t n)
{
	(void)to;
	fwrite(text, 1, n, stdout);
}

/* Leave after having printed something to standard output. */
static void leave(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "t2expand: standard output: %s\n", strerror(errno));
		exit(T2X_EXIT_UNUSABLE);
	}
	exit(EXIT_SUCCESS);
}

static void refuse(const char *what, const char *value)
{
	int is_empty = value && !*value;

	fprintf(stderr, "t2expand: %s%s%s (t2expand --help tells more)\n", what, value ? ": " : "",
		!value ? "" : is_empty ? "\"\"" : value);
	exit(T2X_EXIT_USAGE);
}

static void show_format(const char *how)
{
	if (!how || !strcmp(how, "xml"))
		tlg_show_xml(put_to_stdout, NULL);
	else if (!strcmp(how, "md"))
		tlg_show_md(put_to_stdout, NULL);
	else
		refuse("--show_format is xml or md, not", how);
	leave();
}

static const struct t2x_format *find_format(const char *name)
{
	const struct t2x_format *format = t2x_format_find(name);
	char names[256], what[320];

	snprintf(what, sizeof(what), "--format is one of %s, not", t2x_usage_names(names, sizeof(names), NULL));
	if (!format)
		refuse(what, name);
	if (format == &t2x_formats[T2X_FORMAT_html] && !t2x_html_page_bytes())
		refuse("--format=html is not in this build, which was made without node", NULL);
	return format;
}

static enum t2x_when find_when(const char *text)
{
	if (text && strcmp(text, "auto") && strcmp(text, "always") && strcmp(text, "never"))
		refuse("--color is one of auto, always, never, not", text);
	return !text || !strcmp(text, "always") ? T2X_ALWAYS : !strcmp(text, "never") ? T2X_NEVER : T2X_AUTO;
}

/* The number that is the value of an option; larger ones are max. */
static unsigned find_number(const char *option, const char *text, unsigned max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end)
		refuse(option, text);
	return n > max ? max : (unsigned)n;
}

static uint32_t find_pid(const char *option, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '1' || *text > '9' || *end || n > INT32_MAX)
		refuse(option, text);
	return (uint32_t)n;
}

static void run_out(void)
{
	fprintf(stderr, "t2expand: %s\n", strerror(ENOMEM));
	exit(T2X_EXIT_UNUSABLE);
}

static void add_ring(struct t2x_settings *settings, char *path)
{
	char **rings = realloc(settings->rings, (settings->nrings + 1) * sizeof(*rings));

	if (!rings)
		run_out();
	settings->rings = rings;
	rings[settings->nrings++] = path;
}

/* Seconds. */
static uint64_t find_age(const char *option, const char *text)
{
	static const char units[] = "smhdw";
	static const unsigned seconds[] = { 1, 60, 3600, 86400, 604800 };
	const char *unit;
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	unit = *end ? strchr(units, *end) : units;
	if (*text < '0' || *text > '9' || !unit || (*end && end[1]) || n > UINT32_MAX)
		refuse(option, text);
	return unit ? (uint64_t)n * seconds[unit - units] : 0;
}

/* A name, or a number. */
static uid_t find_user(const char *text)
{
	const struct passwd *user = getpwnam(text);
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (user)
		return user->pw_uid;
	if (*text < '0' || *text > '9' || *end || n > UINT32_MAX)
		refuse("--ring-user is not a user", text);
	return (uid_t)n;
}

/* Which ring files.  Return  0: option says something else */
static int take_selection(struct t2x_selection *select, int option)
{
	switch (option) {
	case RING_PID:
		select->pid = find_pid("--ring-pid is not a process id", optarg);
		return 1;
	case RING_PROGRAM:
		select->program = optarg;
		return 1;
	case RING_USER:
		select->user = find_user(optarg);
		return 1;
	case RING_OLDER:
		select->older = find_age("--ring-older is not an age such as 90s, 10m, 2h or 7d", optarg);
		select->has_older = 1;
		return 1;
	case RING_NEWER:
		select->newer = find_age("--ring-newer is not an age such as 90s, 10m, 2h or 7d", optarg);
		select->has_newer = 1;
		return 1;
	default:
		return 0;
	}
}

static void take_filter(struct t2x_filter *filter, enum t2x_filter_option option)
{
	int error = t2x_filter_set(filter, option, optarg);
	char what[64];

	if (error == -ENOMEM)
		run_out();
	snprintf(what, sizeof(what), "--%s makes no sense", t2x_filter_options[option].option);
	if (error)
		refuse(what, optarg);
}

/* What belongs to ring files.  Return  0: option does not */
static int take_ring_option(struct t2x_settings *settings, int option)
{
	switch (option) {
	case 'R':
		add_ring(settings, optarg);
		return 1;
	case 'a':
		settings->recover_all = 1;
		return 1;
	case 'p':
		settings->live = find_pid("--live is not a process id", optarg);
		return 1;
	case 'd':
		settings->delete_rings = 1;
		return 1;
	default:
		settings->selects |= take_selection(&settings->select, option);
		return option >= RING_PID;
	}
}

static void take_option(struct t2x_settings *settings, int option)
{
	switch (option) {
	case 'f':
		settings->format = find_format(optarg);
		break;
	case 'j':
		settings->jobs = find_number("--jobs is not a number", optarg, T2X_POOL_MAX + 1);
		if (!settings->jobs)
			refuse("--jobs is at least 1, not", optarg);
		break;
	case 'o':
		settings->output = optarg;
		break;
	case 'r':
		settings->raw_text = 1;
		break;
	case 'c':
		settings->color = find_when(optarg);
		break;
	case 'P':
		settings->no_pager = 1;
		break;
	case 'q':
		settings->quiet = 1;
		break;
	case 'l':
		settings->layout = optarg;
		break;
	case 's':
		show_format(optarg);
		break;
	case SUMMARY:
		settings->format = &t2x_formats[T2X_FORMAT_summary];
		if (optarg)
			settings->values[T2X_OPTION_as] = optarg;
		break;
	case LIST_FORMATS:
		t2x_usage_formats(stdout);
		leave();
		break;
	case 'h':
		t2x_usage_help(stdout);
		leave();
		break;
	case 'v':
		printf("t2expand for the .tlg format %d.%d\n", TLG_VERSION >> 8, TLG_VERSION & 0xff);
		leave();
		break;
	default:
		if (option >= FILTER_OPTION)
			take_filter(&settings->filter, (enum t2x_filter_option)(option - FILTER_OPTION));
		else if (option >= FORMAT_OPTION)
			settings->values[option - FORMAT_OPTION] = optarg ? optarg : "";
		else if (!take_ring_option(settings, option))
			exit(T2X_EXIT_USAGE);   /* getopt has said what is wrong */
	}
}

/* It says so, or there is one of this name. */
static int is_directory(const char *path)
{
	size_t n = path ? strlen(path) : 0;
	struct stat st;

	return n && (path[n - 1] == '/' || (!stat(path, &st) && S_ISDIR(st.st_mode)));
}

static void check_rings(struct t2x_settings *settings)
{
	int recovers = settings->nrings || settings->recover_all;

	settings->is_directory = is_directory(settings->output);
	if (!settings->npaths && !recovers && !settings->live)
		refuse("no file to expand", NULL);
	if (recovers && settings->live)
		refuse("--live does not go with --recover", NULL);
	if (settings->delete_rings && !recovers)
		refuse("--delete needs --recover or --recover-all", NULL);
	if (settings->selects && !settings->recover_all)
		refuse("--ring-pid, --ring-program, --ring-user, --ring-older and --ring-newer need --recover-all",
		       NULL);
	if (settings->is_directory && !recovers && !settings->live)
		refuse("an output that is a directory needs --recover, --recover-all or --live", settings->output);
	if (settings->is_directory && settings->npaths)
		refuse("no file goes with an output that is a directory", settings->paths[0]);
}

/* Raw events have no meaning yet to filter by; and what comes from a pipe, or is made, cannot be read twice. */
static void check_filter(struct t2x_settings *settings)
{
	struct t2x_filter *filter = &settings->filter;

	filter->writer = settings->format->writer;
	settings->options.filter = filter;
	if (filter->is_on && settings->format->traits & T2X_TRAIT_RAW)
		refuse("no filter is for raw events, --format", settings->format->name);
	if (t2x_filter_needs_end(filter) && (settings->nrings || settings->recover_all || settings->live))
		refuse("--since and --until cannot count from the end with --recover, --recover-all or --live", NULL);
}

/* Whether the text is one of the words, which have | between them. */
static int is_one_of(const char *words, const char *text)
{
	size_t n = strlen(text);

	for (; words; words = strchr(words, '|')) {
		words += *words == '|';
		if (n && !strncmp(words, text, n) && (words[n] == '|' || !words[n]))
			return 1;
	}
	return 0;
}

static void check_word(const struct t2x_format_option *option, const char *text)
{
	char what[128];

	if (!option->value || !strchr(option->value, '|') || is_one_of(option->value, text))
		return;
	snprintf(what, sizeof(what), "--%s is %s, not", option->name, option->value);
	refuse(what, text);
}

/* Those of formats: refuse what is no number, and what the format does not know; fill in what the library has, too. */
static void check_format_options(struct t2x_settings *settings)
{
	struct t2x_options *options = &settings->options;
	char names[256], what[320];

	for (unsigned i = 0; i < T2X_OPTIONS; i++) {
		const struct t2x_format_option *option = &t2x_format_options[i];

		if (!settings->values[i])
			continue;
		snprintf(what, sizeof(what), "--%s is not a number", option->name);
		if (option->value && !strcmp(option->value, "N"))
			find_number(what, settings->values[i], UINT32_MAX);
		check_word(option, settings->values[i]);
		snprintf(what, sizeof(what), "--%s is not for --format=%s, only for", option->name,
			 settings->format->name);
		if (!t2x_format_has(settings->format, option))
			refuse(what, t2x_usage_names(names, sizeof(names), option));
	}
	options->values = settings->values;
	options->brief = t2x_option(options, T2X_OPTION_brief) != NULL;
	options->ns = t2x_option(options, T2X_OPTION_ns) != NULL;
	options->nesting = T2X_DEFAULT_NESTING;
	if (t2x_option(options, T2X_OPTION_nesting))
		options->nesting = find_number("", t2x_option(options, T2X_OPTION_nesting), MAX_NESTING);
}

/* The options, those of formats and the filters at the end; to is as large as all of them. */
static void list_options(struct option *to, const struct option *options, unsigned n)
{
	memcpy(to, options, n * sizeof(*to));
	for (unsigned i = 0; i < T2X_OPTIONS; i++)
		to[n + i] = (struct option){
			t2x_format_options[i].name, t2x_format_options[i].value ? required_argument : no_argument, NULL,
			(int)(FORMAT_OPTION + i)
		};
	n += T2X_OPTIONS;
	for (unsigned i = 0; i < T2X_FILTER_OPTIONS; i++)
		to[n + i] = (struct option){
			t2x_filter_options[i].option, required_argument, NULL, (int)(FILTER_OPTION + i)
		};
	to[n + T2X_FILTER_OPTIONS] = (struct option){ 0 };
}

void t2x_options_read(struct t2x_settings *settings, int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "output", required_argument, NULL, 'o' },
		{ "raw-text", no_argument, NULL, 'r' },
		{ "color", optional_argument, NULL, 'c' },
		{ "no-pager", no_argument, NULL, 'P' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "layout", required_argument, NULL, 'l' },
		{ "recover", required_argument, NULL, 'R' },
		{ "recover-all", no_argument, NULL, 'a' },
		{ "delete", no_argument, NULL, 'd' },
		{ "live", required_argument, NULL, 'p' },
		{ "ring-pid", required_argument, NULL, RING_PID },
		{ "ring-program", required_argument, NULL, RING_PROGRAM },
		{ "ring-user", required_argument, NULL, RING_USER },
		{ "ring-older", required_argument, NULL, RING_OLDER },
		{ "ring-newer", required_argument, NULL, RING_NEWER },
		{ "summary", optional_argument, NULL, SUMMARY },
		{ "show_format", optional_argument, NULL, 's' },
		{ "list-formats", no_argument, NULL, LIST_FORMATS },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
	};
	enum { OPTIONS = sizeof(options) / sizeof(options[0]) };
	struct option all[OPTIONS + T2X_OPTIONS + T2X_FILTER_OPTIONS + 1];
	int option;

	*settings = (struct t2x_settings){
		.format = &t2x_formats[T2X_FORMAT_perf], .jobs = 1, .select = { .user = geteuid() },
	};
	list_options(all, options, OPTIONS);
	while ((option = getopt_long(argc, argv, "o:", all, NULL)) != -1)
		take_option(settings, option);
	check_format_options(settings);
	settings->paths = argv + optind;
	settings->npaths = (unsigned)(argc - optind);
	check_rings(settings);
	check_filter(settings);
}
