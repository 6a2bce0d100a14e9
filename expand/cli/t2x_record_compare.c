/* SPDX-License-Identifier: MIT */
/* t2x_record_compare.c - see t2x_record_compare.h. */
#include "t2x_record_compare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t2x_forward.h"
#include "t2x_status.h"
#include "base/t2x_report.h"

enum { USUAL_RUNS = 10, MAX_RUNS = 1000, SIDES = 2 };

static const char *const sides[SIDES] = { "old", "new" };

struct comparison {
	const struct t2x_record_compare *wanted;
	char directory[PATH_MAX];
	char **argv[SIDES];
	int runs;
	off_t input;              /* where standard input was; -1: it cannot be read again */
	int failed[SIDES];        /* runs with another exit status than 0 ... */
	int statuses[SIDES];      /* ... of the last of these */
};

/* Return  0, for a chain of steps that ends with the first that fails */
static int fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s%s%s\n", t2x_report_name(), what, why ? ": " : "", why ? why : "");
	return 0;
}

/* ---- what is meant ------------------------------------------------------------------------------- */

static int take_runs(struct comparison *comparison)
{
	const char *text = comparison->wanted->runs;
	char *end = NULL;
	long n = text && *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;

	comparison->runs = text ? (int)n : USUAL_RUNS;
	return !text || (n >= 1 && n <= MAX_RUNS && !*end) || fail("--runs needs a number from 1 to 1000, not", text);
}

/* The second command begins behind the only "--". */
static int split_commands(struct comparison *comparison)
{
	char **at = comparison->wanted->argv, **between = NULL;
	int n = 0;

	for (; *at; at++)
		if (!strcmp(*at, "--")) {
			between = at;
			n++;
		}
	if (n != 1 || between == comparison->wanted->argv || !between[1])
		return fail("--compare takes two commands, -- OLD... -- NEW...; "
			    "one with a \"--\" of its own goes into a script", NULL);
	*between = NULL;
	comparison->argv[0] = comparison->wanted->argv;
	comparison->argv[1] = between + 1;
	return 1;
}

static int make_directory(struct comparison *comparison)
{
	const char *program = comparison->argv[0][0], *slash = strrchr(program, '/');
	const char *output = comparison->wanted->output;
	char *path = comparison->directory;
	int n = output ? snprintf(path, PATH_MAX, "%s", output) :
			 snprintf(path, PATH_MAX, "%s.compare", slash ? slash + 1 : program);
	struct stat st;

	if (n < 0 || n >= PATH_MAX - (int)sizeof("/old-1000.tlg"))
		return fail(output ? output : program, strerror(ENAMETOOLONG));
	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &st) && S_ISDIR(st.st_mode)))
		return 1;
	return fail(path, errno == EEXIST ? "exists, and is no directory" : strerror(errno));
}

static void name_file(char path[PATH_MAX], const struct comparison *comparison, int side, int run)
{
	snprintf(path, PATH_MAX, "%.*s/%s-%02d.tlg", PATH_MAX - 20, comparison->directory, sides[side], run + 1);
}

/* ---- runs ---------------------------------------------------------------------------------------- */

/*
 * Each run reads the same: a file from where it was, and of a pipe, which only the first could read, nothing.  A
 * terminal is the user's.
 */
static int prepare_input(struct comparison *comparison)
{
	int null = -1;

	comparison->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (comparison->input >= 0 || isatty(STDIN_FILENO))
		return 1;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		return fail("/dev/null", strerror(errno));
	close(null);
	return 1;
}

/* Those of a terminal reach the programs by themselves, and end the comparison when the run has ended. */
static const int stops[] = { SIGINT, SIGQUIT };
enum { STOPS = sizeof(stops) / sizeof(stops[0]) };

static struct sigaction before[STOPS];
static volatile sig_atomic_t stopped_by;

static void note_stop(int signal)
{
	stopped_by = signal;
}

/* What was ignored stays so, here and in the programs. */
static void catch_stops(void)
{
	const struct sigaction noting = { .sa_handler = note_stop };

	for (int i = 0; i < STOPS; i++) {
		sigaction(stops[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(stops[i], &noting, NULL);
	}
}

static void leave_stops(void)
{
	for (int i = 0; i < STOPS; i++)
		sigaction(stops[i], &before[i], NULL);
}

/*
 * In a process of its own, which SIGTERM reaches if we are killed.  What is wrong with a setting is said once.
 * Return  -1: errno
 */
static pid_t start(const struct comparison *comparison, int side, int number, const char *file)
{
	const pid_t self = getpid();
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child)
		return child;
	leave_stops();
	if (number)
		setenv("TRACE2_DST_DEBUG", "0", 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != self)
		raise(SIGTERM);
	exit(comparison->wanted->record(comparison->wanted->data, file, comparison->argv[side]));
}

/* Return  0: the comparison goes on; else its exit status */
static int judge(struct comparison *comparison, int side, const char *file, int status)
{
	struct stat st;

	if (WIFSIGNALED(status) || stopped_by)
		return t2x_forward_end_as(WIFSIGNALED(status) ? status : stopped_by);
	status = WEXITSTATUS(status);
	if (status == T2X_EXIT_NOT_RUN || status == T2X_EXIT_NOT_FOUND)
		return status;
	if (stat(file, &st)) {
		fail(file, "this run has no trace");
		return status ? status : T2X_EXIT_UNUSABLE;
	}
	if (status) {
		comparison->failed[side]++;
		comparison->statuses[side] = status;
	}
	return 0;
}

static int run(struct comparison *comparison, int side, int number)
{
	char file[PATH_MAX];
	int status = 0;
	pid_t child;

	name_file(file, comparison, side, number);
	if (comparison->input >= 0)
		lseek(STDIN_FILENO, comparison->input, SEEK_SET);
	child = start(comparison, side, number, file);
	if (child < 0) {
		fail("a process", strerror(errno));
		return T2X_EXIT_UNUSABLE;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return judge(comparison, side, file, status);
}

/* ---- what differs -------------------------------------------------------------------------------- */

static void tell(const struct comparison *comparison)
{
	for (int side = 0; side < SIDES; side++)
		if (comparison->failed[side])
			fprintf(stderr, "%s: %s: %d of %d runs failed, the last with exit status %d\n",
				t2x_report_name(), comparison->argv[side][0], comparison->failed[side],
				comparison->runs, comparison->statuses[side]);
	fprintf(stderr, "%s: %d runs of each; t2 diff %s/old-*.tlg -- %s/new-*.tlg\n", t2x_report_name(),
		comparison->runs, comparison->directory, comparison->directory);
}

/* Becomes `t2 diff'.  Return  only if that cannot be: the exit status */
static int show(const struct comparison *comparison)
{
	static char command[] = "t2", diff[] = "diff", between[] = "--";
	const int n = comparison->runs;
	char **argv = calloc((size_t)(SIDES * n + 5), sizeof(*argv)), **at = argv;
	char (*names)[PATH_MAX] = calloc((size_t)(SIDES * n), sizeof(*names));

	if (argv && names) {
		*at++ = command;
		*at++ = diff;
		for (int i = 0; i < SIDES * n; i++) {
			name_file(names[i], comparison, i / n, i % n);
			if (i == n)
				*at++ = between;
			*at++ = names[i];
		}
		execv("/proc/self/exe", argv);
	}
	fail("t2 diff", strerror(errno));
	free(names);
	free(argv);
	return T2X_EXIT_UNUSABLE;
}

int t2x_record_compare(const struct t2x_record_compare *wanted)
{
	struct comparison comparison = { .wanted = wanted };
	int status = 0;

	if (!take_runs(&comparison) || !split_commands(&comparison))
		return T2X_EXIT_USAGE;
	if (!make_directory(&comparison) || !prepare_input(&comparison))
		return T2X_EXIT_UNUSABLE;
	catch_stops();
	for (int i = 0; i < SIDES * comparison.runs && !status; i++)
		status = run(&comparison, (i + i / SIDES) % SIDES, i / SIDES);
	leave_stops();
	if (status)
		return status;
	tell(&comparison);
	return show(&comparison);
}
