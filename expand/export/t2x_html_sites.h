/* SPDX-License-Identifier: MIT */
/*
 * t2x_html_sites.h - the sites of a page: the places in programs that raise events, each once, by a small number.
 *
 * Two scopes that say the same, in two processes or two cycles, are one site.  There are at most T2X_HTML_SITES,
 * whatever the trace says, and none is added when all names of the page have T2X_HTML_NAME_BYTES; events from further
 * ones are of a site for all of their kind.
 */
#ifndef T2X_HTML_SITES_H
#define T2X_HTML_SITES_H

#include "base/t2x_map.h"
#include "base/t2x_out.h"
#include "model/t2x_hit.h"

enum {
	T2X_HTML_SITES = 64 * 1024,
	T2X_HTML_SITE_BYTES = 8 * 1024 * 1024,   /* of all texts */
	T2X_HTML_NAME_BYTES = 13 * 1024 * 1024,  /* of memory: of sites, and of what *others counts */
	T2X_HTML_KNOWN_SCOPES = 4096,
};

struct t2x_html_site {
	struct t2x_html_site *next;       /* with the same hash */
	uint32_t number;
	int32_t line;
	const char *kind;                 /* a literal */
	const char *category, *label, *file;
	char text[];                      /* category, label and file */
};

/* All zero: none yet. */
struct t2x_html_sites {
	struct t2x_html_site **sites;     /* in the order of their numbers */
	uint32_t count, room;
	size_t bytes;                     /* of texts */
	size_t held;                      /* of memory ... */
	const size_t *others;             /* ... beside what the owner has of other names; NULL: of none */
	struct t2x_map by_hash;
	struct {
		uint64_t scope;           /* its number */
		const char *kind;
		uint32_t site;
	} known[T2X_HTML_KNOWN_SCOPES];
};

/* kind is a literal, the same pointer for the same kind.  scope may be NULL.  Return  the number, or -ENOMEM */
int64_t t2x_html_site(struct t2x_html_sites *sites, const char *kind, const struct t2x_scope *scope);

/* As a JSON array of arrays: kind, category, label, file, line. */
void t2x_html_sites_print(const struct t2x_html_sites *sites, struct t2x_out *out);
void t2x_html_sites_free(struct t2x_html_sites *sites);

#endif
