/* SPDX-License-Identifier: MIT */
/* t2x_scope.c - see t2x_scope.h. */
#include "t2x_scope.h"

#include <string.h>

#include "t2x_context.h"
#include "tlg_crc.h"
#include "base/t2x_memory.h"

/* What a scope takes beside its box: an entry of the map, and what is lost between cache lines. */
enum { SCOPE_EXTRA = T2X_MAP_ENTRY_BYTES + T2X_CACHE_LINE };

/* ---- files -------------------------------------------------------------------------------------- */

static void free_file(struct t2x_context *context, struct t2x_file_box *box)
{
	t2x_context_give(context, box->bytes);
	t2x_context_release(context, box, box->bytes);
}

static struct t2x_file_box *make_file(struct t2x_context *context, const char *name, size_t n)
{
	size_t bytes = sizeof(struct t2x_file_box) + T2X_MAP_ENTRY_BYTES + n + 1;
	struct t2x_file_box *box = t2x_context_take(context, bytes) ? t2x_malloc(bytes - T2X_MAP_ENTRY_BYTES) : NULL;

	if (!box)
		return NULL;
	box->next = NULL;
	box->bytes = bytes;
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

/* ---- scopes ------------------------------------------------------------------------------------- */

static void free_scope(struct t2x_context *context, struct t2x_scope_box *box)
{
	t2x_context_give(context, box->bytes);
	t2x_context_release(context, box, box->bytes);
}

/* By which an enter and a leave of one region know each other. */
static uint32_t hash_names(const struct t2x_scope *scope)
{
	const char *names[2] = { scope->category, scope->label };
	uint32_t hash = scope->repo;

	for (unsigned i = 0; i < 2; i++)
		hash = tlg_crc32c(hash, names[i] ? names[i] : "", names[i] ? strlen(names[i]) + 1 : 1);
	return hash ? hash : 1;
}

/* The file's name is not copied if it is NUL-terminated and lives long enough: then own is NULL. */
static struct t2x_scope_box *make_scope(struct t2x_context *context, const struct tlg_sourceloc *place,
					const struct t2x_scope_texts *texts, const char *file)
{
	size_t bytes = sizeof(struct t2x_scope_box);
	const char *copy[T2X_SCOPE_TEXTS] = { NULL };
	struct t2x_scope_box *box;
	char *to;

	for (unsigned i = 0; i < T2X_SCOPE_TEXTS; i++)
		bytes += texts->text[i] ? texts->length[i] + 1 : 0;
	bytes = t2x_cache_line_bytes(bytes);
	box = t2x_context_take(context, bytes + SCOPE_EXTRA) ? t2x_cache_line_new(bytes) : NULL;
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
	box->next = NULL;
	box->bytes = bytes + SCOPE_EXTRA;
	box->scope = (struct t2x_scope){
		.number = ++context->numbers,
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

/* The texts that names announces, each ended by a NUL, or by the end. */
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

static void replace_scope(struct t2x_scopes *scopes, struct t2x_scope_box *old, struct t2x_scope_box *box)
{
	if (t2x_map_put(&scopes->scopes, box->scope.index, box)) {
		free_scope(scopes->context, box);
		return;
	}
	if (old) {
		scopes->context->changed++;
		old->next = scopes->old_scopes;
		scopes->old_scopes = old;
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
	box = make_scope(scopes->context, place, &texts, file ? file->name : NULL);
	if (box)
		replace_scope(scopes, old, box);
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
	box = make_scope(scopes->context, place, texts, NULL);
	if (!box)
		return NULL;
	box->next = first;
	if (scopes->ninline_scopes >= T2X_MAX_INLINE_SCOPES || t2x_map_put(&scopes->inline_scopes, hash, box))
		*is_cached = 0;
	else
		scopes->ninline_scopes++;
	if (!*is_cached)
		box->scope.number = 0;   /* it is freed behind its checkpoint: nobody may remember it */
	return &box->scope;
}

void t2x_scope_free(struct t2x_context *context, struct t2x_scope *scope)
{
	free_scope(context, (struct t2x_scope_box *)scope);
}

/* ---- the end ------------------------------------------------------------------------------------ */

static void free_list(struct t2x_context *context, struct t2x_scope_box *box)
{
	while (box) {
		struct t2x_scope_box *next = box->next;
		free_scope(context, box);
		box = next;
	}
}

static void free_scopes(struct t2x_context *context, struct t2x_map *map)
{
	for (uint32_t i = 0; i < t2x_map_slots(map); i++)
		free_list(context, t2x_map_at(map, i));
	t2x_map_free(map);
}

void t2x_scope_free_all(struct t2x_scopes *scopes)
{
	free_scopes(scopes->context, &scopes->scopes);
	free_scopes(scopes->context, &scopes->inline_scopes);
	free_list(scopes->context, scopes->old_scopes);
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
