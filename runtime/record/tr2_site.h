/* SPDX-License-Identifier: MIT */
/*
 * tr2_site.h - from the pointers of a call to its scope, without reading what they point to.
 *
 * A call site passes the same pointers each time.  The first call finds the scope by content and remembers the
 * pointers; later calls compare these.  That is enough for strings in memory that cannot change: the read-only
 * segments of the program itself, which is never unloaded.  Elsewhere a buffer may hold another name by now, or a
 * plugin's literals be gone, so the strings are compared too.
 * (Finding a scope by content alone cost 60 ns.)
 */
#ifndef TR2_SITE_H
#define TR2_SITE_H

#include "tr2_format.h"
#include "base/tr2_atomic.h"
#include "ring/tr2_scope.h"

/* A few slots, half a page, are enough for small programs; when they are crowded, eight times as many are used. */
enum { TR2_SITES = 4096, TR2_SITES_FIRST = 32 };

enum { TR2_SITE_FREE, TR2_SITE_TAKEN, TR2_SITE_COMPARED, TR2_SITE_CONSTANT };

/* What is known of a call, in one cache line. */
struct tr2_site {
	const char *file, *category, *label, *message;
	uint64_t place;                   /* line, repository, style */
	uint32_t scope;                   /* 0: the scope table has no room */
	uint32_t state;                   /* TR2_SITE_*.  [M7] */
	struct tr2_format format;         /* of message */
};
static_assert(sizeof(void *) != 8 || sizeof(struct tr2_site) == 64, "one cache line");

extern struct tr2_site tr2_g_sites[TR2_SITES];
extern unsigned tr2_g_site_mask;          /* the slots in use, less one; a power of two, less one */

/* Find out which memory cannot change.  Once. */
void tr2_site_init(void);

/*
 * The slow path: strings compared, or looked up.  Remembers what it found if there is room.
 * Return  a site that is remembered, or *room
 */
const struct tr2_site *tr2_site_learn(const struct tr2_scope_key *key, struct tr2_site *room);

static inline uint64_t tr2_site_place(const struct tr2_scope_key *key)
{
	return (uint64_t)(uint32_t)key->line << 32 | (uint32_t)key->repo << 8 | key->style;
}

static inline int tr2_site_has_pointers(const struct tr2_site *site, const struct tr2_scope_key *key, uint64_t place)
{
	return site->place == place && site->label == key->label && site->category == key->category &&
	       site->file == key->file && site->message == key->format;
}

/* Where the search for the site with these pointers begins. */
static inline unsigned tr2_site_slot(const struct tr2_scope_key *key, uint64_t place)
{
	uint64_t hash = (uint64_t)((uintptr_t)key->label ^ (uintptr_t)key->format << 20) ^ place;

	/* relaxed: where a site is not found it is learnt again */
	return (unsigned)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 52) & tr2_load_rlx(&tr2_g_site_mask);
}

/*
 * The site of a call, and by it the scope and the parsed format.
 * room    for an answer that cannot be remembered
 * Thread  any, no lock    Signal safe    Orders [M7]    Cost  1 ns; 10 ns where strings are compared
 */
static inline const struct tr2_site *tr2_site_of(const struct tr2_scope_key *key, struct tr2_site *room)
{
	uint64_t place = tr2_site_place(key);
	const struct tr2_site *site = &tr2_g_sites[tr2_site_slot(key, place)];
	uint32_t state = tr2_load_acq(&site->state); /* [M7] acquire: the site.  Pairs with tr2_site_learn() */

	if (__builtin_expect(state == TR2_SITE_CONSTANT && tr2_site_has_pointers(site, key, place), 1))
		return site;
	return tr2_site_learn(key, room);
}

#endif
