/* SPDX-License-Identifier: MIT */
/* t2x_definitions.c - the budget of all streams, and what takes most of it: files, scopes, chains. */
#include "t2x_definitions.h"

#include <string.h>

#include "tlg_crc.h"

enum {
	FIRST_BYTES = 256,        /* of memory that grows */
	/* what a scope takes beside its box: an entry of the map, and its part of what a chunk has too much */
	SCOPE_EXTRA = T2X_MAP_ENTRY_BYTES + 48,
	FILE_EXTRA = T2X_MAP_ENTRY_BYTES + T2X_CACHE_LINE,        /* likewise a file, in memory of its own */
	MAX_CHUNK = 32 * 1024,
};

/* ---- context ------------------------------------------------------------------------------------ */

int t2x_context_take(struct t2x_context *context, size_t bytes)
{
	if (bytes > T2X_CONTEXT_BYTES - context->used_bytes) {
		context->ignored++;
		return 0;
	}
	context->used_bytes += bytes;
	if (context->used_bytes > context->peak_bytes)
		context->peak_bytes = context->used_bytes;
	return 1;
}

void t2x_context_give(struct t2x_context *context, size_t bytes)
{
	context->used_bytes -= bytes;
}

int t2x_context_grow(struct t2x_context *context, void **memory, size_t used, size_t more, size_t *max, size_t limit)
{
	size_t want = *max ? *max : FIRST_BYTES;
	void *larger;

	while (want < used + more)
		want *= 2;
	if (want > limit || !t2x_context_take(context, want - *max))
		return 0;
	larger = t2x_realloc(*memory, want);
	if (!larger) {
		t2x_context_give(context, want - *max);
		return 0;
	}
	*memory = larger;
	*max = want;
	return 1;
}

void t2x_context_release(struct t2x_context *context, const void *memory, size_t bytes)
{
	const struct t2x_update update = {
		.kind = T2X_RELEASE, .release = { .memory = (void *)(uintptr_t)memory, .bytes = bytes },
	};

	t2x_model_update(context->model, &update);
}

/* ---- files -------------------------------------------------------------------------------------- */

static void free_file(struct t2x_context *context, struct t2x_file_box *box)
{
	t2x_context_give(context, box->bytes);
	t2x_context_release(context, box, box->bytes);
}

static struct t2x_file_box *make_file(struct t2x_context *context, const char *name, size_t n)
{
	size_t bytes = t2x_cache_line_bytes(sizeof(struct t2x_file_box) + n + 1) + FILE_EXTRA;
	struct t2x_file_box *box = t2x_context_take(context, bytes) ? t2x_cache_line_new(bytes - FILE_EXTRA) : NULL;

	if (!box)
		return NULL;
	*box = (struct t2x_file_box){ .bytes = bytes };
	memcpy(box->name, name, n);
	box->name[n] = '\0';
	return box;
}

void t2x_scope_define_file(struct t2x_scopes *scopes, uint16_t filenum, const char *name, size_t n)
{
	struct t2x_file_box *old = t2x_map_get(&scopes->files, filenum), *box;

	n = strnlen(name, n);
	if (old && !strncmp(old->name, name, n) && !old->name[n])
		return;
	box = make_file(scopes->context, name, n);
	if (!box)
		return;
	if (t2x_map_put(&scopes->files, filenum, box)) {
		free_file(scopes->context, box);
		return;
	}
	if (old) {
		scopes->context->changed++;
		old->next = scopes->old_files;
		scopes->old_files = old;
	}
}

/* ---- memory of scopes --------------------------------------------------------------------------- */

static struct t2x_scope_chunk *new_chunk(size_t bytes)
{
	struct t2x_scope_chunk *chunk = t2x_malloc(sizeof(*chunk));

	if (!chunk)
		return NULL;
	*chunk = (struct t2x_scope_chunk){ .memory = t2x_cache_line_new(bytes), .bytes = bytes };
	if (chunk->memory)
		return chunk;
	t2x_free(chunk);
	return NULL;
}

/*
 * Of very many streams most have few scopes.  So the first chunk has room for one box, and each further one is as large
 * as all before it.  A large box gets a chunk of its own, behind the newest, which so keeps its room for small ones.
 * Return  a chunk with room for so many bytes; NULL: no memory
 */
static struct t2x_scope_chunk *find_chunk(struct t2x_scopes *scopes, size_t bytes)
{
	size_t more = scopes->chunk_bytes < MAX_CHUNK ? scopes->chunk_bytes : MAX_CHUNK;
	const int is_large = scopes->chunks && bytes > MAX_CHUNK / 8;
	struct t2x_scope_chunk *chunk, **at;

	if (scopes->chunks && !is_large && scopes->chunks->bytes - scopes->chunks->used >= bytes)
		return scopes->chunks;
	chunk = new_chunk(is_large || more < bytes ? bytes : more);
	if (!chunk)
		return NULL;
	at = is_large ? &scopes->chunks->next : &scopes->chunks;
	chunk->next = *at;
	*at = chunk;
	scopes->chunk_bytes += chunk->bytes;
	return chunk;
}

/* Return  a box that lives as long as the stream; NULL: no memory.  bytes  whole cache lines */
static struct t2x_scope_box *take_from_chunk(struct t2x_scopes *scopes, size_t bytes)
{
	struct t2x_scope_chunk *chunk = find_chunk(scopes, bytes);

	if (!chunk)
		return NULL;
	chunk->used += bytes;
	return (struct t2x_scope_box *)((char *)chunk->memory + chunk->used - bytes);
}

/* Give back the box that was made last: it is the last one of the newest chunk, or alone in the second. */
static void give_back(struct t2x_scopes *scopes, struct t2x_scope_box *box)
{
	const size_t bytes = box->bytes - SCOPE_EXTRA;
	struct t2x_scope_chunk *chunk = scopes->chunks;

	if ((char *)chunk->memory + chunk->used != (char *)box + bytes)
		chunk = chunk->next;
	chunk->used -= bytes;
	t2x_context_give(scopes->context, box->bytes);
}

static void free_chunks(struct t2x_scopes *scopes)
{
	while (scopes->chunks) {
		struct t2x_scope_chunk *chunk = scopes->chunks;

		scopes->chunks = chunk->next;
		t2x_context_release(scopes->context, chunk->memory, chunk->bytes);
		t2x_free(chunk);
	}
}

/* ---- scopes ------------------------------------------------------------------------------------- */

/* The enter and the leave of a region have the same hash, by which the model finds that they belong together. */
static uint32_t hash_names(const struct t2x_scope *scope)
{
	const char *names[2] = { scope->category, scope->label };
	uint32_t hash = scope->repo;

	for (unsigned i = 0; i < 2; i++)
		hash = tlg_crc32c(hash, names[i] ? names[i] : "", names[i] ? strlen(names[i]) + 1 : 1);
	return hash ? hash : 1;
}

/* stays 0: the box gets memory of its own.  Return  NULL: no memory, or it exceeds the budget */
static struct t2x_scope_box *new_box(struct t2x_scopes *scopes, const struct t2x_scope_texts *texts, int stays)
{
	size_t bytes = sizeof(struct t2x_scope_box);
	struct t2x_scope_box *box;

	for (unsigned i = 0; i < T2X_SCOPE_TEXTS; i++)
		bytes += texts->text[i] ? texts->length[i] + 1 : 0;
	bytes = t2x_cache_line_bytes(bytes);
	if (!t2x_context_take(scopes->context, bytes + SCOPE_EXTRA))
		return NULL;
	box = stays ? take_from_chunk(scopes, bytes) : t2x_cache_line_new(bytes);
	if (!box) {
		t2x_context_give(scopes->context, bytes + SCOPE_EXTRA);
		return NULL;
	}
	box->next = NULL;
	box->bytes = bytes + SCOPE_EXTRA;
	return box;
}

/* file  the file's name, which lives as long as the scope; NULL: it is copied from texts */
static struct t2x_scope_box *make_scope(struct t2x_scopes *scopes, const struct tlg_sourceloc *place,
					const struct t2x_scope_texts *texts, const char *file, int stays)
{
	const char *copy[T2X_SCOPE_TEXTS] = { NULL };
	struct t2x_scope_box *box = new_box(scopes, texts, stays);
	char *to;

	if (!box)
		return NULL;
	to = box->text;
	for (unsigned i = 0; i < T2X_SCOPE_TEXTS; i++) {
		if (!texts->text[i])
			continue;
		copy[i] = to;
		memcpy(to, texts->text[i], texts->length[i]);
		to += texts->length[i];
		*to++ = '\0';
	}
	box->scope = (struct t2x_scope){
		.number = ++scopes->context->numbers,
		.index = place->scopeIndex,
		.line = place->linenum,
		.repo = place->repo,
		.style = place->style,
		.file = file ? file : copy[T2X_SCOPE_FILE],
		.category = copy[T2X_SCOPE_CATEGORY],
		.label = copy[T2X_SCOPE_LABEL],
		.format = copy[T2X_SCOPE_FORMAT],
	};
	box->scope.names = hash_names(&box->scope);
	return box;
}

static int is_same_text(const char *have, const char *text, size_t n)
{
	if (!have || !text)
		return !have && !text;
	return strlen(have) == n && !memcmp(have, text, n);
}

static int is_same_scope(const struct t2x_scope *scope, const struct tlg_sourceloc *place,
			 const struct t2x_scope_texts *texts)
{
	const char *have[T2X_SCOPE_TEXTS] = { scope->file, scope->category, scope->label, scope->format };

	if (scope->line != place->linenum || scope->repo != place->repo || scope->style != place->style)
		return 0;
	for (unsigned i = 0; i < T2X_SCOPE_TEXTS; i++)
		if (!is_same_text(have[i], texts->text[i], texts->length[i]))
			return 0;
	return 1;
}

/* Find the texts that names announces.  Each ends at a NUL, or at the end. */
static void split_names(struct t2x_scope_texts *texts, unsigned names, const char *text, size_t n)
{
	size_t at = 0;

	for (unsigned i = 0; i < 3; i++) {
		if (!(names & 1u << i))
			continue;
		texts->text[T2X_SCOPE_CATEGORY + i] = text + at;
		texts->length[T2X_SCOPE_CATEGORY + i] = strnlen(text + at, n - at);
		at += texts->length[T2X_SCOPE_CATEGORY + i];
		at += at < n;
	}
}

void t2x_scope_define(struct t2x_scopes *scopes, const struct tlg_sourceloc *place, const char *names,
		      size_t n)
{
	struct t2x_scope_box *old = t2x_map_get(&scopes->scopes, place->scopeIndex), *box;
	const struct t2x_file_box *file = t2x_map_get(&scopes->files, place->filenum);
	struct t2x_scope_texts texts = { .text = { NULL } };

	if (place->filenum && !file)
		return;
	split_names(&texts, place->names, names, n);
	if (file) {
		texts.text[T2X_SCOPE_FILE] = file->name;
		texts.length[T2X_SCOPE_FILE] = strlen(file->name);
	}
	if (old && is_same_scope(&old->scope, place, &texts))
		return;
	if (!place->scopeIndex || (!old && scopes->scopes.count >= T2X_MAX_SCOPES)) {
		scopes->context->ignored++;
		return;
	}
	texts.text[T2X_SCOPE_FILE] = NULL;
	box = make_scope(scopes, place, &texts, file ? file->name : NULL, 1);
	if (!box)
		return;
	if (t2x_map_put(&scopes->scopes, place->scopeIndex, box)) {
		give_back(scopes, box);
	} else if (old) {
		scopes->context->changed++;
		old->next = scopes->old_scopes;
		scopes->old_scopes = old;
	}
}

/* ---- scopes that come with their checkpoints ---------------------------------------------------- */

static uint32_t hash_scope(const struct tlg_sourceloc *place, const struct t2x_scope_texts *texts)
{
	uint32_t hash = tlg_crc32c(place->style, &place->linenum, sizeof(place->linenum));

	for (unsigned i = 0; i < T2X_SCOPE_TEXTS; i++)
		if (texts->text[i])
			hash = tlg_crc32c(hash + i, texts->text[i], texts->length[i]);
	return hash;
}

struct t2x_scope *t2x_scope_inline(struct t2x_scopes *scopes, const struct tlg_sourceloc *place,
				   const struct t2x_scope_texts *texts, int *is_cached)
{
	uint32_t hash = hash_scope(place, texts);
	struct t2x_scope_box *first = t2x_map_get(&scopes->inline_scopes, hash), *box;

	*is_cached = 1;
	for (box = first; box; box = box->next)
		if (is_same_scope(&box->scope, place, texts))
			return &box->scope;
	if (scopes->ninline_scopes < T2X_MAX_INLINE_SCOPES) {
		box = make_scope(scopes, place, texts, NULL, 1);
		if (!box)
			return NULL;
		box->next = first;
		if (!t2x_map_put(&scopes->inline_scopes, hash, box)) {
			scopes->ninline_scopes++;
			return &box->scope;
		}
		give_back(scopes, box);
	}
	*is_cached = 0;
	box = make_scope(scopes, place, texts, NULL, 0);
	if (!box)
		return NULL;
	box->scope.number = 0;   /* it is freed behind its checkpoint: nobody may remember it */
	return &box->scope;
}

void t2x_scope_free(struct t2x_context *context, struct t2x_scope *scope)
{
	struct t2x_scope_box *box = (struct t2x_scope_box *)scope;

	t2x_context_give(context, box->bytes);
	t2x_context_release(context, box, box->bytes);
}

/* ---- the end ------------------------------------------------------------------------------------ */

/* Give their bytes back to the budget; the memory goes with the chunks. */
static void give_list(struct t2x_context *context, const struct t2x_scope_box *box)
{
	for (; box; box = box->next)
		t2x_context_give(context, box->bytes);
}

static void give_scopes(struct t2x_context *context, struct t2x_map *map)
{
	for (uint32_t i = 0; i < t2x_map_slots(map); i++)
		give_list(context, t2x_map_at(map, i));
	t2x_map_free(map);
}

void t2x_scopes_free(struct t2x_scopes *scopes)
{
	give_scopes(scopes->context, &scopes->scopes);
	give_scopes(scopes->context, &scopes->inline_scopes);
	give_list(scopes->context, scopes->old_scopes);
	free_chunks(scopes);
	for (uint32_t i = 0; i < t2x_map_slots(&scopes->files); i++)
		if (t2x_map_at(&scopes->files, i))
			free_file(scopes->context, t2x_map_at(&scopes->files, i));
	t2x_map_free(&scopes->files);
	while (scopes->old_files) {
		struct t2x_file_box *next = scopes->old_files->next;
		free_file(scopes->context, scopes->old_files);
		scopes->old_files = next;
	}
}

/* ---- chains ------------------------------------------------------------------------------------- */

void t2x_chain_add(struct t2x_chain *chain, struct t2x_context *context, const struct tlg_event *event, int is_value)
{
	const size_t more = is_value ? sizeof(chain->values[0]) : TLG_TEXT_SIZE;
	size_t used = is_value ? chain->nvalues * sizeof(chain->values[0]) : chain->bytes;
	size_t *max = is_value ? &chain->max_values : &chain->max_bytes;
	void *memory = is_value ? (void *)chain->values : chain->text;

	if (*max - used < more && !t2x_context_grow(context, &memory, used, more, max,
						    is_value ? T2X_CHAIN_VALUES : T2X_CHAIN_BYTES))
		return;
	if (is_value) {
		chain->values = memory;
		chain->values[chain->nvalues++] = event->u.value;
	} else {
		chain->text = memory;
		memcpy(chain->text + used, event->u.info.text.c, TLG_TEXT_SIZE);
		chain->bytes += TLG_TEXT_SIZE;
	}
}

void t2x_chain_free(struct t2x_chain *chain, struct t2x_context *context)
{
	t2x_context_give(context, chain->max_values + chain->max_bytes);
	t2x_free(chain->values);
	t2x_free(chain->text);
	t2x_free(chain);
}

void t2x_chains_push(struct t2x_chains *chains, struct t2x_chain *chain)
{
	chain->next = chains->newest;
	chains->newest = chain;
	chains->count++;
}

void t2x_chains_remove(struct t2x_chains *chains, struct t2x_chain *chain)
{
	struct t2x_chain **at = &chains->newest;

	while (*at != chain)
		at = &(*at)->next;
	*at = chain->next;
	chains->count--;
}

struct t2x_chain *t2x_chains_oldest(const struct t2x_chains *chains)
{
	struct t2x_chain *chain = chains->newest;

	while (chain->next)
		chain = chain->next;
	return chain;
}
