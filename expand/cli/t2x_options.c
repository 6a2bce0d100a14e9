/* SPDX-License-Identifier: MIT */
/* t2x_options.c - the command line: reading it, refusing it, answering what it asks of t2expand itself. */
#include "t2x_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/t2x_report.h"
#include "parallel/t2x_pool.h"
#include "t2x_format_check.h"
#include "t2x_refuse.h"
#include "t2x_suggest.h"
#include "t2x_usage.h"
#include "t2x_value.h"
#include "t2x_watched.h"
#include "export/t2x_html_page.h"
#include "query/t2x_lines.h"
#include "query/t2x_summary.h"

/* What getopt calls them: those of the table, those of formats, the filters. */
enum {
	OPTION_FIRST = 255,
#define T2X_CLI_OPTION(id, name, value, group, commands, help) OPTION_##id,
#include "t2x_options.def"
	FORMAT_OPTION,
	FILTER_OPTION = FORMAT_OPTION + T2X_OPTIONS
};

/* Leave after having printed something to standard output. */
static void leave(void)
{
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE)
			exit(T2X_EXIT_PIPE);
		fprintf(stderr, "%s: standard output: %s\n", t2x_report_name(), strerror(errno));
		exit(T2X_EXIT_UNUSABLE);
	}
	exit(EXIT_SUCCESS);
}

static void show_format(const char *how)
{
	if (!t2x_usage_layout(stdout, how))
		t2x_refuse("--show_format is xml or md, not", how);
	leave();
}

static const struct t2x_format *find_format(const char *name)
{
	const struct t2x_format *format = t2x_format_find(name);
	char names[256], what[320];

	snprintf(what, sizeof(what), "--format is one of %s, not", t2x_usage_names(names, sizeof(names), NULL));
	if (!format)
		t2x_refuse(what, name);
	if (format == &t2x_formats[T2X_FORMAT_html] && !t2x_html_page_bytes())
		t2x_refuse("--format=html is not in this build, which was made without node", NULL);
	return format;
}

static void run_out(void)
{
	fprintf(stderr, "%s: %s\n", t2x_report_name(), strerror(ENOMEM));
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

/* Which ring files.  Return  0: option says something else */
static int take_selection(struct t2x_selection *select, int option)
{
	switch (option) {
	case OPTION_RING_PID:
		select->pid = t2x_value_pid("--ring-pid is not a process id", optarg);
		return 1;
	case OPTION_RING_PROGRAM:
		select->program = optarg;
		return 1;
	case OPTION_RING_USER:
		select->user = t2x_value_user(optarg);
		return 1;
	case OPTION_RING_OLDER:
		select->older = t2x_value_age("--ring-older is not an age such as 90s, 10m, 2h or 7d", optarg);
		select->has_older = 1;
		return 1;
	case OPTION_RING_NEWER:
		select->newer = t2x_value_age("--ring-newer is not an age such as 90s, 10m, 2h or 7d", optarg);
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
		t2x_refuse(what, optarg);
}

/* What belongs to ring files.  Return  0: option does not */
static int take_ring_option(struct t2x_settings *settings, int option)
{
	switch (option) {
	case OPTION_RECOVER:
		add_ring(settings, optarg);
		return 1;
	case OPTION_SECONDS:
		if (t2x_when_parse_duration(&settings->seconds_ns, optarg) || !settings->seconds_ns)
			t2x_refuse("--seconds is not a time such as 10, 1.5 or 5m", optarg);
		return 1;
	case OPTION_AT:
		if (t2x_when_parse(&settings->at, optarg) || settings->at.kind == T2X_WHEN_FROM_END)
			t2x_refuse("--at is no time, or counts from the end", optarg);
		return 1;
	case OPTION_LIVE:
		settings->live = t2x_value_pid("--live is not a process id", optarg);
		return 1;
	default:
		if (!take_selection(&settings->select, option))
			return 0;
		settings->selects = 1;
		return 1;
	}
}

/* What it asks of t2expand itself is answered, and that is all. */
static void answer(const struct t2x_front *front, int option)
{
	static char whole[65536];

	/* no answer is longer, so leave() writes all of it, and sees why it cannot */
	setvbuf(stdout, whole, _IOFBF, sizeof(whole));
	switch (option) {
	case OPTION_SHOW_FORMAT:
		show_format(optarg);
		break;
	case OPTION_LIST_FORMATS:
		t2x_usage_formats(stdout);
		leave();
		break;
	case OPTION_LIST_OPTIONS:
		t2x_usage_options(stdout, front);
		leave();
		break;
	case 'h':
	case OPTION_HELP:
		if (optarg && strcmp(optarg, "all"))
			t2x_refuse("--help is for all, not", optarg);
		t2x_usage_help(stdout, front, optarg != NULL);
		leave();
		break;
	case OPTION_VERSION:
		t2x_usage_version(stdout, front);
		leave();
		break;
	default:
		break;
	}
}

/* Options that are given or not, and those whose value is taken as it is. */
#define AT(member) offsetof(struct t2x_settings, member)
static const struct { int option; size_t at; } flags[] = {
	{ OPTION_RAW_TEXT, AT(raw_text) }, { OPTION_NO_PAGER, AT(no_pager) }, { OPTION_QUIET, AT(quiet) },
	{ OPTION_DIFF, AT(is_diff) }, { OPTION_TIMES, AT(has_times) },
	{ OPTION_DURATIONS, AT(has_durations) },
	{ OPTION_DEBUGINFOD, AT(places.uses_debuginfod) },
	{ OPTION_RECOVER_ALL, AT(recover_all) }, { OPTION_DELETE, AT(delete_rings) },
	{ OPTION_ONCE, AT(is_once) },
}, texts[] = {
	{ 'o', AT(output) }, { OPTION_OUTPUT, AT(output) }, { OPTION_LAYOUT, AT(layout) },
	{ OPTION_BINARIES, AT(places.binaries) }, { OPTION_DEBUG_DIR, AT(places.debug_dir) },
};
#undef AT

static void take_simple(struct t2x_settings *settings, int option)
{
	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (option == flags[i].option)
			*(int *)((char *)settings + flags[i].at) = 1;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (option == texts[i].option)
			*(const char **)((char *)settings + texts[i].at) = optarg;
	settings->is_diff |= settings->has_times;
}

static void take_option(struct t2x_settings *settings, int option)
{
	take_simple(settings, option);
	answer(&settings->front, option);
	switch (option) {
	case OPTION_FORMAT:
		settings->format = find_format(optarg);
		settings->has_format = 1;
		break;
	case OPTION_JOBS:
		settings->jobs = t2x_value_number("--jobs is not a number", optarg, T2X_POOL_MAX + 1);
		if (!settings->jobs)
			t2x_refuse("--jobs is at least 1, not", optarg);
		break;
	case OPTION_COLOR:
		settings->color = t2x_value_when(optarg);
		break;
	case OPTION_SUMMARY:
		settings->format = &t2x_formats[T2X_FORMAT_summary];
		settings->has_format = 1;
		if (optarg)
			settings->values[T2X_OPTION_as] = optarg;
		break;
	case OPTION_THRESHOLD:
		settings->threshold = t2x_value_percent(optarg);
		break;
	default:
		if (option >= FILTER_OPTION)
			take_filter(&settings->filter, (enum t2x_filter_option)(option - FILTER_OPTION));
		else if (option >= FORMAT_OPTION)
			settings->values[option - FORMAT_OPTION] = optarg ? optarg : "";
		else
			take_ring_option(settings, option);
	}
}

/* It says so, or there is one of this name. */
static int is_directory(const char *path)
{
	size_t n = path ? strlen(path) : 0;
	struct stat st;

	return n && (path[n - 1] == '/' || (!stat(path, &st) && S_ISDIR(st.st_mode)));
}

/* Readers of CTF want a directory.  They get an archive on a pipe or device, and where its name says so. */
static int is_archive(const char *path)
{
	size_t n = path ? strlen(path) : 0;
	struct stat st;

	if (!n || !strcmp(path, "-") || (n >= 4 && !strcmp(path + n - 4, ".tar")))
		return 1;
	return !stat(path, &st) && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode);
}

static void check_rings(struct t2x_settings *settings)
{
	int recovers = settings->nrings || settings->recover_all;

	settings->is_directory = is_directory(settings->output);
	settings->unpacks = settings->format == &t2x_formats[T2X_FORMAT_ctf] && !settings->live && !settings->is_diff &&
			    (settings->is_directory ? !recovers : !is_archive(settings->output));
	settings->is_directory &= !settings->unpacks;
	if (!settings->npaths && !recovers && !settings->live && !settings->watched.what)
		t2x_refuse("no file to expand", NULL);
	if (recovers && settings->live)
		t2x_refuse("--live does not go with --recover", NULL);
	if (settings->delete_rings && !recovers)
		t2x_refuse("--delete needs --recover or --recover-all", NULL);
	if (settings->selects && !settings->recover_all)
		t2x_refuse("--ring-pid, --ring-program, --ring-user, --ring-older and --ring-newer need --recover-all",
		       NULL);
	if (settings->is_directory && !recovers && !settings->live)
		t2x_refuse("an output that is a directory needs --recover, --recover-all, --live or --format=ctf",
		       settings->output);
	if (settings->is_directory && settings->npaths)
		t2x_refuse("no file goes with an output that is a directory", settings->paths[0]);
}

/* Raw events have no meaning yet to filter by; and what comes from a pipe, or is made, cannot be read twice. */
static void check_filter(struct t2x_settings *settings)
{
	struct t2x_filter *filter = &settings->filter;

	filter->writer = t2x_lines_writer(settings->format->writer, &settings->options);
	filter->writer = t2x_summary_writer(filter->writer, &settings->options);
	settings->options.filter = filter;
	if (filter->is_on && settings->format->traits & T2X_TRAIT_RAW)
		t2x_refuse("no filter is for raw events, --format", settings->format->name);
	if (t2x_filter_needs_end(filter) &&
	    (settings->nrings || settings->recover_all || settings->live || settings->watched.what))
		t2x_refuse("--since and --until cannot count from the end of what runs, or is recovered", NULL);
}

/* Operands behind --. */
static unsigned count_behind(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--"))
		i++;
	return i < argc ? (unsigned)(argc - i - 1) : 0;
}

/* With --diff, --as is how the comparison looks; json and csv imply --times. */
static void take_form(struct t2x_settings *settings)
{
	const char *as = settings->values[T2X_OPTION_as];

	if (!settings->is_diff || !as)
		return;
	t2x_check_word(&t2x_format_options[T2X_OPTION_as], as);
	settings->diff_form = *as == 'j' ? T2X_DIFF_JSON : *as == 'c' ? T2X_DIFF_CSV : T2X_DIFF_TABLE;
	settings->has_times |= settings->diff_form != T2X_DIFF_TABLE;
	settings->values[T2X_OPTION_as] = NULL;
	if (settings->diff_form && settings->has_durations)
		t2x_refuse("--durations is for people: not with --as", as);
}

/* One run of each, or several with -- between them. */
static void check_diff(struct t2x_settings *settings, unsigned behind)
{
	if (!settings->is_diff && (settings->threshold >= 0 || settings->has_durations))
		t2x_refuse(settings->has_durations ? "--durations needs --diff" : "--threshold needs --diff", NULL);
	if (!settings->is_diff)
		return;
	settings->new_runs = !behind && settings->npaths == 2 ? 1 : behind;
	if (!settings->new_runs || settings->new_runs >= settings->npaths)
		t2x_refuse("--diff needs OLD NEW, or OLD... -- NEW...", NULL);
	if (settings->nrings || settings->recover_all || settings->live || settings->is_directory)
		t2x_refuse("--diff is for files and directories, into one output", NULL);
}

/* What t2 stacks shows, unless told otherwise. */
static void take_asked(struct t2x_settings *settings)
{
	settings->asks = settings->front.command && settings->front.command->takes == T2X_TAKES_ASKED;
	if (!settings->asks || settings->has_format)
		return;
	settings->format = &t2x_formats[T2X_FORMAT_pprof];
	settings->values[T2X_OPTION_profile] = "threads";
	if (!settings->values[T2X_OPTION_debug])
		settings->values[T2X_OPTION_debug] = "2";
}

static struct option make_option(const char *name, const char *value, int id)
{
	int argument = !value ? no_argument : *value == '[' ? optional_argument : required_argument;

	return (struct option){ name, argument, NULL, id };
}

/* The operands: those that the command takes for itself, and paths. */
static void take_operands(struct t2x_settings *settings, char **operands, unsigned n)
{
	const struct t2x_command *command = settings->front.command;
	enum t2x_takes takes = command ? command->takes : T2X_TAKES_FILES;
	unsigned taken = 0;

	if (takes == T2X_TAKES_FORMAT && !settings->has_format)
		t2x_refuse("needs --format=FORMAT", NULL);
	if (takes == T2X_TAKES_LAYOUT) {
		if (n > 1)
			t2x_refuse("takes one word", operands[1]);
		show_format(n ? operands[0] : NULL);
	}
	if (takes == T2X_TAKES_RINGS) {
		settings->recover_all |= !n && !settings->nrings;
		while (taken < n)
			add_ring(settings, operands[taken++]);
	}
	if ((takes == T2X_TAKES_PID && !settings->live) || settings->asks) {
		settings->live = t2x_value_pid(n ? "not a process id" : "needs a process id",
					       n ? operands[taken++] : NULL);
	}
	if (t2x_watched_is_meant(takes)) {
		settings->watched = t2x_watched_take(takes, settings->format, &settings->options, operands, n);
		settings->no_pager |= !settings->watched.is_state;
		settings->raw_text |= settings->watched.is_top;   /* it draws, and escapes what is not its own */
		taken = n;
	} else if (settings->seconds_ns || settings->at.kind || settings->is_once) {
		t2x_refuse("--seconds is for t2 follow, --once for t2 top, --at for t2 state", NULL);
	}
	if (settings->asks && taken < n)
		t2x_refuse("takes one process id", operands[taken]);
	settings->paths = operands + taken;
	settings->npaths = n - taken;
	if (settings->npaths == 1 && takes != T2X_TAKES_RINGS && strcmp(settings->paths[0], "-") != 0)
		settings->options.source = settings->paths[0];
}

/* What the messages begin with: the program and its command. */
static void set_name(const struct t2x_front *front)
{
	static char name[32];

	if (!front->is_t2)
		return;
	snprintf(name, sizeof(name), "t2%s%s", front->command ? " " : "", front->command ? front->command->name : "");
	t2x_report_set_name(name);
}

/* It is a trace, whose command was left out, or like a command. */
static void refuse_command(const char *word)
{
	struct t2x_suggestion suggestion = { .word = word };
	char meant[PATH_MAX];

	for (const struct t2x_command *command = t2x_commands; command->name; command++)
		t2x_suggest_try(&suggestion, command->name);
	snprintf(meant, sizeof(meant), "t2 %s%s", suggestion.best ? suggestion.best : "show ",
		 suggestion.best ? "" : word);
	t2x_refuse_word("no such command", word, suggestion.best || !access(word, F_OK) ? meant : NULL);
}

/* What t2 alone, or an unknown command, comes to. */
static void check_front(const struct t2x_front *front, int argc)
{
	set_name(front);
	if (front->unknown)
		refuse_command(front->unknown);
	if (front->is_t2 && !front->command && argc < 2) {
		t2x_usage_help(stderr, front, 0);
		exit(T2X_EXIT_USAGE);
	}
}

void t2x_options_read(struct t2x_settings *settings, int argc, char **argv)
{
	struct option all[T2X_CLI_OPTIONS + T2X_OPTIONS + T2X_FILTER_OPTIONS + 1] = { 0 }, *next = all;
	unsigned behind = count_behind(argc, argv);
	int option;

	*settings = (struct t2x_settings){
		.format = &t2x_formats[T2X_FORMAT_perf], .jobs = 1, .threshold = -1, .select = { .user = geteuid() },
	};
	settings->front = t2x_front_take(&argc, &argv);
	check_front(&settings->front, argc);
	for (int i = 0; i < T2X_CLI_OPTIONS; i++)
		*next++ = make_option(t2x_cli_options[i].name, t2x_cli_options[i].value, OPTION_FIRST + 1 + i);
	for (int i = 0; i < T2X_OPTIONS; i++)
		*next++ = make_option(t2x_format_options[i].name, t2x_format_options[i].value, FORMAT_OPTION + i);
	for (int i = 0; i < T2X_FILTER_OPTIONS; i++)
		*next++ = make_option(t2x_filter_options[i].option, t2x_filter_options[i].value, FILTER_OPTION + i);
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":ho:", all, NULL)) != -1) {
		if (option == '?' || option == ':')
			t2x_refuse_option(all, option, argv[optind - 1]);
		take_option(settings, option);
	}
	take_asked(settings);
	take_form(settings);
	t2x_check_format_options(settings->format, settings->values, &settings->options);
	take_operands(settings, argv + optind, (unsigned)(argc - optind));
	check_rings(settings);
	check_filter(settings);
	check_diff(settings, behind);
}
