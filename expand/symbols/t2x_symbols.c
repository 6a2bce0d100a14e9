/* SPDX-License-Identifier: MIT */
/* t2x_symbols.c - see t2x_symbols.h. */
#include "t2x_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/t2x_report.h"
#include "t2x_image.h"
#include "t2x_inlined.h"
#include "t2x_jit_files.h"
#include "t2x_kernel.h"
#include "tlg.h"

/* Addresses that are remembered; processes with code of their own, of which more have no names. */
enum { CACHED = 4096, MADE = 4096, KERNELS = 16 };

/* What a process has made at run time. */
struct made {
	uint32_t pid;
	struct t2x_jit jit;
	struct made *next;
};

/* A start of a kernel. */
struct kernel {
	struct t2x_jit jit;
	int is_asked;                     /* what the running kernel says is in jit, too */
	struct kernel *next;
	char boot[];
};

struct t2x_symbols {
	const struct t2x_libdw *libdw;    /* NULL: nothing has a name */
	int is_loaded;                    /* it was looked for */
	const struct t2x_symbols_places *places;
	struct t2x_image *images;
	struct made *made;
	struct kernel *kernels;
	struct t2x_jit_index index;
	unsigned nmade;
	size_t names;                     /* of all of them */
	struct cached {
		const void *owner;               /* an image, or what a process has made; NULL: nothing is here */
		uint64_t address;
		struct t2x_names *names;         /* NULL: it has none */
	} cache[CACHED];
};

struct t2x_symbols *t2x_symbols_new(const struct t2x_symbols_places *places)
{
	struct t2x_symbols *symbols = places ? calloc(1, sizeof(*symbols)) : NULL;

	if (symbols)
		symbols->places = places;
	return symbols;
}

static void forget_names(struct t2x_symbols *symbols)
{
	for (unsigned i = 0; i < CACHED; i++) {
		free(symbols->cache[i].names);
		symbols->cache[i] = (struct cached){ 0 };
	}
}

void t2x_symbols_forget(struct t2x_symbols *symbols)
{
	if (!symbols)
		return;
	forget_names(symbols);
	t2x_jit_index_free(&symbols->index);
	while (symbols->made) {
		struct made *next = symbols->made->next;
		t2x_jit_free(&symbols->made->jit);
		free(symbols->made);
		symbols->made = next;
	}
	while (symbols->kernels) {
		struct kernel *next = symbols->kernels->next;
		t2x_jit_free(&symbols->kernels->jit);
		free(symbols->kernels);
		symbols->kernels = next;
	}
	symbols->nmade = 0;
	symbols->names = 0;
}

void t2x_symbols_free(struct t2x_symbols *symbols)
{
	if (!symbols)
		return;
	t2x_symbols_forget(symbols);
	while (symbols->images) {
		struct t2x_image *next = symbols->images->next;
		t2x_image_free(symbols->images);
		symbols->images = next;
	}
	free(symbols);
}

/* ---- modules ------------------------------------------------------------------------------------ */

/* The image of a module, which comes to the front: a process has few, and the next address is mostly in the same. */
static struct t2x_image *find_image(struct t2x_symbols *symbols, const struct t2x_module *module)
{
	struct t2x_image **link = &symbols->images, *image;

	while ((image = *link) && (strcmp(image->file, module->file) || strcmp(image->build_id, module->build_id)))
		link = &image->next;
	if (image)
		*link = image->next;
	else
		image = t2x_image_open(symbols->libdw, symbols->places, module);
	if (image) {
		image->next = symbols->images;
		symbols->images = image;
	}
	return image;
}

/* It is loaded with the first address. */
static int is_usable(struct t2x_symbols *symbols)
{
	if (!symbols->is_loaded) {
		symbols->is_loaded = 1;
		symbols->libdw = t2x_libdw_load(symbols->places->uses_debuginfod);
		if (!symbols->libdw)
			fprintf(stderr, "%s: libdw.so.1 is not here: addresses have no names\n", t2x_report_name());
	}
	return symbols->libdw != NULL;
}

/* Where the names of an address are.  Return  0: others are there, and gone now */
static int is_cached(struct t2x_symbols *symbols, const void *owner, uint64_t address, struct cached **cached)
{
	*cached = &symbols->cache[(address ^ address >> 12 ^ (uintptr_t)owner >> 5) % CACHED];
	if ((*cached)->owner == owner && (*cached)->address == address)
		return 1;
	free((*cached)->names);
	**cached = (struct cached){ .owner = owner, .address = address };
	return 0;
}

/* ---- what a process has made -------------------------------------------------------------------- */

/* It is read once, and comes to the front. */
static struct made *find_made(struct t2x_symbols *symbols, uint32_t pid)
{
	struct made **link = &symbols->made, *made;

	while ((made = *link) && made->pid != pid)
		link = &made->next;
	if (made) {
		*link = made->next;
	} else {
		made = symbols->nmade < MADE ? calloc(1, sizeof(*made)) : NULL;
		if (!made)
			return NULL;
		symbols->nmade++;
		made->pid = pid;
		if (symbols->names < T2X_JIT_MAX)
			t2x_jit_files_find(&made->jit, &symbols->index, symbols->places, pid);
		symbols->names += made->jit.n;
	}
	made->next = symbols->made;
	symbols->made = made;
	return made;
}

static struct t2x_names *make_name(const char *name)
{
	size_t n = name ? strlen(name) + 1 : 0;
	struct t2x_names *names = name ? malloc(sizeof(*names) + sizeof(names->at[0]) + n) : NULL;

	if (!names)
		return NULL;
	names->n = 1;
	name = memcpy(&names->at[1], name, n);
	names->at[0] = (struct t2x_symbol){ .function = name, .system_name = name, .file = "" };
	return names;
}

static const struct t2x_names *find_in_made(struct t2x_symbols *symbols, uint32_t pid, uint64_t address)
{
	struct made *made = find_made(symbols, pid);
	struct cached *cached;

	if (!made)
		return NULL;
	if (!is_cached(symbols, made, address, &cached))
		cached->names = make_name(t2x_jit_find(&made->jit, address));
	return cached->names;
}

/* Which kernels there are, a trace says: anybody's.  So there are few. */
static struct kernel *find_kernel(struct t2x_symbols *symbols, const char *boot)
{
	struct kernel *kernel = symbols->kernels;
	unsigned n = 0;

	for (; kernel && strcmp(kernel->boot, boot) != 0; kernel = kernel->next)
		n++;
	if (kernel || n == KERNELS)
		return kernel;
	kernel = calloc(1, sizeof(*kernel) + strlen(boot) + 1);
	if (!kernel)
		return NULL;
	strcpy(kernel->boot, boot);
	t2x_jit_files_find_kernel(&kernel->jit, &symbols->index, symbols->places, boot);
	kernel->next = symbols->kernels;
	symbols->kernels = kernel;
	return kernel;
}

/* The traces first: of another computer nobody else knows names.  Reading what the running kernel has takes long. */
static const char *find_function(struct kernel *kernel, uint64_t address)
{
	const char *name = t2x_jit_find(&kernel->jit, address);
	size_t known = kernel->jit.n;

	if (name || kernel->is_asked)
		return name;
	kernel->is_asked = 1;
	if (!t2x_kernel_read(&kernel->jit, kernel->boot) && !known)
		t2x_report_note(&(struct t2x_report){ .to = stderr }, TLG_KERNEL,
				"its functions have no names: the trace has none, and the system was started anew, is "
				"another one, or shows no addresses");
	return t2x_jit_find(&kernel->jit, address);
}

static const struct t2x_names *find_in_kernel(struct t2x_symbols *symbols, const char *boot, uint64_t address)
{
	struct kernel *kernel = find_kernel(symbols, boot);
	struct cached *cached;

	if (!kernel)
		return NULL;
	if (!is_cached(symbols, kernel, address, &cached))
		cached->names = make_name(address == TLG_KERNEL_START ? "[kernel]" : find_function(kernel, address));
	return cached->names;
}

/* A module that stands for no code is what it is called. */
static const struct t2x_names *find_named(struct t2x_symbols *symbols, const char *name)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	struct cached *cached;

	for (const char *at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
	if (!is_cached(symbols, symbols, hash, &cached) ||
	    (cached->names && strcmp(cached->names->at[0].function, name))) {
		free(cached->names);
		cached->names = make_name(name);
	}
	return cached->names;
}

/* ---- both --------------------------------------------------------------------------------------- */

const struct t2x_names *t2x_symbols_find(struct t2x_symbols *symbols, const struct t2x_module *module,
					 uint64_t address)
{
	struct t2x_image *image;
	struct cached *cached;
	Dwarf_Addr found;
	uint32_t pid;

	if (!symbols || !module)
		return NULL;
	if (t2x_jit_files_parse(module->file, &pid))
		return find_in_made(symbols, pid, address);
	if (!strcmp(module->file, TLG_KERNEL))
		return find_in_kernel(symbols, module->build_id, address);
	if (tlg_is_off_cpu(module->file))
		return find_named(symbols, module->file);
	if (!is_usable(symbols))
		return NULL;
	image = find_image(symbols, module);
	if (!image || !t2x_image_address(image, module, address, &found))
		return NULL;
	if (!is_cached(symbols, image, found, &cached))
		cached->names = t2x_inlined_names(image, found, address - module->start + module->offset);
	return cached->names;
}
