/* SPDX-License-Identifier: MIT */
/*
 * ctlask.c - P18: steers the programs of ctl.c, writes rubbish into their pages, and judges what is in their traces.
 *
 * usage: ctlask ask COUNTS T2 DIRECTORY SEED KINDS    commands to processes at random until the first one has ended
 *          KINDS  h: rubbish in control pages, instead of commands; k: SIGKILL behind some answers, at last to all
 *        ctlask judge COUNTS acked|all|known          reads lines of --format=ndjson: the values of events
 *          acked  what a command has answered to have written is there     all  each call that is certain is there
 *          known  no more than: nothing is there twice, or was never called
 *        ctlask over COUNTS                           the first program has ended
 *        ctlask total COUNTS                          print what was counted, fail if a command had no answer
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "ctl.h"

enum { LATEST_MS = 30000, PAGE = 4096 };

extern char **environ;

static struct counts *counts;
static uint64_t state;

static unsigned below(unsigned n)
{
	return (unsigned)(next_random(&state) >> 33) % n;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Its id may be another process's by now: a pidfd, once we know whose it is, stays right. */
static void kill_program(int32_t pid)
{
	int process = pid > 1 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	char path[64], program[4096], *name;
	ssize_t n;

	if (process < 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	name = strrchr(program, '/');
	if (name && (!strcmp(name, "/ctl") || !strcmp(name, "/shared")))
		syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
	close(process);
}

/* ---- commands ----------------------------------------------------------------------------------- */

/* What is asked.  wrote: its answer says that all that was recorded is written; is_switch: on, off */
static const struct command {
	const char *words[3];
	int wrote, is_switch, share;
} commands[] = {
	{ { "flush" }, 1, 0, 30 },        { { "on" }, 0, 1, 14 },           { { "on", "-o" }, 0, 1, 10 },
	{ { "off" }, 1, 1, 8 },           { { "rotate" }, 0, 0, 6 },        { { "status" }, 0, 0, 4 },
	{ { "snapshot" }, 0, 0, 6 },      { { "set", "flush=60s" }, 0, 0, 4 },
	{ { "set", "policy=block", "wait=20ms" }, 0, 0, 3 },                { { "set", "policy=discard" }, 0, 0, 3 },
	{ { "set", "memory=1k" }, 0, 0, 2 },
	{ { "profile", "cpu=1khz,heap=4k" }, 0, 0, 6 },
	{ { "profile", "off" }, 0, 0, 4 },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct command *choose(void)
{
	unsigned sum = 0, at;

	for (unsigned i = 0; i < COMMANDS; i++)
		sum += (unsigned)commands[i].share;
	at = below(sum);
	for (unsigned i = 0;; i++) {
		if (at < (unsigned)commands[i].share)
			return &commands[i];
		at -= (unsigned)commands[i].share;
	}
}

/*
 * Run t2.  is_late  filled with 1 if it says that it has not waited for an answer any more
 * Return  its exit status; -1: it did not end in time, by a signal, or failed without a word
 */
static int run(char **arguments, int *is_late)
{
	const uint64_t begin = now_ms();
	const struct timespec pause = { 0, 1000000 };
	char said[512] = "";
	int fd = memfd_create("said", MFD_CLOEXEC);
	posix_spawn_file_actions_t actions;
	int status = 0;
	uint32_t ms;
	pid_t child;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd, 2);
	if (posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ))
		exit(2);
	posix_spawn_file_actions_destroy(&actions);
	while (!waitpid(child, &status, WNOHANG)) {
		if (now_ms() - begin > LATEST_MS) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			break;
		}
		nanosleep(&pause, NULL);
	}
	ms = (uint32_t)(now_ms() - begin);
	if (ms > atomic_load(&counts->longest_ms))
		atomic_store(&counts->longest_ms, ms);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (pread(fd, said, sizeof(said) - 1, 0) <= 0 && status)
		status = -1;
	close(fd);
	*is_late = strstr(said, "in time") != NULL;
	return status;
}

/* What the process has returned from is what the answer is about. */
static void note(int32_t pid, uint64_t returned[SLOTS])
{
	unsigned n = atomic_load(&counts->slots);

	memset(returned, 0, SLOTS * sizeof(returned[0]));
	for (unsigned i = 0; i < n && i < SLOTS; i++)
		if (atomic_load(&counts->slot[i].pid) == pid && !atomic_load(&counts->slot[i].is_closed))
			returned[i] = atomic_load(&counts->slot[i].returned);
}

/* Not of a program that has become another one meanwhile: the answer may be the next one's. */
static void acknowledge(const uint64_t returned[SLOTS])
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (returned[i] > atomic_load(&counts->slot[i].acked) && !atomic_load(&counts->slot[i].is_closed))
			atomic_store(&counts->slot[i].acked, returned[i]);
}

static void ask(struct process *process, char *t2, char *directory, int kills)
{
	static uint64_t returned[SLOTS];
	const struct command *command = choose();
	char pid[16], timeout[] = "--timeout=2";
	char *arguments[10] = { t2, (char[]){ "ctl" }, timeout, pid };
	int n = 4, status, is_late;

	snprintf(pid, sizeof(pid), "%d", (int)atomic_load(&process->pid));
	for (int i = 0; i < 3 && command->words[i]; i++)
		arguments[n++] = (char *)(uintptr_t)command->words[i];
	if (!strcmp(arguments[n - 1], "-o"))
		arguments[n++] = directory;
	note(atomic_load(&process->pid), returned);
	atomic_fetch_add(&process->switching, (uint32_t)command->is_switch);
	status = run(arguments, &is_late);
	if (is_late && command->is_switch)
		atomic_store(&process->is_unsure, 1);
	atomic_fetch_add(&process->switched, (uint32_t)command->is_switch);
	atomic_fetch_sub(&process->switching, (uint32_t)command->is_switch);
	atomic_fetch_add(!status ? &counts->answered : status == 1 ? &counts->refused : &counts->silent, 1);
	if (!status && command->wrote) {
		atomic_fetch_add(&counts->flushed, 1);
		acknowledge(returned);
		if (kills && !below(8))
			kill_program(atomic_load(&process->pid));   /* what the answer says must hold now */
	}
}

/* ---- rubbish ------------------------------------------------------------------------------------ */

/* Into one page of the directory: numbers of its head, or anything.  Its length stays: that is SIGBUS by choice. */
static void scribble(const char *directory)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;
	unsigned char bytes[256];
	unsigned n = below((unsigned)sizeof(bytes)) + 1;
	off_t at = below(2) ? 16 + 4 * below(8) : below(PAGE);
	int fd = -1;

	while (stream && fd < 0 && (entry = readdir(stream)))
		if (strstr(entry->d_name, ".ctl") && !below(3))
			fd = openat(dirfd(stream), entry->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	for (unsigned i = 0; i < n; i++)
		bytes[i] = below(4) ? (unsigned char)below(256) : 0;
	if (at < 64)
		n = 4;
	if (fd >= 0 && at + n <= PAGE && pwrite(fd, bytes, n, at) > 0)
		atomic_fetch_add(&counts->scribbled, 1);
	if (fd >= 0)
		close(fd);
	if (stream)
		closedir(stream);
}

static void kill_all(void)
{
	unsigned n = atomic_load(&counts->processes);

	for (unsigned i = 0; i < n && i < PROCESSES; i++)
		kill_program(atomic_load(&counts->process[i].pid));
}

static int steer(char *t2, char *directory, const char *kinds)
{
	const char *pages = getenv("XDG_RUNTIME_DIR");
	const uint64_t until = now_ms() + 300 + below(1200);

	while (!atomic_load(&counts->is_over)) {
		unsigned n = atomic_load(&counts->processes);
		const struct timespec pause = { 0, 1000L * (1 + below(3000)) };

		if (strchr(kinds, 'k') && now_ms() > until)
			break;
		if (strchr(kinds, 'h'))
			scribble(pages ? pages : "/dev/shm");
		else if (n)
			ask(&counts->process[below(n < PROCESSES ? n : PROCESSES)], t2, directory,
			    strchr(kinds, 'k') != NULL);
		nanosleep(&pause, NULL);
	}
	if (strchr(kinds, 'k'))
		kill_all();
	return 0;
}

/* ---- the judge ---------------------------------------------------------------------------------- */

static uint8_t (*seen)[CALLS / 8];

static int is_set(const uint8_t *bits, uint64_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

static int judge(const char *what)
{
	unsigned long long lines = 0, twice = 0, unknown = 0, missing = 0, due = 0;
	char *line = NULL;
	size_t size = 0;

	seen = calloc(SLOTS, sizeof(*seen));
	while (seen && getline(&line, &size, stdin) > 0) {
		const char *text = strstr(line, "\"label\":\"n\""), *digits = text ? strstr(text, "\"value\":") : NULL;
		uint64_t value = digits ? strtoull(digits + 8 + (digits[8] == '"'), NULL, 10) : 0;
		uint64_t slot = value >> SLOT_SHIFT, i = value & ((UINT64_C(1) << SLOT_SHIFT) - 1);

		if (!digits)
			continue;
		lines++;
		if (slot >= SLOTS || !i || i > counts->slot[slot].begun) {
			unknown++;
			continue;
		}
		twice += (unsigned)is_set(seen[slot], i);
		seen[slot][i / 8] |= (uint8_t)(1 << i % 8);
	}
	for (unsigned s = 0; seen && s < SLOTS && s < counts->slots && *what != 'k'; s++) {
		uint64_t end = *what == 'a' && what[1] == 'c' ? counts->slot[s].acked : counts->slot[s].returned;
		for (uint64_t i = 1; i <= end; i++) {
			int is_due = is_set((const uint8_t *)(uintptr_t)counts->slot[s].certain, i);
			due += (unsigned)is_due;
			missing += is_due && !is_set(seen[s], i);
		}
	}
	free(line);
	printf("%s: %llu events, %llu due, %llu missing, %llu twice, %llu unknown\n", what, lines, due, missing, twice,
	       unknown);
	return !seen || missing || twice || unknown;
}

static int print_total(void)
{
	unsigned long long calls = 0;

	for (unsigned i = 0; i < counts->slots && i < SLOTS; i++)
		calls += counts->slot[i].returned;
	printf("%u processes, %u slots, %llu calls, %u answers, %u errors, %u of flushes, %u times rubbish, "
	       "longest answer %u ms, %u silent\n",
	       counts->processes, counts->slots, calls, counts->answered, counts->refused, counts->flushed,
	       counts->scribbled, counts->longest_ms, counts->silent);
	return counts->silent || counts->slots > SLOTS || counts->processes > PROCESSES;
}

int main(int argc, char **argv)
{
	if (argc < 3 || !(counts = map_counts(argv[2])))
		return 2;
	if (!strcmp(argv[1], "ask") && argc > 6) {
		state = strtoull(argv[5], NULL, 10) * 2 + 1;
		below(2);
		return steer(argv[3], argv[4], argv[6]);
	}
	if (!strcmp(argv[1], "judge") && argc > 3)
		return judge(argv[3]);
	if (!strcmp(argv[1], "over")) {
		atomic_store(&counts->is_over, 1);
		return 0;
	}
	return strcmp(argv[1], "total") != 0 ? 2 : print_total();
}
