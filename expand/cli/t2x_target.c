/* SPDX-License-Identifier: MIT */
/* t2x_target.c - see t2x_target.h. */
#include "t2x_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tlg_signal.h"

static const char no_process[] = "there is no such process";

/* ---- holding it --------------------------------------------------------------------------------- */

/* /proc may be that of another PID namespace: what it says of this id is about another process. */
static int is_proc_ours(void)
{
	char self[32];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	return atol(self) == (long)getpid();
}

static const char *open_directory(struct t2x_target *process, uint32_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", (unsigned)pid);
	process->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (process->directory < 0)
		return errno == ENOENT && is_proc_ours() ? no_process : "cannot be asked: it is not in /proc";
	if (!is_proc_ours())
		return "cannot be asked: /proc is that of another PID namespace";
	if (fstat(process->directory, &st))
		return strerror(errno);
	process->user = st.st_uid;
	return NULL;
}

const char *t2x_target_open(struct t2x_target *process, uint32_t pid)
{
	const char *why;

	*process = (struct t2x_target){ .directory = -1 };
	process->fd = pid <= INT32_MAX ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
	if (process->fd < 0 && (pid > INT32_MAX || errno == ESRCH))
		return no_process;
	if (process->fd < 0)
		return errno == EINVAL || errno == ENOENT ? "is a thread, not a process" :
		       errno == ENOSYS ? "cannot be asked safely: this kernel has no pidfd_open(2)" :
		       strerror(errno);
	why = open_directory(process, pid);
	if (why)
		t2x_target_close(process);
	return why;
}

void t2x_target_close(struct t2x_target *process)
{
	if (process->fd >= 0)
		close(process->fd);
	if (process->directory >= 0)
		close(process->directory);
	process->fd = process->directory = -1;
}

/* A file of /proc/PID.  Return  -1: with errno; ESRCH: the process has ended, whoever has its id now */
static int open_file(const struct t2x_target *process, const char *name)
{
	return openat(process->directory, name, O_RDONLY | O_CLOEXEC);
}

static FILE *open_text(const struct t2x_target *process, const char *name)
{
	int fd = open_file(process, name);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* ---- the mark ----------------------------------------------------------------------------------- */

/*
 * A line of /proc/PID/maps is that of a mark?  It is private, and nobody may read or write it.
 * Return  the signal that its name says; 0: it is none
 */
static int parse_mark(const char *line, uint64_t *address)
{
	static const char name[] = "/memfd:trace2-threads-";
	char digits[3] = "", rest[16] = "";
	unsigned long long start;
	int at = 0;

	if (sscanf(line, "%llx-%*x ---p %*s %*s %*s %n", &start, &at) != 1 || !at ||
	    strncmp(line + at, name, strlen(name)) != 0)
		return 0;
	if (sscanf(line + at + strlen(name), "%2[0-9] %15s", digits, rest) != 2 || strcmp(rest, "(deleted)") != 0)
		return 0;
	*address = start;
	return tlg_signal_parse(digits);
}

/*
 * The page at this address is in memory, or swapped out, and none of a file.
 * Return  0 also if we may not look, with *why
 */
static int is_own_page(const struct t2x_target *process, uint64_t address, const char **why)
{
	const uint64_t present = UINT64_C(1) << 63, swapped = UINT64_C(1) << 62, file = UINT64_C(1) << 61;
	uint64_t entry = 0, at = address / (uint64_t)sysconf(_SC_PAGESIZE) * sizeof(entry);
	int fd = open_file(process, "pagemap");

	if (fd < 0 || pread(fd, &entry, sizeof(entry), (off_t)at) != sizeof(entry)) {
		*why = "cannot be asked: its /proc/PID/pagemap cannot be read";
		entry = 0;
	}
	if (fd >= 0)
		close(fd);
	return (entry & (present | swapped)) && !(entry & file);
}

int t2x_target_mark(const struct t2x_target *process, const char **why)
{
	FILE *maps = open_text(process, "maps");
	char *line = NULL;
	size_t size = 0;
	uint64_t address;
	int signo = 0;

	*why = NULL;
	if (!maps)
		*why = errno == ENOENT || errno == ESRCH ? no_process :
		       errno == EACCES || errno == EPERM ? "cannot be asked: only its user or root may look into it" :
		       strerror(errno);
	while (maps && !signo && getline(&line, &size, maps) > 0) {
		signo = parse_mark(line, &address);
		if (signo && !is_own_page(process, address, why))
			signo = 0;
	}
	free(line);
	if (maps)
		fclose(maps);
	return signo;
}

/* ---- the signal --------------------------------------------------------------------------------- */

/* The rest of a line of /proc/PID/status as a number, in hex.  Return  0: it is not there */
static uint64_t read_status(const struct t2x_target *process, const char *key)
{
	FILE *file = open_text(process, "status");
	char *line = NULL;
	uint64_t value = 0;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0)
		if (!strncmp(line, key, strlen(key)))
			value = strtoull(line + strlen(key), NULL, 16);
	free(line);
	if (file)
		fclose(file);
	return value;
}

/* What is sent to who does not handle it would end the process. */
static int is_handled(const struct t2x_target *process, int signo)
{
	return signo > 0 && signo <= 64 && read_status(process, "SigCgt:") >> (signo - 1) & 1;
}

static int send_signal(const struct t2x_target *process, int signo)
{
	return (int)syscall(SYS_pidfd_send_signal, process->fd, signo, NULL, 0);
}

const char *t2x_target_ask(const struct t2x_target *process, int signo)
{
	if (!tlg_signal_may_ask(signo))
		return "cannot be asked: what it names is no signal that asks";
	if (!is_handled(process, signo))
		return send_signal(process, 0) ? no_process : "cannot be asked: it does not handle the signal any more";
	if (!send_signal(process, signo))
		return NULL;
	return errno == ESRCH ? no_process : strerror(errno);
}
