/* SPDX-License-Identifier: MIT */
#include "idx_report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "idx_error.h"
#include "trace2.h"

extern char **environ;

/* Start argv with `input` as its stdin and SIGPIPE as usual.  Return 0, or an errno value. */
static int spawn_with_input(const char *const *argv, int input, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int error;

	error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error)
		goto no_attributes;
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	error = posix_spawnattr_setsigdefault(&attributes, &defaults);
	if (!error)
		error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (!error) /* the cast: posix_spawnp() does not change the strings */
		error = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
	posix_spawnattr_destroy(&attributes);
no_attributes:
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* The exit code of a child, or 128 + the signal that ended it; -1 when it cannot be had. */
static int wait_for_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Return 0, or an errno value.  Closes fd. */
static int write_words(int fd, const struct idx_word **top, size_t count)
{
	FILE *out = fdopen(fd, "w");
	int error = 0;

	if (!out) {
		error = errno;
		close(fd);
		return error;
	}
	for (size_t i = 0; i < count; i++)
		if (fprintf(out, "%10" PRIu64 " %.*s\n", top[i]->count, top[i]->length, top[i]->text) < 0)
			error = errno;
	if (fclose(out))
		error = errno;
	return error;
}

/* Give the words to a child that sorts them. */
static int run_sort(const struct idx_word **top, size_t count)
{
	static const char *const argv[] = { "sort", "-k1,1nr", "-k2,2", NULL };
	struct trace2_child child = { .argv = argv, .trace2_child_class = "sort" };
	int ends[2], error, code = -1;
	pid_t pid = -1;

	if (pipe2(ends, O_CLOEXEC)) {
		idx_error("cannot make a pipe: %s", strerror(errno));
		return -1;
	}
	trace2_child_start(&child);
	error = spawn_with_input(argv, ends[0], &pid);
	close(ends[0]);
	if (error) {
		idx_error("cannot run %s: %s", argv[0], strerror(error));
		close(ends[1]);
	} else {
		child.pid = (int)pid;
		error = write_words(ends[1], top, count);
		if (error)
			idx_error("cannot write to %s: %s", argv[0], strerror(error));
		code = wait_for_child(pid);
	}
	trace2_child_exit(&child, code);
	return error || code ? -1 : 0;
}

int idx_report(const struct idx_words *words, size_t room)
{
	const struct idx_word *top[IDX_TOP_MAX];
	size_t count;
	int failed;

	trace2_region_enter("index", "report", NULL);
	count = idx_words_top(words, top, room < IDX_TOP_MAX ? room : IDX_TOP_MAX);
	trace2_data_intmax("index", NULL, "listed", (intmax_t)count);
	failed = run_sort(top, count);
	trace2_region_leave("index", "report", NULL);
	return failed;
}
