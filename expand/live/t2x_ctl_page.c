/* SPDX-License-Identifier: MIT */
/* t2x_ctl_page.c - see t2x_ctl_page.h. */
#include "t2x_ctl_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__   /* ThreadSanitizer does not support fences */
#define FENCE(order) ((void)0)
#else
#define FENCE(order) __atomic_thread_fence(order)
#endif

enum { SLICE_MS = 50, LOCK_MS = 2 };

static const char no_process[] = "there is no such process";

/* ---- opening ------------------------------------------------------------------------------------ */

/* 1: the process has mapped this file.  Of a process that has ended or that we may not look into: 0 */
static int has_mapped(const struct t2x_ctl_page *page, const struct stat *st)
{
	int fd = openat(page->directory, "maps", O_RDONLY | O_CLOEXEC), found = 0;
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned long inode;
	unsigned major, minor;
	char *line = NULL;
	size_t size = 0;

	if (fd >= 0 && !maps)
		close(fd);
	while (maps && !found && getline(&line, &size, maps) > 0)
		found = sscanf(line, "%*s %*s %*s %x:%x %lu", &major, &minor, &inode) == 3 &&
			inode == st->st_ino && makedev(major, minor) == st->st_dev;
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

static const char *open_process(struct t2x_ctl_page *page)
{
	char path[64];

	page->process = page->pid <= INT_MAX ? (int)syscall(SYS_pidfd_open, (pid_t)page->pid, 0) : -1;
	if (page->process < 0 && (page->pid > INT_MAX || errno == ESRCH))
		return no_process;
	snprintf(path, sizeof(path), "/proc/%u", (unsigned)page->pid);
	page->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return page->directory < 0 ? no_process : NULL;
}

/* The file, without a look at what is in it. */
static const char *open_file(struct t2x_ctl_page *page, const char *path)
{
	struct stat st;

	page->fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (page->fd < 0)
		return errno == EACCES ? "only its user and root may steer it" : strerror(errno);
	if (fstat(page->fd, &st) || !S_ISREG(st.st_mode) || st.st_size != TLG_CTL_BYTES || st.st_nlink != 1)
		return "its control page is no such file";
	if (st.st_mode & 077 || (st.st_uid != geteuid() && geteuid()))
		return "its control page belongs to another user, or is open to others";
	if (!has_mapped(page, &st))
		return access("/proc/self/maps", R_OK) ? "/proc is not there" :
		       "it has no control page any more: it has executed another program, or its page is another's";
	return NULL;
}

static const char *check_head(const struct t2x_ctl_page *page)
{
	struct tlg_ctl head;

	if (pread(page->fd, &head, offsetof(struct tlg_ctl, command), 0) != (ssize_t)offsetof(struct tlg_ctl, command))
		return "its control page cannot be read";
	if (head.magic != TLG_CTL_MAGIC)
		return "its control page is damaged";
	return head.layout == TLG_CTL_LAYOUT && head.bytes == TLG_CTL_BYTES ? NULL :
	       "its control page has the layout of another version";
}

const char *t2x_ctl_page_open(struct t2x_ctl_page *page, const char *path, uint32_t pid)
{
	const char *why;
	void *mapping = MAP_FAILED;

	*page = (struct t2x_ctl_page){ .fd = -1, .directory = -1, .process = -1, .pid = pid };
	why = open_process(page);
	if (!why)
		why = open_file(page, path);
	if (!why)
		why = check_head(page);
	if (!why) {
		mapping = mmap(NULL, TLG_CTL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, page->fd, 0);
		why = mapping == MAP_FAILED ? strerror(errno) : NULL;
	}
	if (why)
		t2x_ctl_page_close(page);
	else
		page->mapping = mapping;
	return why;
}

void t2x_ctl_page_close(struct t2x_ctl_page *page)
{
	if (page->mapping)
		munmap(page->mapping, TLG_CTL_BYTES);
	if (page->fd >= 0)
		close(page->fd);
	if (page->directory >= 0)
		close(page->directory);
	if (page->process >= 0)
		close(page->process);
	*page = (struct t2x_ctl_page){ .fd = -1, .directory = -1, .process = -1 };
}

/* ---- asking ------------------------------------------------------------------------------------- */

int t2x_ctl_join(const char *const *words, int nwords, char command[TLG_CTL_COMMAND])
{
	int n = 0;

	for (int i = 0; i < nwords; i++) {
		if (i && n < TLG_CTL_COMMAND)
			command[n++] = ' ';
		for (const char *at = words[i]; *at; at++) {
			if ((unsigned char)*at < ' ' || *at == 127 || n + 2 > TLG_CTL_COMMAND)
				return -1;
			if (*at == ' ' || *at == '\\')
				command[n++] = '\\';
			command[n++] = *at;
		}
	}
	return nwords > TLG_CTL_WORDS ? -1 : n;
}

static uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int get_number(const struct t2x_ctl_page *page, size_t at, uint32_t *number)
{
	return pread(page->fd, number, sizeof(*number), (off_t)at) == sizeof(*number);
}

static int put(const struct t2x_ctl_page *page, size_t at, const void *data, size_t bytes)
{
	return pwrite(page->fd, data, bytes, (off_t)at) == (ssize_t)bytes;
}

static void *address(const struct t2x_ctl_page *page, size_t at)
{
	return (char *)page->mapping + at;
}

static void fail(struct t2x_ctl_answer *answer, const char *why)
{
	answer->kind = TLG_CTL_ERROR;
	snprintf(answer->text, sizeof(answer->text), "%s", why);
}

/* Askers come one behind the other.  Return  0: another one did not end in time */
static int lock(const struct t2x_ctl_page *page, uint64_t until)
{
	const struct timespec pause = { 0, LOCK_MS * 1000000 };

	while (flock(page->fd, LOCK_EX | LOCK_NB)) {
		if (clock_ms() >= until)
			return 0;
		nanosleep(&pause, NULL);
	}
	return 1;
}

/* Return  the number of the command; 0: the page cannot be written */
static uint32_t put_command(const struct t2x_ctl_page *page, const char *command, int bytes)
{
	const uint32_t size = (uint32_t)bytes, add = FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0);
	uint32_t *bell = address(page, offsetof(struct tlg_ctl, bell));
	uint32_t asked, answered, number;

	if (!get_number(page, offsetof(struct tlg_ctl, asked), &asked) ||
	    !get_number(page, offsetof(struct tlg_ctl, answered), &answered))
		return 0;
	number = (asked > answered ? asked : answered) + 1;
	number += !number;
	if (!put(page, offsetof(struct tlg_ctl, command), command, size) ||
	    !put(page, offsetof(struct tlg_ctl, command_bytes), &size, sizeof(size)))
		return 0;
	FENCE(__ATOMIC_RELEASE); /* [M23] release: the command.  Pairs with tr2_page_take() */
	if (!put(page, offsetof(struct tlg_ctl, asked), &number, sizeof(number)) ||
	    syscall(SYS_futex, bell, FUTEX_WAKE_OP, INT_MAX, NULL, bell, add) < 0)
		return 0;
	return number;
}

static int has_ended(const struct t2x_ctl_page *page)
{
	struct pollfd ended = { .fd = page->process, .events = POLLIN };

	return page->process >= 0 && poll(&ended, 1, 0) > 0;
}

static void fence_acquire(void)
{
	FENCE(__ATOMIC_ACQUIRE);
}

static int get_answered(const struct t2x_ctl_page *page, uint32_t *number)
{
	int is_there = get_number(page, offsetof(struct tlg_ctl, answered), number);

	fence_acquire(); /* [M24] acquire: the answer.  Pairs with tr2_page_answer() */
	return is_there;
}

/* Return  1: there is an answer; 0: not in time, with why */
static int await(const struct t2x_ctl_page *page, uint32_t number, uint64_t until, const char **why)
{
	const struct timespec slice = { 0, SLICE_MS * 1000000 };
	uint32_t answered;

	for (;;) {
		if (!get_answered(page, &answered)) {
			*why = "its control page is gone";
			return 0;
		}
		if (answered == number)
			return 1;
		if (has_ended(page) || clock_ms() >= until)
			break;
		syscall(SYS_futex, address(page, offsetof(struct tlg_ctl, answered)), FUTEX_WAIT, answered, &slice,
			NULL, 0);
	}
	*why = has_ended(page) ? "it has ended" : "it did not answer in time: it is stopped, or very busy";
	return 0;
}

static void get_answer(const struct t2x_ctl_page *page, struct t2x_ctl_answer *answer)
{
	uint32_t kind, bytes;

	if (!get_number(page, offsetof(struct tlg_ctl, kind), &kind) ||
	    !get_number(page, offsetof(struct tlg_ctl, answer_bytes), &bytes) || bytes > TLG_CTL_ANSWER ||
	    kind < TLG_CTL_DONE || kind > TLG_CTL_LATER ||
	    pread(page->fd, answer->text, bytes, offsetof(struct tlg_ctl, answer)) != (ssize_t)bytes) {
		fail(answer, "it has answered with something that is no answer");
		return;
	}
	answer->kind = kind;
	answer->text[bytes] = '\0';
}

/* What nobody waits for any more shall not be done later, as far as that is possible. */
static void take_back(const struct t2x_ctl_page *page)
{
	const uint32_t nothing = 0;

	put(page, offsetof(struct tlg_ctl, command_bytes), &nothing, sizeof(nothing));
}

void t2x_ctl_page_ask(struct t2x_ctl_page *page, const char *const *words, int nwords, unsigned ms,
		      struct t2x_ctl_answer *answer)
{
	const uint64_t until = clock_ms() + ms;
	char command[TLG_CTL_COMMAND];
	const char *why = NULL;
	int bytes = t2x_ctl_join(words, nwords, command);
	uint32_t number;

	if (bytes < 0) {
		fail(answer, "the command is too long, or has control characters");
		return;
	}
	if (!lock(page, until)) {
		fail(answer, "others are asking it");
		return;
	}
	number = put_command(page, command, bytes);
	if (!number)
		fail(answer, "its control page is gone");
	else if (await(page, number, until, &why))
		get_answer(page, answer);
	else
		fail(answer, why);
	if (why)
		take_back(page);
	flock(page->fd, LOCK_UN);
}
