/* SPDX-License-Identifier: MIT */
/* t2x_record.c - the options of `t2 record' become an environment, in which the program runs. */
#include "t2x_record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t2x_allowed.h"
#include "t2x_attach.h"
#include "t2x_collect.h"
#include "t2x_commands.h"
#include "t2x_foreign.h"
#include "t2x_forward.h"
#include "t2x_options.h"
#include "t2x_record_compare.h"
#include "t2x_record_pid.h"
#include "t2x_record_place.h"
#include "t2x_record_words.h"
#include "t2x_recorded.h"
#include "t2x_refuse.h"
#include "t2x_service.h"
#include "t2x_usage.h"
#include "t2x_window.h"
#include "base/t2x_report.h"

static const char library[] = "libtrace2-prof.so.0";

struct recording {
	char profiles[1024];              /* TRACE2_PROF */
	char raw[PATH_MAX];               /* TRACE2_RAW */
	char preload[2 * PATH_MAX];       /* LD_PRELOAD */
	const char *output;               /* NULL: by the name of the program */
	const char *pid;                  /* of a process that runs; NULL: a program is started */
	int is_dormant;                   /* it is started, and not recorded */
	int is_foreign;                   /* it cannot be profiled */
	int has_window;                   /* --delay or --seconds */
	int is_implied;                   /* the user has named no profile */
	int compares;                     /* two commands, each several times */
	const char *runs;                 /* how many times; NULL: as usual */
	uint64_t delay_ms, seconds_ms;
	int status;                       /* not 0: it failed, with this */
};

/* Return  0, for a chain of steps that ends with the first that fails */
static int fail(struct recording *recording, int status, const char *what, const char *why)
{
	fprintf(stderr, "t2 record: %s%s%s\n", what, why ? ": " : "", why ? why : "");
	recording->status = status;
	return 0;
}

int t2x_record_is_meant(int argc, char **argv)
{
	return t2x_command_is(argc, argv, "record");
}

/* ---- options -------------------------------------------------------------------------------------- */

/* A word of TRACE2_PROF, behind those that are there. */
static int add_word(struct recording *recording, const char *name, const char *value)
{
	size_t n = strlen(recording->profiles), room = sizeof(recording->profiles) - n;
	int more = snprintf(recording->profiles + n, room, "%s%s%s%s", n ? "," : "", name, value ? "=" : "",
			    value ? value : "");

	return (more >= 0 && (size_t)more < room) || fail(recording, T2X_EXIT_USAGE, "too many options", NULL);
}

static int add_option(struct recording *recording, const char *name, const char *value)
{
	char what[128], needs[96] = "";

	if (t2x_record_may_be(name, value, needs, sizeof(needs)))
		return add_word(recording, name, value);
	snprintf(what, sizeof(what), "--%s needs %s, not", name, needs);
	return fail(recording, T2X_EXIT_USAGE, what, value);
}

/* What the user has set already stays; of a word that comes twice, the later one counts, an option's. */
static int take_environment(struct recording *recording)
{
	const char *profiles = getenv("TRACE2_PROF");

	return !profiles || !*profiles || add_word(recording, profiles, NULL);
}

/* The kernel's functions come on top of samples of CPU time, and not every system shows them. */
static int add_kernel(struct recording *recording)
{
	char why[256];

	if (!t2x_record_has(recording->profiles, "kernel"))
		return 1;
	if (!t2x_allowed_kernel(why, sizeof(why)))
		return fail(recording, T2X_EXIT_USAGE, "--kernel", why);
	return t2x_record_has(recording->profiles, "cpu") || add_word(recording, "cpu", NULL);
}

/* A report of leaks needs allocations; and something has to be sampled. */
static int add_what_is_meant(struct recording *recording)
{
	if (!add_kernel(recording))
		return 0;
	if (t2x_record_has(recording->profiles, "leaks") && !t2x_record_has(recording->profiles, "heap"))
		return add_word(recording, "heap", NULL);
	recording->is_implied = !t2x_record_has(recording->profiles, NULL);
	return !recording->is_implied || recording->is_dormant || add_word(recording, "cpu", NULL);
}

static int take_time(struct recording *recording, const char *name, const char *value, uint64_t *ms)
{
	char what[64];

	recording->has_window = 1;
	if (t2x_record_ms(value, ms) && (*ms || ms == &recording->delay_ms))
		return 1;
	snprintf(what, sizeof(what), "--%s needs seconds, such as 3 or 0.5, not", name);
	return fail(recording, T2X_EXIT_USAGE, what, value);
}

/* What goes with which. */
static int check_options(struct recording *recording, int has_program)
{
	char start[sizeof(recording->profiles)], later[sizeof(recording->profiles)];

	if (recording->pid && has_program)
		return fail(recording, T2X_EXIT_USAGE, "--pid records a process that runs: no program, please", NULL);
	if (!recording->pid && !has_program)
		return fail(recording, T2X_EXIT_USAGE, "no program to run (t2 record --help tells more)", NULL);
	if (recording->is_dormant && (recording->pid || recording->output || recording->has_window))
		return fail(recording, T2X_EXIT_USAGE,
			    "--dormant records nothing: --pid, -o, --delay and --seconds are for who records it", NULL);
	if (recording->compares && (recording->pid || recording->is_dormant))
		return fail(recording, T2X_EXIT_USAGE,
			    "--compare starts programs, and records them: no --pid, no --dormant", NULL);
	if (recording->runs && !recording->compares)
		return fail(recording, T2X_EXIT_USAGE, "--runs goes with --compare", NULL);
	t2x_record_split(recording->profiles, start, later, sizeof(start));
	if (recording->is_dormant && *later)
		return fail(recording, T2X_EXIT_USAGE, "--dormant records nothing: profiles go with --pid", later);
	if (recording->pid && *start)
		return fail(recording, T2X_EXIT_USAGE, "this goes with the start of a program, not with --pid", start);
	return 1;
}

static int take_options(struct recording *recording, int argc, char **argv)
{
	int option, index = 0;

	opterr = 0;
	if (!take_environment(recording))
		return 0;
	while ((option = getopt_long(argc, argv, "+:o:h", t2x_record_options, &index)) != -1) {
		if (option == T2X_RECORD_WORD && !add_option(recording, t2x_record_options[index].name, optarg))
			return 0;
		if (option == 'o')
			recording->output = optarg;
		if (option == T2X_RECORD_PID)
			recording->pid = optarg;
		if (option == T2X_RECORD_DORMANT)
			recording->is_dormant = 1;
		if (option == T2X_RECORD_COMPARE)
			recording->compares = 1;
		if (option == T2X_RECORD_RUNS)
			recording->runs = optarg;
		if ((option == T2X_RECORD_DELAY && !take_time(recording, "delay", optarg, &recording->delay_ms)) ||
		    (option == T2X_RECORD_SECONDS && !take_time(recording, "seconds", optarg, &recording->seconds_ms)))
			return 0;
		if (option == '?' || option == ':')
			t2x_refuse_option(t2x_record_options, option, argv[optind - 1]);
	}
	return add_what_is_meant(recording) && check_options(recording, optind < argc);
}

/* ---- the library ----------------------------------------------------------------------------------- */

/* Return  1: it is in this directory, as seen from the program's */
static int is_in(char *path, size_t size, const char *directory)
{
	char *slash;
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash - path) + strlen(directory) + sizeof(library) + 2 > size)
		return 0;
	sprintf(slash + 1, "%s%s", directory, library);
	return !access(path, R_OK);
}

/* Where the dynamic linker finds it, with what TRACE2_PROF says not begun in ourselves.  Return  0: nowhere */
static int load(const char *name, char *path, size_t size)
{
	void *handle = dlopen(name, RTLD_LAZY);
	struct link_map *map;
	int n = 0;

	if (handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map))
		n = snprintf(path, size, "%s", map->l_name);
	return n > 0 && (size_t)n < size;
}

/*
 * Children inherit LD_PRELOAD, and some may be of another C library.  That one must not find what it cannot load: the
 * dynamic linker of musl ends a program then.  Only glibc's replaces $LIB by its directory, from which enough ".." lead
 * to the root; for musl there is no such file, and it goes on without a word.
 */
static void hide_from_others(char *path, size_t size)
{
	static const char token[] = "/$LIB/../../../../../../../..";
	char hidden[PATH_MAX + sizeof(token)], found[PATH_MAX + sizeof(token)];

	if (*path != '/')
		return;
	snprintf(hidden, sizeof(hidden), "%s%s", token, path);
	if (strlen(hidden) < size && load(hidden, found, sizeof(found)))
		memcpy(path, hidden, strlen(hidden) + 1);
}

/* Beside us, as it is built; installed in lib beside our bin; or where the dynamic linker finds it. */
static int find_library(struct recording *recording)
{
	const char *others = getenv("LD_PRELOAD");
	char path[PATH_MAX];
	int n;

	unsetenv("TRACE2_PROF");
	if (!is_in(path, sizeof(path), "") && !is_in(path, sizeof(path), "../lib/") &&
	    !load(library, path, sizeof(path)))
		return fail(recording, T2X_EXIT_UNUSABLE, library,
			    "neither beside t2, nor in ../lib, nor where the dynamic linker looks");
	if (!strchr(path, '$'))
		hide_from_others(path, sizeof(path));
	if (strpbrk(path, ": "))
		return fail(recording, T2X_EXIT_UNUSABLE, path, "LD_PRELOAD takes no path with a blank or a colon");
	/* In front of the others: an allocator that the program brings along is what we forward to. */
	n = snprintf(recording->preload, sizeof(recording->preload), "%s%s%s", path, others && *others ? ":" : "",
		     others ? others : "");
	return (n >= 0 && (size_t)n < sizeof(recording->preload)) ||
	       fail(recording, T2X_EXIT_UNUSABLE, "LD_PRELOAD", strerror(ENAMETOOLONG));
}

/* ---- the program ----------------------------------------------------------------------------------- */

/*
 * What is wrong with a setting shall not be silent, in the program itself: its children say on stderr what they say
 * without us.
 */
static void report_in_this_process(void)
{
	char value[32];

	snprintf(value, sizeof(value), "1:%ld", (long)getpid());
	setenv("TRACE2_DST_DEBUG", value, 0);
}

/*
 * systemd hands sockets and a watchdog to the process that it has started, whose id it names: to us.  A program that
 * finds another id than its own there does not listen, or is ended, for it does not say that it is alive.
 */
static void take_over(pid_t from)
{
	static const char *const names[] = { "LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID" };
	char ours[32], own[32];

	snprintf(ours, sizeof(ours), "%ld", (long)from);
	snprintf(own, sizeof(own), "%ld", (long)getpid());
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		if (!value || strcmp(value, ours) != 0)
			continue;
		setenv(names[i], own, 1);
		/* It says the same as LISTEN_PID in another way, and may be missing. */
		if (!i)
			unsetenv("LISTEN_PIDFDID");
	}
}

/* from  who has forked us */
static int execute(struct recording *recording, char **argv, pid_t from)
{
	int error;

	report_in_this_process();
	take_over(from);
	execvp(argv[0], argv);
	error = errno;
	fail(recording, error == ENOENT ? T2X_EXIT_NOT_FOUND : T2X_EXIT_NOT_RUN, argv[0], strerror(error));
	return recording->status;
}

/* Start the program.  All signals are blocked meanwhile: none is lost.  Return  -1: it cannot be started */
static pid_t start(struct recording *recording, char **argv)
{
	pid_t self = getpid(), child;
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	child = fork();
	if (!child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		_exit(execute(recording, argv, self));
	}
	if (child > 0)
		t2x_forward_to(child);
	else
		fail(recording, T2X_EXIT_NOT_RUN, argv[0], strerror(errno));
	sigprocmask(SIG_SETMASK, &before, NULL);
	return child;
}

/* Wait until the program ends, and collect.  Return  the exit status */
static int run_below(struct recording *recording, char **argv, struct t2x_collecting *collecting)
{
	struct stat st;
	siginfo_t ended;
	int status = 0;
	pid_t child = start(recording, argv);

	if (child < 0)
		return recording->status;
	collecting->pid = child;
	if (collecting->window) {
		int process = t2x_window_open(child);
		collecting->window->these.root = child;
		if (process >= 0)
			t2x_window_run(collecting->window, process);
		close(process);
	}
	/* its id stays its own until it is waited for */
	while (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) && errno == EINTR)
		continue;
	collecting->is_directory = !stat(recording->raw, &st) && S_ISDIR(st.st_mode);
	t2x_collect(collecting);
	t2x_attach(collecting);
	if (recording->delay_ms && stat(recording->raw, &st))
		fprintf(stderr, "t2 record: %s: ended before the recording began\n", argv[0]);
	t2x_forward_end();
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	if (!recording->is_foreign && !recording->compares)
		t2x_recorded_tell(recording->raw, recording->profiles);
	return t2x_forward_end_as(status);
}

/* Return  0: this system cannot do it */
static int may_have_window(struct recording *recording)
{
	int process = t2x_window_open(getpid());

	if (process < 0)
		return fail(recording, T2X_EXIT_UNUSABLE, "--delay and --seconds need Linux 5.3", strerror(errno));
	close(process);
	return 1;
}

static int run(struct recording *recording, char **argv, struct t2x_window *window)
{
	struct t2x_collecting collecting = { .output = recording->raw, .begun = t2x_collect_clock(), .pid = getpid(),
					     .window = recording->has_window ? window : NULL };
	char text[PATH_MAX + 64];
	const char *why = t2x_foreign_why(argv[0], text, sizeof(text));
	struct stat st;

	recording->is_foreign = why != NULL;
	if (why)
		fprintf(stderr, "t2 record: %s: not profiled: %s\n", argv[0], why);
	if (recording->is_dormant)
		return execute(recording, argv, 0);
	/* of a service: a name that ends with '/' has been made */
	collecting.is_directory = !stat(recording->raw, &st) && S_ISDIR(st.st_mode);
	collecting.has_kernel = t2x_record_has(recording->profiles, "kernel");
	if (t2x_service_is_main() && !t2x_service_collect_later(&collecting))
		return execute(recording, argv, 0);
	return run_below(recording, argv, &collecting);
}

/* A variable; NULL, "": there shall be none. */
static int set(struct recording *recording, const char *name, const char *value)
{
	if (!(value && *value ? setenv(name, value, 1) : unsetenv(name)))
		return 1;
	return fail(recording, T2X_EXIT_UNUSABLE, "environment", strerror(errno));
}

/* later  the profiles that are not to start with the program */
static int set_environment(struct recording *recording, char *later)
{
	char start[sizeof(recording->profiles)];
	const int begins_now = !recording->is_dormant && !recording->delay_ms;

	t2x_record_split(recording->profiles, start, later, sizeof(start));
	if ((recording->is_dormant || recording->has_window) && !set(recording, "TRACE2_CTL", "1"))
		return 0;
	/* the thread, which the page needs, would wait until memory begins to fill */
	if (recording->has_window && begins_now && !set(recording, "TRACE2_RAW_THREAD", "init"))
		return 0;
	return set(recording, "LD_PRELOAD", recording->preload) &&
	       set(recording, "TRACE2_PROF", begins_now ? recording->profiles : start) &&
	       set(recording, "TRACE2_RAW", begins_now ? recording->raw : NULL);
}

static int record_process(const struct recording *recording)
{
	const struct t2x_record_pid wanted = { .pid = recording->pid, .output = recording->output,
					       .profiles = recording->profiles, .is_implied = recording->is_implied,
					       .delay_ms = recording->delay_ms,
					       .seconds_ms = recording->seconds_ms };

	return t2x_record_pid(&wanted);
}

/* One program.  Return  the exit status */
static int record_program(struct recording *recording, const char *output, char **argv)
{
	char later[sizeof(recording->profiles)];
	struct t2x_window window;

	if ((recording->has_window && !may_have_window(recording)) || !find_library(recording))
		return recording->status;
	if (!recording->is_dormant) {
		recording->status = t2x_record_place(recording->raw, output, argv[0]);
		if (recording->status)
			return recording->status;
	}
	if (!set_environment(recording, later))
		return recording->status;
	window = (struct t2x_window){ .delay_ms = recording->delay_ms, .seconds_ms = recording->seconds_ms,
				      .these = { .root = getpid(), .path = recording->raw, .profiles = later,
						 .may_lack_profiler = 1, .is_of_all = 1 } };
	return run(recording, argv, &window);
}

static int record_compared(void *recording, const char *file, char **argv)
{
	return record_program(recording, file, argv);
}

int t2x_record_run(int argc, char **argv)
{
	const struct t2x_front front = t2x_front_take(&argc, &argv);
	struct recording recording = { .output = NULL };

	t2x_report_set_name("t2 record");
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		t2x_usage_help(stdout, &front, 0);
		return fflush(stdout) ? T2X_EXIT_UNUSABLE : EXIT_SUCCESS;
	}
	if (!take_options(&recording, argc, argv))
		return recording.status;
	if (recording.pid)
		return record_process(&recording);
	if (recording.compares)
		return t2x_record_compare(&(struct t2x_record_compare){
			recording.runs, recording.output, argv + optind, record_compared, &recording });
	return record_program(&recording, recording.output, argv + optind);
}
