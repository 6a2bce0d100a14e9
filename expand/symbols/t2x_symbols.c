/* SPDX-License-Identifier: MIT */
/* t2x_symbols.c - see t2x_symbols.h. */
#include "t2x_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/t2x_report.h"
#include "t2x_image.h"
#include "t2x_inlined.h"

enum { CACHED = 4096 };

struct t2x_symbols {
	const struct t2x_libdw *libdw;    /* NULL: nothing has a name */
	int is_loaded;                    /* it was looked for */
	const struct t2x_symbols_places *places;
	struct t2x_image *images;
	struct {
		const struct t2x_image *image;   /* NULL: nothing is here */
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

void t2x_symbols_free(struct t2x_symbols *symbols)
{
	if (!symbols)
		return;
	for (unsigned i = 0; i < CACHED; i++)
		free(symbols->cache[i].names);
	while (symbols->images) {
		struct t2x_image *next = symbols->images->next;
		t2x_image_free(symbols->images);
		symbols->images = next;
	}
	free(symbols);
}

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

const struct t2x_names *t2x_symbols_find(struct t2x_symbols *symbols, const struct t2x_module *module,
					 uint64_t address)
{
	struct t2x_image *image;
	Dwarf_Addr found;
	unsigned i;

	if (!symbols || !module || !is_usable(symbols))
		return NULL;
	image = find_image(symbols, module);
	if (!image || !t2x_image_address(image, module, address, &found))
		return NULL;
	i = (unsigned)((found ^ found >> 12 ^ (uintptr_t)image >> 5) % CACHED);
	if (symbols->cache[i].image != image || symbols->cache[i].address != found) {
		free(symbols->cache[i].names);
		symbols->cache[i].names = t2x_inlined_names(image, found, address - module->start + module->offset);
		symbols->cache[i].image = image;
		symbols->cache[i].address = found;
	}
	return symbols->cache[i].names;
}
