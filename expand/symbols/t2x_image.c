/* SPDX-License-Identifier: MIT */
/* t2x_image.c - see t2x_image.h. */
#include "t2x_image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/t2x_report.h"
#include "t2x_debuginfod.h"

enum { MAX_PATH = 4096, MAX_BUILD_ID = 64 };

/* ---- one file ----------------------------------------------------------------------------------- */

static void close_image(struct t2x_image *image)
{
	if (image->dwfl)
		image->libdw->dwfl_end(image->dwfl);
	image->dwfl = NULL;
}

/* A regular one: its name comes from the trace, and may be that of a device. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The file's build-id in hex; "": it has none. */
static void read_build_id(const struct t2x_image *image, char *hex)
{
	const unsigned char *bits;
	GElf_Addr at;
	int n = image->libdw->dwfl_module_build_id(image->module, &bits, &at);

	for (int i = 0; i < n && i < MAX_BUILD_ID; i++) {
		*hex++ = "0123456789abcdef"[bits[i] >> 4];
		*hex++ = "0123456789abcdef"[bits[i] & 15];
	}
	*hex = '\0';
}

/* Return  whether it is the module's: then it stays open */
static int try_file(struct t2x_image *image, const char *path)
{
	const struct t2x_libdw *libdw = image->libdw;
	char build_id[2 * MAX_BUILD_ID + 1] = "";
	int fd = open_file(path);
	Dwarf_Addr bias;

	if (fd < 0)
		return 0;
	image->dwfl = libdw->dwfl_begin(&image->callbacks);
	image->module = image->dwfl ? libdw->dwfl_report_offline(image->dwfl, path, path, fd) : NULL;
	if (!image->module)
		close(fd);
	else if (!libdw->dwfl_report_end(image->dwfl, NULL, NULL) && libdw->dwfl_module_getelf(image->module, &bias)) {
		read_build_id(image, build_id);
		if (!*image->build_id || !strcmp(build_id, image->build_id))
			return 1;
		image->was_other = 1;
	}
	close_image(image);
	return 0;
}

/* ---- where it may be ---------------------------------------------------------------------------- */

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static int try_in(struct t2x_image *image, const char *directory, const char *between, const char *file)
{
	char path[MAX_PATH];
	int n = snprintf(path, sizeof(path), "%s%s%s", directory, between, file);

	return n > 0 && n < MAX_PATH ? try_file(image, path) : 0;
}

/* It is part of a path, whatever the trace says. */
static int is_build_id(const char *build_id)
{
	size_t n = strlen(build_id);

	return n > 2 && n <= 2 * MAX_BUILD_ID && strspn(build_id, "0123456789abcdef") == n;
}

/* As debuggers look for it.  suffix  ".debug": what was stripped off it */
static int try_build_id(struct t2x_image *image, const char *directory, const char *suffix)
{
	char file[2 * MAX_BUILD_ID + 16];

	if (!is_build_id(image->build_id))
		return 0;
	snprintf(file, sizeof(file), "%.2s/%s%s", image->build_id, image->build_id + 2, suffix);
	return try_in(image, directory, "/.build-id/", file);
}

/* A path from a trace that leads out of a directory. */
static int leads_up(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at += 2)
		if ((at == path || at[-1] == '/') && (at[2] == '/' || !at[2]))
			return 1;
	return 0;
}

static int try_file_in(struct t2x_image *image, const char *directory)
{
	const char *file = image->file;

	return !leads_up(file) && (try_in(image, directory, *file == '/' ? "" : "/", file) ||
				   try_in(image, directory, "/", base_name(file)));
}

static int try_binaries(struct t2x_image *image, const char *directory)
{
	return (*base_name(image->file) && try_file_in(image, directory)) ||
	       try_build_id(image, directory, "") || try_build_id(image, directory, ".debug");
}

/* Of servers.  It may take long, so they are asked only if the user says so and they are named. */
static int try_servers(struct t2x_image *image)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *path = urls && *urls && is_build_id(image->build_id) ? t2x_debuginfod_find(image->build_id) : NULL;
	int is_it = path && try_file(image, path);

	free(path);
	return is_it;
}

static int find_file(struct t2x_image *image, const struct t2x_symbols_places *places)
{
	return (places->binaries && try_binaries(image, places->binaries)) ||
	       (*image->file == '/' && (*image->build_id || !places->binaries) && try_file(image, image->file)) ||
	       (places->debug_dir && try_build_id(image, places->debug_dir, ".debug")) ||
	       try_build_id(image, "/usr/lib/debug", ".debug") || (places->uses_debuginfod && try_servers(image));
}

/* Absolute: relative ones would be looked for beside each file. */
static char *make_debuginfo_path(const struct t2x_symbols_places *places)
{
	char *own = places->debug_dir ? realpath(places->debug_dir, NULL) : NULL;
	char *binaries = places->binaries ? realpath(places->binaries, NULL) : NULL;
	char *path = NULL;

	if (asprintf(&path, ":.debug%s%s%s%s:/usr/lib/debug", own ? ":" : "", own ? own : "", binaries ? ":" : "",
		     binaries ? binaries : "") < 0)
		path = NULL;
	free(own);
	free(binaries);
	return path;
}

struct t2x_image *t2x_image_open(const struct t2x_libdw *libdw, const struct t2x_symbols_places *places,
				 const struct t2x_module *module)
{
	struct t2x_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->libdw = libdw;
	image->file = strdup(module->file);
	image->build_id = strdup(module->build_id);
	image->debuginfo_path = make_debuginfo_path(places);
	if (!image->file || !image->build_id || !image->debuginfo_path) {
		t2x_image_free(image);
		return NULL;
	}
	image->callbacks.find_debuginfo = libdw->dwfl_standard_find_debuginfo;
	image->callbacks.section_address = libdw->dwfl_offline_section_address;
	image->callbacks.debuginfo_path = &image->debuginfo_path;
	if (!find_file(image, places) && image->was_other)
		t2x_report_note(&(struct t2x_report){ .to = stderr }, image->file,
				"another build-id than the trace's, %s: its names are not used", image->build_id);
	return image;
}

void t2x_image_free(struct t2x_image *image)
{
	if (!image)
		return;
	close_image(image);
	free(image->file);
	free(image->build_id);
	free(image->debuginfo_path);
	free(image->go);
	free(image);
}

/* ---- addresses ---------------------------------------------------------------------------------- */

/* The segment that has an offset in the file says where it was linked to be. */
static int has_offset(const GElf_Phdr *segment, uint64_t offset)
{
	return segment->p_filesz && offset >= segment->p_offset && offset - segment->p_offset < segment->p_filesz;
}

/*
 * A debug file has the program headers, but its segments have neither bytes nor their offsets: there it is the
 * executable one, which begins in the page where the mapping does.
 */
static int has_address(const GElf_Phdr *segment, uint64_t distance)
{
	uint64_t in_page = segment->p_vaddr & (segment->p_align ? segment->p_align - 1 : 0);

	return !segment->p_filesz && segment->p_flags & PF_X && distance >= in_page &&
	       distance - in_page < segment->p_memsz;
}

int t2x_image_address(const struct t2x_image *image, const struct t2x_module *module, uint64_t address,
		      Dwarf_Addr *found)
{
	uint64_t distance = address - module->start, offset = distance + module->offset;
	Dwarf_Addr bias = 0;
	size_t n = 0;
	Elf *elf = image->dwfl ? image->libdw->dwfl_module_getelf(image->module, &bias) : NULL;

	if (!elf || image->libdw->elf_getphdrnum(elf, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr room, *segment = image->libdw->gelf_getphdr(elf, (int)i, &room);

		if (!segment || segment->p_type != PT_LOAD)
			continue;
		*found = segment->p_vaddr + bias;
		if (has_offset(segment, offset)) {
			*found += offset - segment->p_offset;
			return 1;
		}
		if (has_address(segment, distance)) {
			*found += distance - (segment->p_vaddr & (segment->p_align ? segment->p_align - 1 : 0));
			return 1;
		}
	}
	return 0;
}
