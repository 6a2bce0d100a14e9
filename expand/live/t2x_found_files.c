/* SPDX-License-Identifier: MIT */
/* t2x_found_files.c - directories, and the .tlg files in them. */
#include "t2x_found_private.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "read/t2x_seek.h"

enum { IDLE = 100 };                      /* looks after which a file of a directory is closed */

/* ---- directories -------------------------------------------------------------------------------- */

void t2x_found_watch(struct t2x_found *found, const char *directory)
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
void t2x_found_add_directory(struct t2x_found *found, const char *path)
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
	t2x_found_watch(found, path);
	found->has_event = 1;
}

/* The directory in which a file lies. */
void t2x_found_add_directory_of(struct t2x_found *found, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *copy = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	if (copy)
		t2x_found_add_directory(found, copy);
	free(copy);
}

/* ---- .tlg files --------------------------------------------------------------------------------- */

struct t2x_found_tail *t2x_found_tail(const struct t2x_found *found, dev_t device, ino_t inode)
{
	struct t2x_found_tail *tail = found->tails;

	while (tail && (tail->tail.device != device || tail->tail.inode != inode))
		tail = tail->next;
	return tail;
}

/* at: an offset at which a frame begins, or T2X_FOUND_SINCE.  Return  0 or -errno */
int t2x_found_add_tail(struct t2x_found *found, const char *path, uint64_t at, int is_guess)
{
	struct t2x_found_tail *tail = calloc(1, sizeof(*tail));
	unsigned streams = 0;
	int error;

	if (at == T2X_FOUND_SINCE)
		at = found->target.since_ns ? t2x_seek_counting(path, NULL, found->target.since_ns, &streams) : 0;
	error = tail ? t2x_tail_open(&tail->tail, path, at) : -ENOMEM;

	if (error || t2x_found_tail(found, tail->tail.device, tail->tail.inode)) {
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
void t2x_found_add_file_of(struct t2x_found *found, const struct t2x_tap *tap)
{
	const char *path = tap->file.path;
	int is_guess = found->target.kind == T2X_FOLLOW_PROCESS;
	struct t2x_found_tail *tail;
	struct stat st;

	if (!path[0] || stat(path, &st) || st.st_dev != tap->file.device || st.st_ino != tap->file.inode)
		return;
	tail = t2x_found_tail(found, st.st_dev, st.st_ino);
	if (tail) {
		tail->is_guess &= is_guess;
		tail->is_sure = 1;
		return;
	}
	t2x_found_add_tail(found, path, T2X_FOUND_SINCE, is_guess);
	tail = t2x_found_tail(found, st.st_dev, st.st_ino);
	if (tail)   /* else another file has got the name meanwhile */
		tail->is_sure = 1;
	t2x_found_add_directory_of(found, path);
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
		file->has_tail = !t2x_found_add_tail(found, file->path, file->bytes,
					   found->target.kind != T2X_FOLLOW_DIRECTORY);
	}
}

/* Return  0 or -ENOMEM */
int t2x_found_search(struct t2x_found *found)
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
void t2x_found_close_idle(struct t2x_found *found)
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
