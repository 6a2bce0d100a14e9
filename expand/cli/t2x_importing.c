/* SPDX-License-Identifier: MIT */
/* t2x_importing.c - the operands and options of `t2 import'. */
#include "t2x_importing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_commands.h"
#include "t2x_refuse.h"
#include "t2x_status.h"
#include "base/t2x_report.h"
#include "import/t2x_git_socket.h"
#include "import/t2x_import.h"

enum { CHUNK = 1024 * 1024, MAX_SECONDS = 10 * 365 * 86400 };

struct importing {
	struct t2x_import *import;
	struct t2x_raw_sink sink;
	struct t2x_report report;
	const char *output;               /* NULL: standard output */
	int fd;                           /* of it */
	enum t2x_import_detail detail;
	unsigned seconds;
	int is_unusable;
};

int t2x_importing_is_meant(int argc, char **argv)
{
	return t2x_command_is(argc, argv, "import") && !t2x_command_asks_for_help(argc, argv);
}

/* ---- options ------------------------------------------------------------------------------------ */

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' }, { "detail", required_argument, NULL, 'd' },
	{ "seconds", required_argument, NULL, 's' }, { 0 },
};

static enum t2x_import_detail read_detail(const char *word)
{
	static const char *const words[] = { "drop", "summary", "process", "verbose" };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return (enum t2x_import_detail)i;
	t2x_refuse("--detail is drop, summary, process or verbose, not", word);
}

static unsigned read_seconds(const char *word)
{
	char *end;
	unsigned long seconds = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || !seconds || seconds > MAX_SECONDS)
		t2x_refuse("--seconds needs a number from 1 up, not", word);
	return (unsigned)seconds;
}

static void read_options(struct importing *importing, int argc, char **argv)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
		if (option == 'o')
			importing->output = optarg;
		else if (option == 'd')
			importing->detail = read_detail(optarg);
		else if (option == 's')
			importing->seconds = read_seconds(optarg);
		else
			t2x_refuse_option(options, option, argv[optind - 1]);
	}
	if (optind == argc)
		t2x_refuse("nothing to import: a file, a directory, -, or af_unix:PATH", NULL);
	if (!importing->output && isatty(STDOUT_FILENO))
		t2x_refuse("a trace is not for a terminal: -o FILE.tlg says where it goes", NULL);
}

/* ---- output ------------------------------------------------------------------------------------- */

static int write_all(void *owner, const void *bytes, size_t n)
{
	const struct importing *importing = owner;
	const char *p = bytes;

	while (n) {
		ssize_t done = write(importing->fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static void complain(struct importing *importing, const char *path, const char *why)
{
	t2x_report_note(&importing->report, path, "%s", why);
	importing->is_unusable = 1;
}

static int is_output(const struct importing *importing, const struct stat *input)
{
	struct stat output;

	return S_ISREG(input->st_mode) && !fstat(importing->fd, &output) && input->st_dev == output.st_dev &&
	       input->st_ino == output.st_ino;
}

/* The input is not opened: whoever waits to write into a named pipe would take that for its reader. */
static int is_input_and_output(const struct importing *importing, const char *input)
{
	struct stat st;

	return !(strcmp(input, "-") != 0 ? stat(input, &st) : fstat(STDIN_FILENO, &st)) && is_output(importing, &st);
}

/* Return  0: it cannot be written */
static int open_output(struct importing *importing, char **inputs, int n)
{
	importing->fd = STDOUT_FILENO;
	if (!importing->output)
		return 1;
	importing->fd = open(importing->output, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (importing->fd < 0) {
		complain(importing, importing->output, strerror(errno));
		return 0;
	}
	for (int i = 0; i < n; i++) {
		if (is_input_and_output(importing, inputs[i])) {
			complain(importing, importing->output, "is an input and the output at once");
			return 0;
		}
	}
	if (ftruncate(importing->fd, 0) && errno != EINVAL) {
		complain(importing, importing->output, strerror(errno));
		return 0;
	}
	return 1;
}

/* ---- inputs ------------------------------------------------------------------------------------- */

/* Return  0 or -ENOMEM */
static int import_descriptor(struct importing *importing, const char *path, int fd)
{
	struct t2x_import_rest rest = { 0 };
	char *bytes = malloc(CHUNK);
	int error = bytes ? 0 : -ENOMEM, failed;
	ssize_t n = 0;

	while (!error && !importing->sink.error && (n = read(fd, bytes, CHUNK))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			complain(importing, path, strerror(errno));
			break;
		}
		error = t2x_import_bytes(importing->import, &rest, bytes, (size_t)n);
	}
	free(bytes);
	failed = t2x_import_end(importing->import, &rest);
	return error ? error : failed;
}

static int import_file(struct importing *importing, int directory, const char *name, const char *path)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0) {
		complain(importing, path, strerror(errno));
		return 0;
	}
	error = import_descriptor(importing, path, fd);
	close(fd);
	return error;
}

static int is_regular(const struct dirent *entry)
{
	return entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK;
}

/* A directory target of git's: each file is the trace of a process, or those for which there was no more room. */
static int import_directory(struct importing *importing, const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort), error = 0;
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (n < 0 || directory < 0)
		complain(importing, path, strerror(errno));
	for (int i = 0; i < n; i++) {
		struct stat st;
		if (!error && directory >= 0 && is_regular(entries[i]) &&
		    !fstatat(directory, entries[i]->d_name, &st, 0) && S_ISREG(st.st_mode) &&
		    !is_output(importing, &st))
			error = import_file(importing, directory, entries[i]->d_name, entries[i]->d_name);
		if (!error)
			error = t2x_import_flush(importing->import, T2X_IMPORT_ENDED);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	if (directory >= 0)
		close(directory);
	return error;
}

static int import_socket(struct importing *importing, const char *target)
{
	const char *why;
	struct t2x_git_socket *sock = t2x_git_socket_open(target, &why);
	int error;

	if (!sock) {
		complain(importing, target, why);
		return 0;
	}
	error = t2x_git_socket_import(sock, importing->import, importing->seconds);
	if (t2x_git_socket_dropped(sock))
		t2x_report_damage(&importing->report, target, "byte", 0, "%" PRIu64 " bytes came too fast: dropped",
				  t2x_git_socket_dropped(sock));
	t2x_git_socket_close(sock);
	return error;
}

static int import_operand(struct importing *importing, const char *operand)
{
	struct stat st;

	if (t2x_git_socket_is(operand))
		return import_socket(importing, operand);
	if (!strcmp(operand, "-"))
		return import_descriptor(importing, "standard input", STDIN_FILENO);
	if (!stat(operand, &st) && S_ISDIR(st.st_mode))
		return import_directory(importing, operand);
	return import_file(importing, AT_FDCWD, operand, operand);
}

/* ---- the run ------------------------------------------------------------------------------------ */

static void report_counts(struct importing *importing)
{
	const struct t2x_import_counts *counts = t2x_import_counts(importing->import);
	struct t2x_report *report = &importing->report;

	if (counts->broken)
		t2x_report_damage(report, "input", "line", 0, "%" PRIu64 " of %" PRIu64
				  " lines are no events of git: left out", counts->broken, counts->lines);
	if (counts->unknown)
		t2x_report_note(report, "input", "%" PRIu64 " events of kinds that git does not have: left out",
				counts->unknown);
	if (counts->others)
		t2x_report_note(report, "input", "%" PRIu64 " members that a trace has no place for: left out",
				counts->others);
}

int t2x_importing_run(int argc, char **argv)
{
	struct importing importing = { .report = { .to = stderr }, .detail = T2X_IMPORT_VERBOSE };
	int error = 0, status;

	t2x_report_set_name("t2 import");
	read_options(&importing, argc - 1, argv + 1);
	argc--;
	argv++;
	importing.sink = (struct t2x_raw_sink){ .write = write_all, .owner = &importing };
	importing.import = t2x_import_new(&importing.sink, importing.detail);
	if (!importing.import)
		error = -ENOMEM;
	else if (!open_output(&importing, argv + optind, argc - optind))
		error = 0;
	else {
		for (int i = optind; i < argc && !error; i++)
			error = import_operand(&importing, argv[i]);
		if (!error)
			error = t2x_import_flush(importing.import, T2X_IMPORT_ALL);
		report_counts(&importing);
	}
	t2x_import_free(importing.import);
	if (error)
		complain(&importing, "memory", strerror(-error));
	if (importing.output && importing.fd >= 0 && close(importing.fd) && !importing.sink.error)
		importing.sink.error = -errno;
	if (importing.sink.error)
		complain(&importing, importing.output ? importing.output : "standard output",
			 strerror(-importing.sink.error));
	t2x_report_finish(&importing.report);
	status = importing.is_unusable ? T2X_EXIT_UNUSABLE : importing.report.damages ? T2X_EXIT_DAMAGED : EXIT_SUCCESS;
	return status;
}
