/* SPDX-License-Identifier: MIT */
/* t2x_steer.c - see t2x_steer.h. */
#include "t2x_steer.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "t2x_commands.h"
#include "t2x_refuse.h"
#include "t2x_status.h"
#include "t2x_usage.h"
#include "base/t2x_escape.h"
#include "base/t2x_report.h"
#include "live/t2x_ctl_find.h"
#include "live/t2x_ctl_page.h"

enum { RATE_MS = 200, MAX_SECONDS = 86400 };

struct steering {
	const char *target, *command;
	const char *words[TLG_CTL_WORDS];     /* of the command, as the process gets it */
	int nwords;
	char output[PATH_MAX], milliseconds[32];
	unsigned seconds, timeout_ms;
	unsigned failed;                      /* processes */
	struct t2x_report report;
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' }, { "seconds", required_argument, NULL, 's' },
	{ "timeout", required_argument, NULL, 't' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

int t2x_steer_is_meant(int argc, char **argv)
{
	return t2x_command_is(argc, argv, "ctl");
}

/* ---- the command line --------------------------------------------------------------------------- */

static unsigned parse_seconds(const char *text)
{
	uint32_t seconds = t2x_ctl_pid(text);

	if (!seconds || seconds > MAX_SECONDS)
		t2x_refuse("seconds are 1 to 86400, not", text);
	return seconds;
}

/* The process may have another current directory. */
static void make_path(struct steering *steering, const char *path)
{
	char here[PATH_MAX] = "";
	int n;

	if (*path != '/' && !getcwd(here, sizeof(here)))
		t2x_refuse("this directory has no path, so it must be an absolute one", path);
	n = snprintf(steering->output, sizeof(steering->output), "%s%s%s", here, *here ? "/" : "", path);
	if (n < 0 || n >= (int)sizeof(steering->output))
		t2x_refuse("the path is too long", path);
}

static void take_options(struct steering *steering, int argc, char **argv)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (option == 'o')
			make_path(steering, optarg);
		else if (option == 's')
			steering->seconds = parse_seconds(optarg);
		else if (option == 't')
			steering->timeout_ms = 1000 * parse_seconds(optarg);
		else
			t2x_refuse_option(options, option, argv[optind - 1]);
	}
}

/* What may follow a command: at least so many arguments, at most so many. */
static const struct known {
	char name[12];
	int min, max;
	int takes_output, takes_seconds;
} known[] = {
	{ "status", 0, 0, 0, 0 }, { "on", 0, 0, 1, 0 }, { "off", 0, 0, 0, 0 }, { "flush", 0, 0, 0, 0 },
	{ "rotate", 0, 0, 0, 0 }, { "snapshot", 0, 1, 0, 0 }, { "set", 1, TLG_CTL_WORDS - 1, 0, 0 },
	{ "profile", 1, 1, 0, 1 }, { "trigger", 0, TLG_CTL_WORDS - 1, 0, 0 },
};

static const struct known *find_known(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	t2x_refuse("unknown command", name);
}

static void take_operands(struct steering *steering, int n, char **operands)
{
	const struct known *command;

	if (!n)
		t2x_refuse("no process: PID, NAME or all", NULL);
	steering->target = operands[0];
	steering->command = n > 1 ? operands[1] : "status";
	command = find_known(steering->command);
	if (n - 2 < command->min && (command->min || n > 2))
		t2x_refuse("it needs an argument", steering->command);
	if (n - 2 > command->max)
		t2x_refuse("too many arguments", operands[n - 1]);
	if (*steering->output && !command->takes_output)
		t2x_refuse("--output goes with on, not with", steering->command);
	if (steering->seconds && !command->takes_seconds)
		t2x_refuse("--seconds goes with profile, not with", steering->command);
	steering->words[steering->nwords++] = steering->command;
	for (int i = 2; i < n; i++)
		steering->words[steering->nwords++] = operands[i];
	if (*steering->output)
		steering->words[steering->nwords++] = steering->output;
	if (steering->seconds) {
		snprintf(steering->milliseconds, sizeof(steering->milliseconds), "%ums", steering->seconds * 1000);
		steering->words[steering->nwords++] = steering->milliseconds;
	}
}

/* ---- one process -------------------------------------------------------------------------------- */

static void put(void *to, const char *text, size_t n)
{
	fwrite(text, 1, n, to);
}

static void print(const char *text)
{
	struct t2x_escape escape = { .put = put, .to = stdout };

	t2x_escape_text(&escape, text, strlen(text));
	t2x_escape_end(&escape);
}

/* The number of a line "key: N".  Return  0: there is none */
static int find_number(const char *text, const char *key, uint64_t *number)
{
	size_t n = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) || strncmp(line + n, ": ", 2) || line[n + 2] < '0' || line[n + 2] > '9')
			continue;
		*number = strtoull(line + n + 2, NULL, 10);
		return 1;
	}
	return 0;
}

/* How much it records, from two answers. */
static void print_rate(const char *before, const char *after)
{
	uint64_t moved[2], clock[2];

	if (find_number(before, "moved", &moved[0]) && find_number(after, "moved", &moved[1]) &&
	    find_number(before, "clock", &clock[0]) && find_number(after, "clock", &clock[1]) && clock[1] > clock[0])
		printf("rate: %.0f raw events a second\n",
		       (double)(moved[1] - moved[0]) * 1000 / (double)(clock[1] - clock[0]));
}

static void print_status(const struct steering *steering, struct t2x_ctl_page *page, struct t2x_ctl_answer *answer)
{
	const struct timespec pause = { 0, RATE_MS * 1000000 };
	struct t2x_ctl_answer before = *answer;

	nanosleep(&pause, NULL);
	t2x_ctl_page_ask(page, steering->words, steering->nwords, steering->timeout_ms, answer);
	if (answer->kind != TLG_CTL_DONE)
		*answer = before;
	print(answer->text);
	print_rate(before.text, answer->text);
}

static void fail(struct steering *steering, uint32_t pid, const char *why)
{
	char name[32];

	snprintf(name, sizeof(name), "process %u", (unsigned)pid);
	t2x_report_note(&steering->report, name, "%s", why);
	steering->failed++;
}

static void ask(struct steering *steering, const struct t2x_ctl_found *found, struct t2x_ctl_page *page)
{
	struct t2x_ctl_answer answer;

	t2x_ctl_page_ask(page, steering->words, steering->nwords, steering->timeout_ms, &answer);
	if (answer.kind == TLG_CTL_ERROR) {
		fail(steering, found->pid, answer.text);
		return;
	}
	printf("process %u, ", (unsigned)found->pid);
	print(found->name);
	if (strcmp(steering->command, "status") != 0) {
		printf(": ");
		print(answer.text);
		printf("\n");
	} else {
		printf("\n");
		print_status(steering, page, &answer);
	}
}

/* ---- all of them -------------------------------------------------------------------------------- */

/*
 * One process has one page that is its own; others with its id in their names are of earlier ones.
 * Return  the index behind them
 */
static unsigned ask_one(struct steering *steering, const struct t2x_ctl_list *list, unsigned first)
{
	const char *why = NULL;
	struct t2x_ctl_page page;
	unsigned end = first, at = first;

	while (end < list->n && list->items[end].pid == list->items[first].pid)
		end++;
	while (at < end && (why = t2x_ctl_page_open(&page, list->items[at].path, list->items[at].pid)))
		at++;
	if (at < end)
		ask(steering, &list->items[at], &page);
	else
		fail(steering, list->items[first].pid, why);
	if (at < end)
		t2x_ctl_page_close(&page);
	return end;
}

static void report_none(struct steering *steering)
{
	const uint32_t pid = t2x_ctl_pid(steering->target);
	char why[256];

	if (pid) {
		t2x_ctl_explain(pid, why, sizeof(why));
		fail(steering, pid, why);
		return;
	}
	t2x_report_note(&steering->report, steering->target, "%s",
			strcmp(steering->target, "all") != 0 ? "no process of this name has a control page" :
							       "no process has a control page");
	steering->failed++;
}

int t2x_steer_run(int argc, char **argv)
{
	const struct t2x_front front = t2x_front_take(&argc, &argv);
	struct steering steering = { .timeout_ms = 3000, .report = { .to = stderr } };
	struct t2x_ctl_list list;
	int error;

	t2x_report_set_name("t2 ctl");
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		t2x_usage_help(stdout, &front, 0);
		return fflush(stdout) ? T2X_EXIT_UNUSABLE : EXIT_SUCCESS;
	}
	take_options(&steering, argc, argv);
	take_operands(&steering, argc - optind, argv + optind);
	error = t2x_ctl_find(&list, steering.target);
	if (error)
		t2x_report_note(&steering.report, "memory", "%s", strerror(-error));
	else if (!list.n)
		report_none(&steering);
	for (unsigned i = 0; !error && i < list.n;)
		i = ask_one(&steering, &list, i);
	t2x_ctl_free(&list);
	if (fflush(stdout) || ferror(stdout))
		return T2X_EXIT_UNUSABLE;
	return error || steering.failed ? T2X_EXIT_UNUSABLE : EXIT_SUCCESS;
}
