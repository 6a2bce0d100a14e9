/* SPDX-License-Identifier: MIT */
/* t2x_foreign.c - what an ELF file says of its dynamic linker and of its privileges. */
#include "t2x_foreign.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { HEADERS_MAX = 64, SCRIPTS_MAX = 5, LINE_MAX_OF_KERNEL = 256, DYNAMIC_MAX = 1024 };

/* What is read of a file.  Numbers in it may be nonsense: each read is checked, and each offset is the file's. */
struct program {
	int fd;
	ElfW(Ehdr) elf;
	unsigned count;
	ElfW(Phdr) heads[HEADERS_MAX];
	char interpreter[PATH_MAX];       /* "": none */
	size_t n;
	ElfW(Dyn) dynamic[DYNAMIC_MAX];   /* the first n are there */
};

/* ---- the file -------------------------------------------------------------------------------------- */

static int is_executable(const char *path)
{
	struct stat st;

	return !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* As execvp() looks for it.  Return  0: it is not there */
static int find(const char *file, char path[PATH_MAX])
{
	const char *place = getenv("PATH");

	if (strchr(file, '/')) {
		int n = snprintf(path, PATH_MAX, "%s", file);
		return n > 0 && n < PATH_MAX && is_executable(path);
	}
	for (place = place ? place : "/bin:/usr/bin";; place++) {
		size_t n = strcspn(place, ":");
		int all = snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, place, n ? "/" : "./", file);
		if (all > 0 && all < PATH_MAX && is_executable(path))
			return 1;
		place += n;
		if (!*place)
			return 0;
	}
}

static int read_all(int fd, void *to, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

/* The text at an offset, cut to size.  Return  0: there is none */
static int read_text(int fd, char *to, size_t size, uint64_t at)
{
	ssize_t n = at <= INT64_MAX ? pread(fd, to, size - 1, (off_t)at) : -1;

	to[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The interpreter of a script, as the kernel reads its first line.  Return  0: it is no script */
static int read_script(int fd, char path[PATH_MAX])
{
	char line[LINE_MAX_OF_KERNEL];
	char *from = line + 2;

	if (!read_text(fd, line, sizeof(line), 0) || strncmp(line, "#!", 2) != 0)
		return 0;
	from += strspn(from, " \t");
	from[strcspn(from, " \t\n")] = '\0';
	return snprintf(path, PATH_MAX, "%s", from) > 0;
}

static void read_dynamic(struct program *program, const ElfW(Phdr) *head)
{
	size_t n = head->p_filesz / sizeof(program->dynamic[0]);

	program->n = n < DYNAMIC_MAX ? n : DYNAMIC_MAX;
	if (!read_all(program->fd, program->dynamic, program->n * sizeof(program->dynamic[0]), head->p_offset))
		program->n = 0;
	for (size_t i = 0; i < program->n; i++)
		if (program->dynamic[i].d_tag == DT_NULL)
			program->n = i;
}

/* Return  0: it is no ELF file of a machine like ours, and nothing but its header is known */
static int read_elf(struct program *program)
{
	const ElfW(Ehdr) *elf = &program->elf;

	program->count = elf->e_phnum < HEADERS_MAX ? elf->e_phnum : HEADERS_MAX;
	if (elf->e_phentsize != sizeof(program->heads[0]) ||
	    !read_all(program->fd, program->heads, program->count * sizeof(program->heads[0]), elf->e_phoff))
		return 0;
	for (unsigned i = 0; i < program->count; i++) {
		const ElfW(Phdr) *head = &program->heads[i];
		if (head->p_type == PT_INTERP)
			read_text(program->fd, program->interpreter,
				  head->p_filesz < PATH_MAX ? head->p_filesz + 1 : PATH_MAX, head->p_offset);
		if (head->p_type == PT_DYNAMIC)
			read_dynamic(program, head);
	}
	return 1;
}

/* A value of the dynamic section; 0: it is not there. */
static uint64_t find_dynamic(const struct program *program, int tag)
{
	for (size_t i = 0; i < program->n; i++)
		if (program->dynamic[i].d_tag == tag)
			return program->dynamic[i].d_un.d_val;
	return 0;
}

/* ---- the reasons ----------------------------------------------------------------------------------- */

/* The kernel gives it privileges that we do not have: the dynamic linker follows no LD_PRELOAD then. */
static const char *why_privileged(const struct program *program)
{
	struct statvfs place;
	struct stat st;

	if (fstat(program->fd, &st) || fstatvfs(program->fd, &place) || (place.f_flag & ST_NOSUID) ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return NULL;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		return "set-user-ID";
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid())
		return "set-group-ID";
	if (geteuid() && fgetxattr(program->fd, "security.capability", NULL, 0) > 0)
		return "has capabilities";
	return NULL;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The dynamic linker itself, as a program, has no interpreter either, but a name as a library. */
static const char *why_linked(const struct program *program, const struct program *own, char *text, size_t size)
{
	if (!*program->interpreter)
		return find_dynamic(program, DT_SONAME) ? NULL : "statically linked";
	if (*own->interpreter && strcmp(name_of(program->interpreter), name_of(own->interpreter)) != 0) {
		snprintf(text, size, "of another C library (%s)", program->interpreter);
		return text;
	}
	return NULL;
}

static const char *why_elf(struct program *program, char *text, size_t size)
{
	struct program *own = calloc(1, sizeof(*own));
	const char *why = why_privileged(program);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (own)
		own->fd = fd;
	if (!why && own && fd >= 0 && read_all(fd, &own->elf, sizeof(own->elf), 0)) {
		if (memcmp(own->elf.e_ident, program->elf.e_ident, EI_VERSION) != 0 ||
		    own->elf.e_machine != program->elf.e_machine)
			why = "of another kind of machine";
		else if (read_elf(own) && read_elf(program))
			why = why_linked(program, own, text, size);
	}
	if (fd >= 0)
		close(fd);
	free(own);
	return why;
}

const char *t2x_foreign_why(const char *file, char *text, size_t size)
{
	struct program *program = calloc(1, sizeof(*program));
	const char *why = NULL;
	char path[PATH_MAX];
	int is_script = program && find(file, path);

	for (unsigned i = 0; is_script && i < SCRIPTS_MAX; i++) {
		program->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		is_script = program->fd >= 0 && read_script(program->fd, path);
		if (!is_script && program->fd >= 0 &&
		    read_all(program->fd, &program->elf, sizeof(program->elf), 0) &&
		    !memcmp(program->elf.e_ident, ELFMAG, SELFMAG))
			why = why_elf(program, text, size);
		if (program->fd >= 0)
			close(program->fd);
	}
	free(program);
	return why;
}
