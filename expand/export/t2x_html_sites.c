/* SPDX-License-Identifier: MIT */
/* t2x_html_sites.c - see t2x_html_sites.h. */
#include "t2x_html_sites.h"

#include <errno.h>

#include "base/t2x_memory.h"
#include "text/t2x_json.h"

enum {
	FIRST_SITES = 256,
	MOST_ALIKE = 32,
	/* beside its texts: malloc's part of it, an entry of the map, and one of the array while that grows */
	SITE_EXTRA = 16 + T2X_MAP_ENTRY_BYTES + 2 * sizeof(void *),
};

static const struct t2x_scope further = { .label = "(one of too many names)" };
static const struct t2x_scope nameless;

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static uint32_t hash_text(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return (hash ^ 0xff) * 16777619u;
}

static uint32_t hash_scope(const char *kind, const struct t2x_scope *scope)
{
	uint32_t hash = hash_text(2166136261u, kind);

	hash = hash_text(hash, text_of(scope->category));
	hash = hash_text(hash, text_of(scope->label));
	return hash_text(hash, text_of(scope->file)) ^ (uint32_t)scope->line * 2654435761u;
}

static int is_same(const struct t2x_html_site *site, const char *kind, const struct t2x_scope *scope)
{
	return site->kind == kind && site->line == scope->line && !strcmp(site->label, text_of(scope->label)) &&
	       !strcmp(site->category, text_of(scope->category)) && !strcmp(site->file, text_of(scope->file));
}

/* Copy a text to *at, which moves behind it. */
static const char *copy_text(char **at, const char *text)
{
	size_t n = strlen(text_of(text)) + 1;
	char *copy = memcpy(*at, text_of(text), n);

	*at += n;
	return copy;
}

static int make_room(struct t2x_html_sites *sites)
{
	uint32_t room = sites->room ? 2 * sites->room : FIRST_SITES;
	struct t2x_html_site **grown;

	if (sites->count < sites->room)
		return 0;
	grown = t2x_realloc(sites->sites, room * sizeof(grown[0]));
	if (!grown)
		return -ENOMEM;
	sites->sites = grown;
	sites->room = room;
	return 0;
}

/* Return  the number, or -ENOMEM */
static int64_t add_site(struct t2x_html_sites *sites, const char *kind, const struct t2x_scope *scope, uint32_t hash)
{
	size_t bytes = strlen(text_of(scope->category)) + 1 + strlen(text_of(scope->label)) + 1 +
		       strlen(text_of(scope->file)) + 1;
	struct t2x_html_site *site = make_room(sites) ? NULL : t2x_malloc(sizeof(*site) + bytes);
	char *at;

	if (!site)
		return -ENOMEM;
	at = site->text;
	site->next = t2x_map_get(&sites->by_hash, hash);
	site->number = sites->count;
	site->line = scope->line;
	site->kind = kind;
	site->category = copy_text(&at, scope->category);
	site->label = copy_text(&at, scope->label);
	site->file = copy_text(&at, scope->file);
	if (t2x_map_put(&sites->by_hash, hash, site)) {
		t2x_free(site);
		return -ENOMEM;
	}
	sites->bytes += bytes;
	sites->held += sizeof(*site) + bytes + SITE_EXTRA;
	sites->sites[sites->count++] = site;
	return site->number;
}

static int has_room(const struct t2x_html_sites *sites)
{
	return sites->count < T2X_HTML_SITES && sites->bytes < T2X_HTML_SITE_BYTES &&
	       sites->held + (sites->others ? *sites->others : 0) < T2X_HTML_NAME_BYTES;
}

/* A hash that too many have was chosen by somebody. */
static int64_t find_site(struct t2x_html_sites *sites, const char *kind, const struct t2x_scope *scope)
{
	uint32_t hash = hash_scope(kind, scope);
	const struct t2x_html_site *site = t2x_map_get(&sites->by_hash, hash);
	unsigned alike = 0;

	for (; site; site = site->next, alike++)
		if (is_same(site, kind, scope))
			return site->number;
	if (scope != &further && (alike >= MOST_ALIKE || !has_room(sites)))
		return find_site(sites, kind, &further);
	return add_site(sites, kind, scope, hash);
}

int64_t t2x_html_site(struct t2x_html_sites *sites, const char *kind, const struct t2x_scope *scope)
{
	uint64_t number = scope ? scope->number : 0;
	size_t at = number % T2X_HTML_KNOWN_SCOPES;
	int64_t site;

	if (number && sites->known[at].scope == number && sites->known[at].kind == kind)
		return sites->known[at].site;
	site = find_site(sites, kind, scope ? scope : &nameless);
	if (site >= 0 && number) {
		sites->known[at].scope = number;
		sites->known[at].kind = kind;
		sites->known[at].site = (uint32_t)site;
	}
	return site;
}

static void print_text(struct t2x_out *out, const char *text)
{
	t2x_out_char(out, '"');
	t2x_json_escaped(out, text, strlen(text));
	t2x_out_literal(out, "\",");
}

void t2x_html_sites_print(const struct t2x_html_sites *sites, struct t2x_out *out)
{
	t2x_out_char(out, '[');
	for (uint32_t i = 0; i < sites->count; i++) {
		const struct t2x_html_site *site = sites->sites[i];

		t2x_out_string(out, i ? ",[" : "[");
		print_text(out, site->kind);
		print_text(out, site->category);
		print_text(out, site->label);
		print_text(out, site->file);
		t2x_out_int(out, site->line);
		t2x_out_char(out, ']');
	}
	t2x_out_char(out, ']');
}

void t2x_html_sites_free(struct t2x_html_sites *sites)
{
	for (uint32_t i = 0; i < sites->count; i++)
		t2x_free(sites->sites[i]);
	t2x_free(sites->sites);
	t2x_map_free(&sites->by_hash);
}
