/* SPDX-License-Identifier: MIT */
/* traced.c - see traced.h. */
#include "traced.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "begun.h"

struct traced t;
struct raw_file file;

enum { ROOM_BYTES = 1 << 30 };

/* The directory is in memory, as rings are in production: on a disk, making a ring takes ten times as long. */
static const char *find_base(void)
{
	const char *base = getenv("TMPDIR");
	struct statvfs space;

	if (base)
		return base;
	return !access("/dev/shm", W_OK) && !statvfs("/dev/shm", &space) &&
	       space.f_bavail >= ROOM_BYTES / space.f_frsize ? "/dev/shm" : "/tmp";
}

void traced_init(struct traced *traced)
{
	begun_before_forks();   /* before the library installs its fork handlers, so that this one runs after them */
	memset(traced, 0, sizeof(*traced));
	snprintf(traced->dir, sizeof(traced->dir), "%.40s/t2test-XXXXXX", find_base());
	if (!mkdtemp(traced->dir))
		abort();
	snprintf(traced->raw, sizeof(traced->raw), "%s/raw.tlg", traced->dir);
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

void traced_into(const struct traced *traced)
{
	setenv("XDG_RUNTIME_DIR", traced->dir, 1);
	setenv("TRACE2_RAW", traced->raw, 1);
}

static void become_program(const struct traced *traced, int (*program)(void *), void *data, const char *const *settings)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/stderr", traced->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(99);
	close(fd);
	unsetenv("GIT_TRACE2_PARENT_SID");
	unsetenv("GIT_TRACE2_PARENT_NAME");
	traced_into(traced);
	put_setting("TRACE2_RAW_LZ4=0");
	for (; settings && *settings; settings++)
		put_setting(*settings);
	exit(program(data));
}

static void read_messages(struct traced *traced)
{
	char path[160];
	FILE *in;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/stderr", traced->dir);
	in = fopen(path, "r");
	if (in) {
		n = fread(traced->said, 1, sizeof(traced->said) - 1, in);
		fclose(in);
	}
	traced->said[n] = '\0';
}

void traced_run(struct traced *traced, int (*program)(void *), void *data, const char *const *settings)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		become_program(traced, program, data, settings);
	if (pid < 0 || waitpid(pid, &traced->status, 0) != pid)
		abort();
	read_messages(traced);
}

void traced_slow_target(void (*pause)(void *data), void *data)
{
	char bytes[16384];
	int ends[2], from, to, fd;
	ssize_t n;

	if (pipe(ends))
		abort();
	from = fcntl(ends[0], F_DUPFD, 20);   /* either may be 9 */
	to = fcntl(ends[1], F_DUPFD, 20);
	close(ends[0]);
	close(ends[1]);
	if (dup2(to, 9) != 9)
		abort();
	close(to);
	if (fork()) {
		close(from);
		return;
	}
	close(9);
	fd = open(t.raw, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		abort();
	while (pause(data), (n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, (size_t)n) != n)
			abort();
	_exit(0);
}

void *traced_shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

void traced_done(struct traced *traced)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", traced->dir);
	if (system(command))
		perror(command);
}

int traced_setup(void **state)
{
	(void)state;
	traced_init(&t);
	return 0;
}

int traced_teardown(void **state)
{
	(void)state;
	raw_free(&file);
	traced_done(&t);
	return 0;
}

size_t traced_count(const char *part)
{
	size_t n = 0;

	for (const char *at = t.said; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

const char *traced_path(const char *name)
{
	static char paths[4][160];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", t.dir, name);
	return path;
}
