/* SPDX-License-Identifier: MIT */
/* traced.c - children with settings. */
#include "traced.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void traced_init(struct traced *t)
{
	const char *base = getenv("TMPDIR");

	memset(t, 0, sizeof(*t));
	snprintf(t->dir, sizeof(t->dir), "%.40s/t2test-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(t->dir))
		abort();
	snprintf(t->raw, sizeof(t->raw), "%s/raw.tlg", t->dir);
}

static void put_setting(const char *setting)
{
	size_t length = strcspn(setting, "=");
	char name[64] = "";

	if (length >= sizeof(name) || !setting[length])
		abort();
	memcpy(name, setting, length);
	if (setenv(name, setting + length + 1, 1))
		abort();
}

static void become_program(const struct traced *t, int (*program)(void *), void *data, const char *const *settings)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/stderr", t->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(99);
	close(fd);
	unsetenv("GIT_TRACE2_PARENT_SID");
	unsetenv("GIT_TRACE2_PARENT_NAME");
	snprintf(path, sizeof(path), "TRACE2_RAW=%s", t->raw);
	put_setting(path);
	put_setting("TRACE2_RAW_LZ4=0");
	snprintf(path, sizeof(path), "XDG_RUNTIME_DIR=%s", t->dir);   /* rings of those that are killed go with it */
	put_setting(path);
	for (; settings && *settings; settings++)
		put_setting(*settings);
	exit(program(data));
}

static void read_said(struct traced *t)
{
	char path[160];
	FILE *file;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/stderr", t->dir);
	file = fopen(path, "r");
	if (file) {
		n = fread(t->said, 1, sizeof(t->said) - 1, file);
		fclose(file);
	}
	t->said[n] = '\0';
}

void traced_run(struct traced *t, int (*program)(void *), void *data, const char *const *settings)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		become_program(t, program, data, settings);
	if (pid < 0 || waitpid(pid, &t->status, 0) != pid)
		abort();
	read_said(t);
}

void traced_done(struct traced *t)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", t->dir);
	if (system(command))
		perror(command);
}
