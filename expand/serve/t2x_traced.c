/* SPDX-License-Identifier: MIT */
/* t2x_traced.c - see t2x_traced.h. */
#include "t2x_traced.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/t2x_ctl_find.h"
#include "live/t2x_tap.h"
#include "recover/t2x_ring_files.h"

static struct t2x_traced *find_alive(const struct t2x_traced_list *list, uint32_t pid)
{
	for (unsigned i = 0; i < list->n; i++)
		if (list->items[i].is_alive && list->items[i].pid == pid)
			return &list->items[i];
	return NULL;
}

/* Return  NULL: no memory */
static struct t2x_traced *add(struct t2x_traced_list *list, uint32_t pid)
{
	if (list->n == list->space) {
		unsigned space = list->space ? 2 * list->space : 32;
		struct t2x_traced *items = realloc(list->items, space * sizeof(*items));

		if (!items)
			return NULL;
		list->items = items;
		list->space = space;
	}
	list->items[list->n] = (struct t2x_traced){ .pid = pid };
	return &list->items[list->n++];
}

static int is_mine(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/* The kernel knows the user of a process; a file's name could have any id in it. */
static int is_my_process(uint32_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", (unsigned)pid);
	return !stat(path, &st) && st.st_uid == geteuid();
}

static void find_name(struct t2x_traced *traced)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", (unsigned)traced->pid);
	file = fopen(path, "re");
	if (!file || !fgets(traced->name, sizeof(traced->name), file))
		traced->name[0] = '\0';
	traced->name[strcspn(traced->name, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* Return  0 or -ENOMEM */
static int find_pages(struct t2x_traced_list *list)
{
	struct t2x_ctl_list pages;
	int error = t2x_ctl_find(&pages, "all");

	for (unsigned i = 0; !error && i < pages.n; i++) {
		const struct t2x_ctl_found *found = &pages.items[i];
		struct t2x_traced *traced;

		if (!is_mine(found->path) || !is_my_process(found->pid))
			continue;
		traced = find_alive(list, found->pid);
		traced = traced ? traced : add(list, found->pid);
		if (!traced) {
			error = -ENOMEM;
			break;
		}
		traced->is_alive = 1;
		memcpy(traced->name, found->name, sizeof(traced->name));
		memcpy(traced->page, found->path, sizeof(traced->page));
	}
	t2x_ctl_free(&pages);
	return error;
}

/* Return  0 or -ENOMEM */
static int take_ring(struct t2x_traced_list *list, const struct t2x_tap *tap)
{
	const int is_alive = tap->state == T2X_TAP_ALIVE && is_my_process(tap->head.pid);
	struct t2x_traced *traced = is_alive ? find_alive(list, tap->head.pid) : NULL;

	if (!is_alive && tap->state != T2X_TAP_DEAD)
		return 0;
	traced = traced ? traced : add(list, tap->head.pid);
	if (!traced)
		return -ENOMEM;
	traced->is_alive = is_alive;
	snprintf(traced->ring, sizeof(traced->ring), "%s", tap->path);
	memcpy(traced->file, tap->file.path, sizeof(traced->file));
	traced->stored = tap->file.stored;
	if (is_alive && !traced->name[0])
		find_name(traced);
	return 0;
}

/* Return  0 or -ENOMEM */
static int find_rings(struct t2x_traced_list *list)
{
	struct t2x_ring_files files;
	int error = t2x_ring_files_find(&files, 0, geteuid());

	for (unsigned i = 0; !error && i < files.n; i++) {
		struct t2x_tap *tap = t2x_tap_open(files.paths[i]);

		if (!tap)
			continue;
		t2x_tap_check(tap);
		error = take_ring(list, tap);
		t2x_tap_close(tap);
	}
	t2x_ring_files_free(&files);
	return error;
}

static int compare(const void *a, const void *b)
{
	const struct t2x_traced *one = a, *other = b;

	if (one->is_alive != other->is_alive)
		return other->is_alive - one->is_alive;
	return one->pid != other->pid ? one->pid < other->pid ? -1 : 1 : strcmp(one->ring, other->ring);
}

int t2x_traced_find(struct t2x_traced_list *list)
{
	int error;

	*list = (struct t2x_traced_list){ .n = 0 };
	error = find_pages(list);
	if (!error)
		error = find_rings(list);
	if (list->n)
		qsort(list->items, list->n, sizeof(list->items[0]), compare);
	return error;
}

void t2x_traced_free(struct t2x_traced_list *list)
{
	free(list->items);
	*list = (struct t2x_traced_list){ .n = 0 };
}

const struct t2x_traced *t2x_traced_get(const struct t2x_traced_list *list, uint32_t pid)
{
	return find_alive(list, pid);
}

const struct t2x_traced *t2x_traced_dead(const struct t2x_traced_list *list, const char *name)
{
	for (unsigned i = 0; i < list->n; i++) {
		const char *slash = strrchr(list->items[i].ring, '/');

		if (!list->items[i].is_alive && slash && !strcmp(slash + 1, name))
			return &list->items[i];
	}
	return NULL;
}
