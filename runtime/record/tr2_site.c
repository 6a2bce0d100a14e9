/* SPDX-License-Identifier: MIT */
/* tr2_site.c - learning call sites. */
#include "tr2_site.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "tr2_reserve.h"
#include "base/tr2_memory.h"

enum { NEIGHBOURS = 4, CONSTANT_RANGES = 8 };

TR2_LARGE struct tr2_site tr2_g_sites[TR2_SITES] __attribute__((aligned(64)));
unsigned tr2_g_site_mask = TR2_SITES_FIRST - 1;

/* The read-only segments of the program. */
static struct { uintptr_t from, to; } g_constant[CONSTANT_RANGES];
TR2_NEAR static unsigned g_nconstant;

void tr2_site_init(void)
{
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	unsigned long n = headers ? getauxval(AT_PHNUM) : 0;
	uintptr_t bias = 0;

	if (g_nconstant)
		return;
	/* their pages, two at most, are written before they are read: see tr2_context_init() */
	tr2_store_rlx(&tr2_g_sites[0].state, TR2_SITE_FREE); /* relaxed: nobody else is there */
	tr2_store_rlx(&tr2_g_sites[TR2_SITES_FIRST - 1].state, TR2_SITE_FREE); /* relaxed: as above */
	for (unsigned long i = 0; i < n; i++)
		if (headers[i].p_type == PT_PHDR)
			bias = (uintptr_t)headers - headers[i].p_vaddr;
	for (unsigned long i = 0; i < n && g_nconstant < CONSTANT_RANGES; i++) {
		if (headers[i].p_type != PT_LOAD || headers[i].p_flags & PF_W)
			continue;
		g_constant[g_nconstant].from = bias + headers[i].p_vaddr;
		g_constant[g_nconstant++].to = bias + headers[i].p_vaddr + headers[i].p_memsz;
	}
}

static int is_constant(const char *text)
{
	if (!text)
		return 1;
	for (unsigned i = 0; i < g_nconstant; i++)
		if ((uintptr_t)text >= g_constant[i].from && (uintptr_t)text < g_constant[i].to)
			return 1;
	return 0;
}

/* Are the strings of key those of the site's scope? */
static int is_same(const struct tr2_site *site, const struct tr2_scope_key *key)
{
	const char *const names[] = { key->category, key->label, key->format };
	const struct tlg_ring_scope *scope = tr2_shm_scope(site->scope);
	const char *file = tr2_scope_file(scope->filenum), *at = tr2_shm_text(scope->text);

	for (unsigned i = 0; i < 3; i++) {
		if (!names[i])
			continue;
		if (strcmp(at, names[i]))
			return 0;
		at += strlen(at) + 1;
	}
	return !strcmp(file ? file : "", key->file ? key->file : "");
}

static void fill(struct tr2_site *site, const struct tr2_scope_key *key, uint64_t place)
{
	*site = (struct tr2_site){
		.file = key->file, .category = key->category, .label = key->label, .message = key->format,
		.place = place, .scope = tr2_self_or_new() ? tr2_scope_intern(key) : 0,
	};
	if (key->format)
		site->format = tr2_format_parse(key->format);
	site->state = is_constant(key->file) && is_constant(key->category) && is_constant(key->label) &&
		      is_constant(key->format) ? TR2_SITE_CONSTANT : TR2_SITE_COMPARED;
}

static struct tr2_site *take_slot(unsigned slot)
{
	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		struct tr2_site *site = &tr2_g_sites[(slot + i) % TR2_SITES];
		if (tr2_cas_rlx(&site->state, TR2_SITE_FREE, TR2_SITE_TAKEN)) /* relaxed: keeps a second writer out */
			return site;
	}
	return NULL;
}

static int widen(void)
{
	unsigned mask = tr2_load_rlx(&tr2_g_site_mask), wider = 8 * mask + 7; /* relaxed: see tr2_site_slot() */

	tr2_store_rlx(&tr2_g_site_mask, wider < TR2_SITES ? wider : TR2_SITES - 1); /* relaxed: as above */
	return mask < TR2_SITES - 1;
}

/* Room for it near its slot, if need be among more, else it stays where it is. */
static const struct tr2_site *remember(const struct tr2_site *found, const struct tr2_scope_key *key)
{
	struct tr2_site *site;

	do
		site = take_slot(tr2_site_slot(key, found->place));
	while (!site && widen());
	if (!site)
		return found;
	memcpy(site, found, offsetof(struct tr2_site, state));
	site->format = found->format;
	tr2_store_rel(&site->state, found->state); /* [M7] release: pairs with tr2_site_of() */
	return site;
}

const struct tr2_site *tr2_site_learn(const struct tr2_scope_key *key, struct tr2_site *room)
{
	uint64_t place = tr2_site_place(key);
	unsigned slot = tr2_site_slot(key, place);

	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		const struct tr2_site *site = &tr2_g_sites[(slot + i) % TR2_SITES];
		/* [M7] acquire: the site.  Pairs with remember() */
		uint32_t state = tr2_load_acq(&site->state);
		if (state < TR2_SITE_COMPARED || !tr2_site_has_pointers(site, key, place))
			continue;
		if (state == TR2_SITE_CONSTANT || is_same(site, key))
			return site;
		fill(room, key, place);   /* the same pointers, to other strings now */
		return room;
	}
	fill(room, key, place);
	return room->scope ? remember(room, key) : room;
}
