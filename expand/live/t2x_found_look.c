/* SPDX-License-Identifier: MIT */
/* t2x_found_look.c - ring files, and which of them are wanted. */
#include "t2x_found_private.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recover/t2x_ring_files.h"

enum {
	EVERY = 20,                       /* so many looks search directories once, whatever inotify says */
	SEARCH_MS = 40,                   /* between two searches of directories, however much inotify says */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- processes ---------------------------------------------------------------------------------- */

static int is_descendant(const char *sid, const char *parent)
{
	size_t n = strlen(parent);

	return n && !strncmp(sid, parent, n) && sid[n] == '/';
}

/* The process, who came behind it by exec(3), or a descendant of these. */
static int is_of_process(const struct t2x_found *found, const struct t2x_tap *tap)
{
	if (tap->head.pid == found->target.pid)
		return 1;
	for (const struct t2x_tap *other = found->taps; other; other = other->next)
		if (other != tap && other->is_wanted && is_descendant(tap->head.sid, other->head.sid))
			return 1;
	return 0;
}

/* By exec(3), of a process that wrote the file: it may have rotated at once. */
static int is_successor(const struct t2x_found *found, const struct t2x_tap *tap)
{
	const struct t2x_tap *other = found->taps;

	while (other && (other == tap || !other->is_wanted || other->head.pid != tap->head.pid))
		other = other->next;
	return other != NULL;
}

static int is_in_directory(const char *path, const struct stat *directory)
{
	const char *slash = strrchr(path, '/');
	char parent[TLG_RING_PATH];
	struct stat st;

	if (!slash)
		return 0;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path) + 1, path);
	return !stat(parent, &st) && st.st_dev == directory->st_dev && st.st_ino == directory->st_ino;
}

static int is_wanted(const struct t2x_found *found, const struct t2x_tap *tap)
{
	struct stat st;

	switch (found->target.kind) {
	case T2X_FOLLOW_FILE:
		return t2x_found_tail(found, (dev_t)tap->file.device, (ino_t)tap->file.inode) ||
		       is_successor(found, tap);
	case T2X_FOLLOW_PROCESS:
		return is_of_process(found, tap);
	case T2X_FOLLOW_DIRECTORY:
		return tap->file.path[0] && !stat(found->target.path, &st) && is_in_directory(tap->file.path, &st);
	default:
		return 1;
	}
}

static int has_tap(const struct t2x_found *found, const char *path)
{
	for (const struct t2x_tap *tap = found->taps; tap; tap = tap->next)
		if (!strcmp(tap->path, path))
			return 1;
	return 0;
}

/* What lay there before, and is dead, is nothing that runs; but it may belong to the one file, or be the process. */
static int takes_dead(const struct t2x_found_target *target, const struct t2x_tap *tap)
{
	return target->kind == T2X_FOLLOW_FILE || (target->takes_dead && target->pid == tap->head.pid);
}

/* pid  as t2x_ring_files_find() has it.  Return  0 or -ENOMEM */
static int look_for_rings_of(struct t2x_found *found, uint32_t pid)
{
	struct t2x_ring_files files;
	int error = t2x_ring_files_find(&files, pid, found->target.user);

	for (unsigned i = 0; !error && i < files.n; i++) {
		struct t2x_tap *tap = has_tap(found, files.paths[i]) ? NULL : t2x_tap_open(files.paths[i]);

		found->is_forbidden |= pid && access(files.paths[i], R_OK) && errno == EACCES;
		if (!tap)
			continue;
		t2x_tap_check(tap);
		if (!found->looks && tap->state == T2X_TAP_DEAD && !takes_dead(&found->target, tap))
			tap->state = T2X_TAP_OVER;
		tap->next = found->taps;
		found->taps = tap;
	}
	t2x_ring_files_free(&files);
	return error;
}

/* Return  0 or -ENOMEM */
static int look_for_rings(struct t2x_found *found)
{
	int error = look_for_rings_of(found, 0);

	/* The one process may be another user's, whom root looks at. */
	if (!error && found->target.kind == T2X_FOLLOW_PROCESS)
		error = look_for_rings_of(found, found->target.pid);
	return error;
}

static void check_taps(struct t2x_found *found)
{
	for (struct t2x_tap *tap = found->taps; tap; tap = tap->next) {
		/* Whose a process is may be known a little later than that it is there. */
		int is_new = tap->state == T2X_TAP_NEW || !tap->file.path[0];
		int is_due = tap->is_wanted || is_new || !(found->looks % EVERY);

		if (tap->state != T2X_TAP_OVER && is_due)
			t2x_tap_check(tap);
	}
	for (struct t2x_tap *tap = found->taps; tap; tap = tap->next) {
		if (tap->state == T2X_TAP_NEW || (!tap->checks && tap->state == T2X_TAP_OVER))
			continue;
		if (!tap->is_wanted && tap->state != T2X_TAP_OVER)
			tap->is_wanted = is_wanted(found, tap);
		/* The file of a process that has ended was closed when nobody wrote it any more. */
		if (tap->is_wanted && !tap->is_done)
			t2x_found_add_file_of(found, tap);
	}
}

/* Forget processes that have ended; a ring file that is still there is not opened again. */
static void forget_taps(struct t2x_found *found)
{
	for (struct t2x_tap **at = &found->taps; *at;) {
		struct t2x_tap *tap = *at;

		if (tap->state != T2X_TAP_OVER || !access(tap->path, F_OK) || t2x_tap_has_process(tap)) {
			at = &tap->next;
			continue;
		}
		*at = tap->next;
		t2x_tap_close(tap);
	}
}

int t2x_found_is_alive(const struct t2x_found *found)
{
	for (const struct t2x_tap *tap = found->taps; tap; tap = tap->next)
		if (tap->is_wanted && (tap->state != T2X_TAP_OVER || t2x_tap_has_process(tap)))
			return 1;
	return 0;
}

/* ---- all ---------------------------------------------------------------------------------------- */

const char *t2x_found_init(struct t2x_found *found, const struct t2x_found_target *target)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int error = 0;

	*found = (struct t2x_found){ .target = *target, .watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC) };
	t2x_found_watch(found, "/dev/shm");
	if (runtime && *runtime == '/')
		t2x_found_watch(found, runtime);
	if (target->kind == T2X_FOLLOW_DIRECTORY)
		t2x_found_add_directory(found, target->path);
	if (target->kind == T2X_FOLLOW_FILE) {
		error = t2x_found_add_tail(found, target->path, T2X_FOUND_SINCE, 0);
		t2x_found_add_directory_of(found, target->path);
	}
	return error ? strerror(-error) : NULL;
}

void t2x_found_free(struct t2x_found *found)
{
	while (found->taps) {
		struct t2x_tap *tap = found->taps;

		found->taps = tap->next;
		t2x_tap_close(tap);
	}
	while (found->tails) {
		struct t2x_found_tail *tail = found->tails;

		found->tails = tail->next;
		t2x_tail_close(&tail->tail);
		free(tail);
	}
	for (unsigned i = 0; i < found->nfiles; i++)
		free(found->files[i].path);
	free(found->files);
	t2x_map_free(&found->by_file);
	while (found->ndirectories)
		free(found->directories[--found->ndirectories].path);
	if (found->watch >= 0)
		close(found->watch);
}

int t2x_found_look(struct t2x_found *found)
{
	int error = 0, is_due = found->has_event || found->watch < 0 || !(found->looks % EVERY);
	int searches = found->is_due || is_due;

	found->has_event = 0;
	if (is_due)
		error = look_for_rings(found);
	/* Before files are looked for: at the first look, files of processes that run are read from the beginning. */
	check_taps(found);
	found->is_due = searches && now_ms() - found->searched_ms < SEARCH_MS;
	if (!error && searches && !found->is_due) {
		error = t2x_found_search(found);
		found->searched_ms = now_ms();
	}
	if (found->target.kind == T2X_FOLLOW_DIRECTORY || found->target.kind == T2X_FOLLOW_ALL)
		t2x_found_close_idle(found);
	forget_taps(found);
	found->looks++;
	return error;
}

void t2x_found_wait(struct t2x_found *found, int ms)
{
	struct pollfd event = { .fd = found->watch, .events = POLLIN };
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000L };
	char buffer[4096];

	if (found->watch < 0) {
		nanosleep(&pause, NULL);
		return;
	}
	if (poll(&event, 1, ms) > 0)
		found->has_event = 1;
	while (found->has_event && read(found->watch, buffer, sizeof(buffer)) > 0)
		continue;
}
