/* SPDX-License-Identifier: MIT */
/* t2x_options.c - the command line: reading it, refusing it, --help, --version, --show_format. */
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
#include "tlg.h"
#include "tlg_show.h"

enum { MAX_NESTING = 1000000 };

/* Options without a letter. */
enum { RING_PID = 256, RING_PROGRAM, RING_USER, RING_OLDER, RING_NEWER, NANOSECONDS };

static const char *const format_names[T2X_FORMATS] = { "normal", "perf", "event", "tree", "xml", "raw" };

const char *t2x_format_name(enum t2x_format format)
{
	return format_names[format];
}

static const char usage_text[] =
	"usage: t2expand [--format=normal|perf|event|tree|xml|raw] [--brief] [--nesting=N] [--ns]\n"
	"                [--layout=FILE] [--raw-text] [--jobs=N] [-o FILE | --output=FILE] FILE|DIRECTORY...\n"
	"       t2expand [--recover=RINGFILE]... [--recover-all] [--delete] [OPTION]... [FILE|DIRECTORY...]\n"
	"       t2expand --recover-all [--ring-pid=PID] [--ring-program=GLOB] [--ring-user=USER] [--ring-older=AGE]\n"
	"                [--ring-newer=AGE] [--output=DIRECTORY/] [--delete] [OPTION]...\n"
	"       t2expand --live=PID [OPTION]... [FILE|DIRECTORY...]\n"
	"       t2expand --show_format[=xml|md]\n"
	"       t2expand --help | --version\n"
	"\n"
	"Expand .tlg files, merged by time; - is standard input, a directory all *.tlg files in it.\n"
	"The default format is perf; tree shows the processes and who started whom.\n"
	"  --brief          leave out what git's *_BRIEF variables leave out; tree: the time of the start\n"
	"  --nesting=N      event: regions and data at most N regions deep (default 2, 0: all)\n"
	"  --ns             perf, event: times with nine decimals, not git's six\n"
	"  --layout=FILE    the files come from another platform, whose --show_format wrote FILE\n"
	"  --raw-text       to a terminal, too, control characters and other unsafe bytes as they are, not as \\xNN\n"
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
	"Exit status: 0; 3 parts are damaged, the rest was expanded; 1 unusable input or output; 2 usage\n";

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

static enum t2x_format find_format(const char *name)
{
	for (unsigned i = 0; i < T2X_FORMATS; i++)
		if (!strcmp(name, format_names[i]))
			return (enum t2x_format)i;
	refuse("unknown format", name);
	return T2X_FORMAT_PERF;
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

static void add_ring(struct t2x_settings *settings, char *path)
{
	char **rings = realloc(settings->rings, (settings->nrings + 1) * sizeof(*rings));

	if (!rings) {
		fprintf(stderr, "t2expand: %s\n", strerror(ENOMEM));
		exit(T2X_EXIT_UNUSABLE);
	}
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
		return option >= RING_PID && option <= RING_NEWER;
	}
}

static void take_option(struct t2x_settings *settings, int option)
{
	switch (option) {
	case 'f':
		settings->format = find_format(optarg);
		break;
	case 'b':
		settings->options.brief = 1;
		break;
	case 'n':
		settings->options.nesting = find_number("--nesting is not a number", optarg, MAX_NESTING);
		break;
	case NANOSECONDS:
		settings->options.ns = 1;
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
	case 'l':
		settings->layout = optarg;
		break;
	case 's':
		show_format(optarg);
		break;
	case 'h':
		fputs(usage_text, stdout);
		leave();
		break;
	case 'v':
		printf("t2expand for the .tlg format %d.%d\n", TLG_VERSION >> 8, TLG_VERSION & 0xff);
		leave();
		break;
	default:
		if (!take_ring_option(settings, option))
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

void t2x_options_read(struct t2x_settings *settings, int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "brief", no_argument, NULL, 'b' },
		{ "nesting", required_argument, NULL, 'n' },
		{ "ns", no_argument, NULL, NANOSECONDS },
		{ "jobs", required_argument, NULL, 'j' },
		{ "output", required_argument, NULL, 'o' },
		{ "raw-text", no_argument, NULL, 'r' },
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
		{ "show_format", optional_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*settings = (struct t2x_settings){
		.format = T2X_FORMAT_PERF, .options = { .nesting = T2X_DEFAULT_NESTING }, .jobs = 1,
		.select = { .user = geteuid() },
	};
	while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1)
		take_option(settings, option);
	settings->paths = argv + optind;
	settings->npaths = (unsigned)(argc - optind);
	check_rings(settings);
}
