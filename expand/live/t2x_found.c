/* SPDX-License-Identifier: MIT */
/* t2x_found.c - see t2x_found.h. */
#include "t2x_found.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "read/t2x_seek.h"
#include "recover/t2x_ring_files.h"

enum {
	EVERY = 20,                       /* so many looks search directories once, whatever inotify says */
	SEARCH_MS = 40,                   /* between two searches of directories, however much inotify says */
	IDLE = 100,                       /* looks after which a file of a directory is closed */
};

#define FROM_SINCE UINT64_MAX             /* an offset that has to be found */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- directories -------------------------------------------------------------------------------- */

static void watch(struct t2x_found *found, const char *directory)
{
	if (found->watch >= 0)
		inotify_add_watch(found->watch, directory, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
}

static int has_directory(const struct t2x_found *found, const struct stat *st)
{
	for (unsigned i = 0; i < found->ndirectories; i++)
		if (found->directories[i].device == st->st_dev && found->directories[i].inode == st->st_ino)
			return 1;
	return 0;
}

/* Look for new files in this directory from now on. */
static void add_directory(struct t2x_found *found, const char *path)
{
	struct stat st;
	char *copy;

	if (stat(path, &st) || !S_ISDIR(st.st_mode) || has_directory(found, &st) ||
	    found->ndirectories == sizeof(found->directories) / sizeof(found->directories[0]))
		return;
	copy = strdup(path);
	if (!copy)
		return;
	found->directories[found->ndirectories].device = st.st_dev;
	found->directories[found->ndirectories].inode = st.st_ino;
	found->directories[found->ndirectories++].path = copy;
	watch(found, path);
	found->has_event = 1;
}

/* The directory in which a file lies. */
static void add_directory_of(struct t2x_found *found, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *copy = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	if (copy)
		add_directory(found, copy);
	free(copy);
}

/* ---- .tlg files --------------------------------------------------------------------------------- */

static struct t2x_found_tail *find_tail(const struct t2x_found *found, dev_t device, ino_t inode)
{
	struct t2x_found_tail *tail = found->tails;

	while (tail && (tail->tail.device != device || tail->tail.inode != inode))
		tail = tail->next;
	return tail;
}

/* at: an offset at which a frame begins, or FROM_SINCE.  Return  0 or -errno */
static int add_tail(struct t2x_found *found, const char *path, uint64_t at, int is_guess)
{
	struct t2x_found_tail *tail = calloc(1, sizeof(*tail));
	unsigned streams = 0;
	int error;

	if (at == FROM_SINCE)
		at = found->target.since_ns ? t2x_seek_counting(path, NULL, found->target.since_ns, &streams) : 0;
	error = tail ? t2x_tail_open(&tail->tail, path, at) : -ENOMEM;

	if (error || find_tail(found, tail->tail.device, tail->tail.inode)) {
		if (!error)
			t2x_tail_close(&tail->tail);
		free(tail);
		return error;
	}
	tail->is_guess = is_guess;
	tail->streams = streams;
	tail->tail.round_bytes = found->target.round_bytes;
	*(found->last_tail ? &found->last_tail->next : &found->tails) = tail;
	found->last_tail = tail;
	return 0;
}

/* The file that a wanted process writes.  It is read from its beginning, or from --since on. */
static void add_file_of(struct t2x_found *found, const struct t2x_tap *tap)
{
	const char *path = tap->file.path;
	int is_guess = found->target.kind == T2X_FOLLOW_PROCESS;
	struct t2x_found_tail *tail;
	struct stat st;

	if (!path[0] || stat(path, &st) || st.st_dev != tap->file.device || st.st_ino != tap->file.inode)
		return;
	tail = find_tail(found, st.st_dev, st.st_ino);
	if (tail) {
		tail->is_guess &= is_guess;
		return;
	}
	add_tail(found, path, FROM_SINCE, is_guess);
	add_directory_of(found, path);
}

static int compare_files(const void *one, const void *other)
{
	const struct t2x_found_file *a = one, *b = other;

	return strverscmp(a->path, b->path);
}

static uint32_t key_of(dev_t device, ino_t inode)
{
	return (uint32_t)inode ^ (uint32_t)((uint64_t)inode >> 32) ^ (uint32_t)device * 31;
}

static struct t2x_found_file *find_file(const struct t2x_found *found, dev_t device, ino_t inode)
{
	uintptr_t i = (uintptr_t)t2x_map_get(&found->by_file, key_of(device, inode));

	while (i && (found->files[i - 1].device != device || found->files[i - 1].inode != inode))
		i = found->files[i - 1].alike;
	return i ? &found->files[i - 1] : NULL;
}

/* Files from this one on have new places. */
static int index_files(struct t2x_found *found, unsigned first)
{
	for (unsigned i = first; i < found->nfiles; i++) {
		uint32_t key = key_of(found->files[i].device, found->files[i].inode);

		found->files[i].alike = (unsigned)(uintptr_t)t2x_map_get(&found->by_file, key);
		if (t2x_map_put(&found->by_file, key, (void *)(uintptr_t)(i + 1)))
			return -ENOMEM;
	}
	return 0;
}

/* Return  0 or -ENOMEM */
static int add_file(struct t2x_found *found, const char *path, const struct stat *st, uint64_t bytes)
{
	if (found->nfiles == found->room) {
		unsigned room = found->room ? 2 * found->room : 64;
		struct t2x_found_file *files = realloc(found->files, room * sizeof(*files));

		if (!files)
			return -ENOMEM;
		found->files = files;
		found->room = room;
	}
	found->files[found->nfiles] = (struct t2x_found_file){
		.path = strdup(path), .device = st->st_dev, .inode = st->st_ino, .bytes = bytes,
	};
	return found->files[found->nfiles].path ? (found->nfiles++, 0) : -ENOMEM;
}

/* Find files that are new in a directory; at the first look into it all of them are old.  Return  0 or -ENOMEM */
static int search_directory(struct t2x_found *found, unsigned i)
{
	int is_first = !found->directories[i].is_known;
	DIR *stream = opendir(found->directories[i].path);
	const struct dirent *entry;
	char path[4096];
	struct stat st;
	int error = 0;

	while (stream && !error && (entry = readdir(stream))) {
		if (entry->d_name[0] == '.' ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", found->directories[i].path, entry->d_name) >=
			    sizeof(path) ||
		    stat(path, &st) || !S_ISREG(st.st_mode) ||
		    find_file(found, st.st_dev, st.st_ino))
			continue;
		error = add_file(found, path, &st, is_first ? (uint64_t)st.st_size : 0);
	}
	if (stream)
		closedir(stream);
	found->directories[i].is_known = 1;
	return error;
}

/* Files that are new, or that somebody appends to, are followed. */
static void follow_files(struct t2x_found *found)
{
	struct stat st;

	for (unsigned i = 0; i < found->nfiles; i++) {
		struct t2x_found_file *file = &found->files[i];

		if (file->has_tail || stat(file->path, &st) || st.st_ino != file->inode ||
		    (uint64_t)st.st_size <= file->bytes)
			continue;
		file->has_tail = !add_tail(found, file->path, file->bytes,
					   found->target.kind != T2X_FOLLOW_DIRECTORY);
	}
}

/* Return  0 or -ENOMEM */
static int look_for_files(struct t2x_found *found)
{
	unsigned known = found->nfiles;
	int error = 0;

	for (unsigned i = 0; !error && i < found->ndirectories; i++)
		error = search_directory(found, i);
	/* The names of rotated files have numbers, and the first was written first. */
	if (found->nfiles > known)
		qsort(&found->files[known], found->nfiles - known, sizeof(*found->files), compare_files);
	if (!error)
		error = index_files(found, known);
	follow_files(found);
	return error;
}

void t2x_found_drop(struct t2x_found *found, struct t2x_found_tail *tail)
{
	struct t2x_found_tail **at = &found->tails, *before = NULL;

	for (; *at != tail; at = &(*at)->next)
		before = *at;
	*at = tail->next;
	if (found->last_tail == tail)
		found->last_tail = before;
	t2x_tail_close(&tail->tail);
	free(tail);
}

/* Whether a process that lives writes the file. */
static int has_writer(const struct t2x_found *found, const struct t2x_tail *tail)
{
	for (const struct t2x_tap *tap = found->taps; tap; tap = tap->next)
		if (tap->state != T2X_TAP_OVER && tap->file.device == tail->device && tap->file.inode == tail->inode)
			return 1;
	return 0;
}

/* Close files to which nobody writes any more; who does so later is found by the size. */
static void close_idle(struct t2x_found *found)
{
	for (struct t2x_found_tail *tail = found->tails, *next; tail; tail = next) {
		struct t2x_found_file *file = find_file(found, tail->tail.device, tail->tail.inode);

		next = tail->next;
		if (!file || tail->idle++ < IDLE || has_writer(found, &tail->tail))
			continue;
		file->bytes = tail->tail.at;
		file->has_tail = 0;
		t2x_found_drop(found, tail);
	}
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
		return find_tail(found, (dev_t)tap->file.device, (ino_t)tap->file.inode) || is_successor(found, tap);
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

/* Return  0 or -ENOMEM */
static int look_for_rings(struct t2x_found *found)
{
	struct t2x_ring_files files;
	int error = t2x_ring_files_find(&files, 0, found->target.user);

	for (unsigned i = 0; !error && i < files.n; i++) {
		struct t2x_tap *tap = has_tap(found, files.paths[i]) ? NULL : t2x_tap_open(files.paths[i]);

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
			add_file_of(found, tap);
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
	watch(found, "/dev/shm");
	if (runtime && *runtime == '/')
		watch(found, runtime);
	if (target->kind == T2X_FOLLOW_DIRECTORY)
		add_directory(found, target->path);
	if (target->kind == T2X_FOLLOW_FILE) {
		error = add_tail(found, target->path, FROM_SINCE, 0);
		add_directory_of(found, target->path);
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
		error = look_for_files(found);
		found->searched_ms = now_ms();
	}
	if (found->target.kind == T2X_FOLLOW_DIRECTORY || found->target.kind == T2X_FOLLOW_ALL)
		close_idle(found);
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
