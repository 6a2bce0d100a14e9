/* SPDX-License-Identifier: MIT */
/* t2x_raw_names.c - see t2x_raw_names.h. */
#include "t2x_raw_names.h"

#include <string.h>

#include "base/t2x_hash.h"
#include "base/t2x_memory.h"

static size_t cut(size_t n)
{
	return n < T2X_RAW_NAME_BYTES ? n : T2X_RAW_NAME_BYTES - 1;
}

/* ---- files -------------------------------------------------------------------------------------- */

/* Return  NULL: the line has none, there is no memory, or the format has no more numbers */
static struct t2x_raw_file *find_file(struct t2x_raw_names *names, const struct t2x_git_text *name)
{
	const size_t n = cut(name->length);
	const uint32_t hash = t2x_hash(t2x_hash_seed(names), name->at, name->at ? n : 0);
	struct t2x_raw_file *first, *file;

	if (!name->at || !n)
		return NULL;
	first = t2x_map_get(&names->files, hash);
	for (file = first; file; file = file->next)
		if (file->bytes == n && !memcmp(file->name, name->at, n))
			return file;
	if (names->nfiles == UINT16_MAX || !(file = t2x_calloc(1, sizeof(*file) + n)))
		return NULL;
	file->next = first;
	file->bytes = n;
	memcpy(file->name, name->at, n);
	if (t2x_map_put(&names->files, hash, file)) {
		t2x_free(file);
		return NULL;
	}
	file->number = (uint16_t)++names->nfiles;
	return file;
}

/* ---- callsites ---------------------------------------------------------------------------------- */

enum { NAMES = 3 };

/* Put the names, each ended by a NUL, as SLOC has them.  Return  bytes */
static size_t join_names(const struct t2x_git_line *line, char *to, uint8_t *which)
{
	const struct t2x_git_text *texts[NAMES] = { &line->category, &line->label, &line->format };
	static const uint8_t bits[NAMES] = { TLG_NAME_CATEGORY, TLG_NAME_LABEL, TLG_NAME_FORMAT };
	size_t bytes = 0;

	*which = 0;
	for (int i = 0; i < NAMES; i++) {
		size_t n = cut(texts[i]->length);
		if (!texts[i]->at)
			continue;
		memcpy(to + bytes, texts[i]->at, n);
		to[bytes + n] = '\0';
		bytes += n + 1;
		*which |= bits[i];
	}
	return bytes;
}

static int is_same(const struct t2x_raw_callsite *callsite, const struct tlg_sourceloc *place, const char *joined,
		   size_t bytes)
{
	const struct tlg_sourceloc *other = &callsite->place;

	return other->linenum == place->linenum && other->filenum == place->filenum && other->repo == place->repo &&
	       other->style == place->style && other->names == place->names && callsite->bytes == bytes &&
	       !memcmp(callsite->names, joined, bytes);
}

uint32_t t2x_raw_names_of(struct t2x_raw_names *names, const struct t2x_git_line *line)
{
	char joined[NAMES * T2X_RAW_NAME_BYTES];
	struct t2x_raw_file *file = find_file(names, &line->file);
	struct tlg_sourceloc place = {
		.linenum = line->line, .filenum = file ? file->number : 0, .repo = line->repo,
		.style = (uint8_t)line->style,
	};
	const size_t bytes = join_names(line, joined, &place.names);
	const uint32_t hash = t2x_hash(t2x_hash(t2x_hash_seed(names), &place, sizeof(place)), joined, bytes);
	struct t2x_raw_callsite *first = t2x_map_get(&names->callsites, hash), *callsite;

	for (callsite = first; callsite; callsite = callsite->next)
		if (is_same(callsite, &place, joined, bytes))
			return callsite->place.scopeIndex;
	if (names->by_index.count == T2X_RAW_NAMES_MAX || !(callsite = t2x_calloc(1, sizeof(*callsite) + bytes)))
		return 0;
	place.scopeIndex = names->by_index.count + 1;
	*callsite = (struct t2x_raw_callsite){ .next = first, .file = file, .place = place, .bytes = bytes };
	memcpy(callsite->names, joined, bytes);
	if (t2x_map_put(&names->by_index, place.scopeIndex, callsite)) {
		t2x_free(callsite);
		return 0;
	}
	/* without memory it is defined again when it comes again */
	if (t2x_map_put(&names->callsites, hash, callsite))
		callsite->next = NULL;
	return place.scopeIndex;
}

const struct t2x_raw_callsite *t2x_raw_names_get(const struct t2x_raw_names *names, uint32_t index)
{
	return t2x_map_get(&names->by_index, index);
}

void t2x_raw_names_written(struct t2x_raw_names *names, uint32_t index, uint32_t cycle)
{
	struct t2x_raw_callsite *callsite = t2x_map_get(&names->by_index, index);

	callsite->cycle = cycle;
	if (callsite->file)
		callsite->file->cycle = cycle;
}

void t2x_raw_names_free(struct t2x_raw_names *names)
{
	for (uint32_t i = 0; i < t2x_map_slots(&names->by_index); i++)
		t2x_free(t2x_map_at(&names->by_index, i));
	for (uint32_t i = 0; i < t2x_map_slots(&names->files); i++) {
		struct t2x_raw_file *file = t2x_map_at(&names->files, i);
		while (file) {
			struct t2x_raw_file *next = file->next;
			t2x_free(file);
			file = next;
		}
	}
	t2x_map_free(&names->by_index);
	t2x_map_free(&names->callsites);
	t2x_map_free(&names->files);
}
