/* SPDX-License-Identifier: MIT */
/* tr2p_tasks.c - /proc/self/task by bare system calls, for no thread is to be cancelled here. */
#include "tr2p_tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char drain[] = "trace2-drain";   /* libtrace2's thread, which blocks all signals */

/* A file of the thread's.  Return  -1: the thread has ended */
static int open_file(pid_t tid, const char *name)
{
	char path[64] = "/proc/self/task/", digits[16];
	size_t n = strlen(path), i = sizeof(digits);
	unsigned number = (unsigned)tid;

	do
		digits[--i] = (char)('0' + number % 10);
	while (number /= 10);
	memcpy(path + n, digits + i, sizeof(digits) - i);
	n += sizeof(digits) - i;
	path[n++] = '/';
	memcpy(path + n, name, strlen(name) + 1);
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

void tr2p_tasks_name(pid_t tid, char *name, size_t size)
{
	int fd = open_file(tid, "comm");
	long n = fd < 0 ? 0 : syscall(SYS_read, fd, name, size - 1);

	if (fd >= 0)
		syscall(SYS_close, fd);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

/* ---- deaf ones ------------------------------------------------------------------------------------- */

/* The value of a line of the file "status", if it is this one; else NULL. */
static const char *value_of(const char *line, const char *key)
{
	size_t n = strlen(key);

	return strncmp(line, key, n) == 0 ? line + n : NULL;
}

static uint64_t parse_hex(const char *text)
{
	uint64_t value = 0;

	for (; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++)
		value = value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return value;
}

static int says_deaf(const char *line, int signal)
{
	const char *state = value_of(line, "State:\t"), *blocked = value_of(line, "SigBlk:\t");

	return (state && *state == 'Z') || (blocked && parse_hex(blocked) >> (signal - 1) & 1);
}

int tr2p_tasks_is_deaf(pid_t tid, int signal)
{
	char bytes[256], line[40] = "";
	int fd = open_file(tid, "status"), is_deaf = 0;
	size_t length = 0;
	long n;

	while (fd >= 0 && !is_deaf && (n = syscall(SYS_read, fd, bytes, sizeof(bytes))) > 0)
		for (long i = 0; i < n; i++) {
			if (bytes[i] != '\n') {
				line[length] = bytes[i];
				length += length < sizeof(line) - 1;
				continue;
			}
			line[length] = '\0';
			is_deaf |= says_deaf(line, signal);
			length = 0;
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return is_deaf;
}

/* ---- all ------------------------------------------------------------------------------------------- */

/* Return  0: it is no number */
static pid_t parse_tid(const char *text)
{
	pid_t tid = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		tid = tid * 10 + (*text - '0');
	return *text ? 0 : tid;
}

static int visit_one(const char *entry, int visit(pid_t tid, void *data), void *data)
{
	pid_t tid = parse_tid(entry);
	char name[sizeof(drain) + 2] = "";

	if (tid > 0)
		tr2p_tasks_name(tid, name, sizeof(name));
	return tid > 0 && strcmp(name, drain) != 0 ? visit(tid, data) : 0;
}

int tr2p_tasks_each(int visit(pid_t tid, void *data), void *data)
{
	_Alignas(struct dirent64) char entries[512];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;
	long n;

	if (fd < 0)
		return errno;
	while (!result && (n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (long at = 0; !result && at < n;) {
			const struct dirent64 *entry = (const struct dirent64 *)(void *)(entries + at);
			result = visit_one(entry->d_name, visit, data);
			at += entry->d_reclen;
		}
	syscall(SYS_close, fd);
	return result;
}
