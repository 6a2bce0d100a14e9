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
#include "t2x_recorded.h"
#include "t2x_status.h"
#include "base/t2x_report.h"

enum { USUAL_RUNS = 10, MAX_RUNS = 1000, SIDES = 2, ROOM = PATH_MAX - sizeof("/old-1000.tlg") };
enum { TROUBLE = 2 };                     /* as of diff(1), where 1 says that there is a difference */

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

static void name_file(char path[PATH_MAX], const struct comparison *comparison, int side, int run)
{
	snprintf(path, PATH_MAX, "%.*s/%s-%02u.tlg", (int)ROOM, comparison->directory, sides[side],
		 (unsigned)run % MAX_RUNS + 1);
}

/* Those of an earlier comparison would be taken for runs of this one. */
static int remove_earlier(const struct comparison *comparison)
{
	char file[PATH_MAX];

	for (int i = 0; i < SIDES * MAX_RUNS; i++) {
		name_file(file, comparison, i % SIDES, i / SIDES);
		if (unlink(file) && errno != ENOENT)
			return fail(file, strerror(errno));
	}
	return 1;
}

/* A name that looks like an option is one of this directory. */
static int make_directory(struct comparison *comparison)
{
	const char *program = comparison->argv[0][0], *slash = strrchr(program, '/');
	const char *output = comparison->wanted->output, *name = output ? output : slash ? slash + 1 : program;
	char *path = comparison->directory;
	int n = snprintf(path, PATH_MAX, "%s%s%s", *name == '-' ? "./" : "", name, output ? "" : ".compare");
	struct stat st;

	if (n < 0 || n >= (int)ROOM)
		return fail(name, strerror(ENAMETOOLONG));
	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &st) && S_ISDIR(st.st_mode)))
		return remove_earlier(comparison);
	return fail(path, errno == EEXIST ? "exists, and is no directory" : strerror(errno));
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
	if (null != STDIN_FILENO)
		close(null);
	else
		fcntl(null, F_SETFD, 0);
	return 1;
}

/*
 * In a process of its own.  All signals are blocked meanwhile: none is lost.  If we are killed, SIGTERM reaches it.
 * Return  0: a signal has asked us to end; -1: errno
 */
static pid_t start(const struct comparison *comparison, int side, const char *file)
{
	const pid_t self = getpid();
	sigset_t all, before;
	pid_t child;

	fflush(NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	child = t2x_forward_asked_to_end() ? 0 : fork();
	if (child > 0)
		t2x_forward_to(child);
	if (!child && getpid() != self) {
		t2x_forward_undo();
		sigprocmask(SIG_SETMASK, &before, NULL);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != self)
			raise(SIGTERM);
		exit(comparison->wanted->record(comparison->wanted->data, file, comparison->argv[side]));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return child;
}

/*
 * A program that cannot be started has no trace, and it was said why.
 * Return  0: the comparison goes on; else its status
 */
static int judge(struct comparison *comparison, int side, const char *file, int status)
{
	struct stat st;

	if (WIFSIGNALED(status)) {
		fprintf(stderr, "%s: %s: ended by signal %d, in the run of %s\n", t2x_report_name(),
			comparison->argv[side][0], WTERMSIG(status), file);
		return t2x_forward_end_as(status);
	}
	if (t2x_forward_asked_to_end())
		return t2x_forward_end_as(t2x_forward_asked_to_end());
	status = WEXITSTATUS(status);
	if (stat(file, &st)) {
		if (status == T2X_EXIT_NOT_RUN || status == T2X_EXIT_NOT_FOUND)
			return status;
		fail(file, "this run has no trace");
		return TROUBLE;
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
	siginfo_t ended;
	int status = 0;
	pid_t child;

	name_file(file, comparison, side, number);
	if (comparison->input >= 0)
		lseek(STDIN_FILENO, comparison->input, SEEK_SET);
	child = start(comparison, side, file);
	if (!child)
		return t2x_forward_end_as(t2x_forward_asked_to_end());
	if (child < 0) {
		fail("a process", strerror(errno));
		return TROUBLE;
	}
	/* its id stays its own until it is waited for */
	while (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) && errno == EINTR)
		continue;
	t2x_forward_end();
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return judge(comparison, side, file, status);
}

/* ---- what differs -------------------------------------------------------------------------------- */

static void tell(const struct comparison *comparison)
{
	char quoted[PATH_MAX + 8];
	const char *directory = t2x_recorded_quote(quoted, sizeof(quoted), comparison->directory);

	for (int side = 0; side < SIDES; side++)
		if (comparison->failed[side])
			fprintf(stderr, "%s: %s: %d of %d runs failed, the last with exit status %d\n",
				t2x_report_name(), comparison->argv[side][0], comparison->failed[side],
				comparison->runs, comparison->statuses[side]);
	if (directory)
		fprintf(stderr, "%s: %d runs of each; t2 diff %s/old-*.tlg -- %s/new-*.tlg\n", t2x_report_name(),
			comparison->runs, directory, directory);
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
	return TROUBLE;
}

int t2x_record_compare(const struct t2x_record_compare *wanted)
{
	struct comparison comparison = { .wanted = wanted };
	int status = 0;

	if (!take_runs(&comparison) || !split_commands(&comparison) || !make_directory(&comparison) ||
	    !prepare_input(&comparison))
		return TROUBLE;
	for (int i = 0; i < SIDES * comparison.runs && !status; i++)
		status = run(&comparison, (i + i / SIDES) % SIDES, i / SIDES);
	if (!status && t2x_forward_asked_to_end())
		status = t2x_forward_end_as(t2x_forward_asked_to_end());
	t2x_forward_undo();
	if (status)
		return status;
	tell(&comparison);
	return show(&comparison);
}
