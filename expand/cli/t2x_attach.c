/* SPDX-License-Identifier: MIT */
/* t2x_attach.c - see t2x_attach.h. */
#include "t2x_attach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profile/t2x_bytes.h"
#include "t2x_excerpt.h"
#include "read/t2x_input.h"
#include "read/t2x_lz4.h"
#include "symbols/t2x_jit_files.h"

/* A block has the low bits of the process id. */
enum { PIDS = 1 << 16, MAX_FOUND = 4096 };

struct attach {
	const struct t2x_collecting *what;
	time_t begun;
	struct found {
		uint32_t pid;
		const char *directory;
	} found[MAX_FOUND];
	unsigned n;
	unsigned char is_there[PIDS];     /* in the trace at hand */
	struct t2x_excerpt excerpt;       /* likewise */
	struct t2x_bytes text;            /* reused */
};

/* ---- what there is ------------------------------------------------------------------------------ */

/* Return  the process that writes a file of this name; 0: none does */
static uint32_t pid_of(const char *name)
{
	unsigned long pid = 0;
	int end = 0;

	if (sscanf(name, "perf-%9lu.map%n", &pid, &end) != 1 || !end || name[end]) {
		end = 0;
		if (sscanf(name, "jit-%9lu.dump%n", &pid, &end) != 1 || !end || name[end])
			return 0;
	}
	return (uint32_t)pid;
}

static int is_known(const struct attach *attach, uint32_t pid, const char *directory)
{
	for (unsigned i = 0; i < attach->n; i++)
		if (attach->found[i].pid == pid && !strcmp(attach->found[i].directory, directory))
			return 1;
	return 0;
}

static void find_in(struct attach *attach, const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)) && attach->n < MAX_FOUND) {
		uint32_t pid = pid_of(entry->d_name);

		if (!pid || fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
		    (st.st_uid != geteuid() && geteuid()) || st.st_mtime < attach->begun ||
		    is_known(attach, pid, directory))
			continue;
		attach->found[attach->n++] = (struct found){ pid, directory };
	}
	if (dir)
		closedir(dir);
}

/* When the command began, by the clock of files, whose steps are coarse. */
static time_t begun_by_files(uint64_t begun)
{
	return time(NULL) - (time_t)((t2x_collect_clock() - begun) / UINT64_C(1000000000)) - 1;
}

/* ---- one trace ---------------------------------------------------------------------------------- */

/* Whose blocks are in it, and which addresses of the kernel. */
static void look_at_blocks(struct attach *attach, const char *path)
{
	struct t2x_report silent = { .to = NULL };
	struct t2x_input input = { .path = path, .report = &silent };
	struct t2x_block block;

	memset(attach->is_there, 0, sizeof(attach->is_there));
	if (t2x_input_check(&input, 0))
		while (t2x_input_next(&input.blocks, &block)) {
			attach->is_there[block.pid] = 1;
			if (attach->what->has_kernel)
				t2x_excerpt_look(&attach->excerpt, &block);
		}
	t2x_input_close(&input);
}

static void put_names(struct t2x_bytes *text, uint32_t pid, const struct t2x_jit *jit)
{
	char line[64];

	t2x_bytes_put(text, line, (size_t)snprintf(line, sizeof(line), "jit %lu\n", (unsigned long)pid));
	for (size_t i = 0; i < jit->n; i++) {
		const struct t2x_jit_entry *entry = &jit->entries[i];
		int n = snprintf(line, sizeof(line), "%llx %llx ", (unsigned long long)entry->start,
				 (unsigned long long)(entry->end - entry->start));
		t2x_bytes_put(text, line, (size_t)n);
		t2x_bytes_put(text, jit->texts + entry->name, entry->length);
		t2x_bytes_put(text, "\n", 1);
	}
}

static void make_text(struct attach *attach)
{
	attach->text.n = 0;
	t2x_excerpt_put(&attach->excerpt, &attach->text);
	for (unsigned i = 0; i < attach->n; i++) {
		const struct found *found = &attach->found[i];
		struct t2x_jit jit = { .n = 0 };

		if (attach->is_there[found->pid % PIDS] && t2x_jit_files_read(&jit, found->directory, found->pid))
			put_names(&attach->text, found->pid, &jit);
		t2x_jit_free(&jit);
	}
}

static int is_in_frames(int fd)
{
	unsigned char begin[4];

	return pread(fd, begin, sizeof(begin), 0) == sizeof(begin) && t2x_lz4_is_frame(begin, sizeof(begin));
}

static void attach_to(struct attach *attach, const char *path)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), error = 0;
	struct stat st;

	if (fd < 0)
		return;                           /* the program has made no trace */
	/* of a directory others are of earlier runs */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mtime >= attach->begun && is_in_frames(fd)) {
		look_at_blocks(attach, path);
		make_text(attach);
		error = attach->text.error ? ENOMEM
					   : t2x_jit_files_append(fd, (char *)attach->text.bytes, attach->text.n);
	}
	close(fd);
	if (error)
		fprintf(stderr, "t2 record: %s: names of the kernel's functions and of code made at run time are left "
			"out: %s\n", path, strerror(error));
}

static void attach_to_each(struct attach *attach, const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	char path[PATH_MAX];

	while (dir && (entry = readdir(dir))) {
		int n = snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (*entry->d_name != '.' && n > 0 && (size_t)n < sizeof(path))
			attach_to(attach, path);
	}
	if (dir)
		closedir(dir);
}

void t2x_attach(const struct t2x_collecting *collecting)
{
	struct attach *attach = calloc(1, sizeof(*attach));

	if (!attach)
		return;
	attach->what = collecting;
	attach->begun = begun_by_files(collecting->begun);
	find_in(attach, "/tmp");
	find_in(attach, ".");
	if ((attach->n || collecting->has_kernel) && collecting->is_directory)
		attach_to_each(attach, collecting->output);
	else if (attach->n || collecting->has_kernel)
		attach_to(attach, collecting->output);
	t2x_excerpt_free(&attach->excerpt);
	t2x_bytes_free(&attach->text);
	free(attach);
}
