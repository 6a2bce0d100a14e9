/* SPDX-License-Identifier: MIT */
/*
 * t2x_scope.h - source files and scopes of a stream.
 *
 * A definition that comes again and says the same keeps its address: writers remember things about it.  One
 * that says something else is damage; it holds from there on, the old one stays valid for those who have it.
 */
#ifndef T2X_SCOPE_H
#define T2X_SCOPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/t2x_map.h"
#include "model/t2x_hit.h"

enum {
	T2X_MAX_SCOPES = 1 << 20,               /* of a stream */
	T2X_MAX_INLINE_SCOPES = 4096,           /* that came with their checkpoints, and are cached */
};

struct t2x_context;

/* A definition and the texts behind it. */
struct t2x_scope_box {
	struct t2x_scope scope;                 /* first: a scope's address is its box's */
	struct t2x_scope_box *next;             /* of the replaced ones; of those with the same hash */
	size_t bytes;
	char text[];
};

struct t2x_file_box {
	struct t2x_file_box *next;              /* of the replaced ones */
	size_t bytes;
	char name[];
};

/*
 * Where the boxes lie that live as long as the stream: one behind the other, each in cache lines of its own.  Memory
 * that the C library aligns takes twice as much as such a box has.
 */
struct t2x_scope_chunk {
	struct t2x_scope_chunk *next;
	void *memory;                           /* of the back end, too: this struct is not */
	size_t bytes, used;
};

/* All of a stream. */
struct t2x_scopes {
	struct t2x_context *context;
	struct t2x_map files, scopes;           /* of boxes, by number, by index */
	struct t2x_map inline_scopes;           /* by hash: those that came with their checkpoints */
	unsigned ninline_scopes;
	struct t2x_scope_box *old_scopes;
	struct t2x_file_box *old_files;
	struct t2x_scope_chunk *chunks;         /* the newest first */
	size_t chunk_bytes;                     /* that they have */
};

/* FLOC: n bytes of name, which may have padding. */
void t2x_scope_define_file(struct t2x_scopes *scopes, uint16_t filenum, const char *name, size_t n);

/*
 * SLOC: n bytes of names.  Without its FLOC, which a reader that joined late may have missed, the scope stays
 * undefined.
 */
void t2x_scope_define(struct t2x_scopes *scopes, const struct tlg_sourceloc *place, const char *names,
		      size_t n);

/* The scope, or NULL. */
static inline struct t2x_scope *t2x_scope_get(const struct t2x_scopes *scopes, uint32_t index)
{
	return t2x_map_get(&scopes->scopes, index);
}

/* Texts of a scope, each may be absent.  None is NUL-terminated. */
enum { T2X_SCOPE_FILE, T2X_SCOPE_CATEGORY, T2X_SCOPE_LABEL, T2X_SCOPE_FORMAT, T2X_SCOPE_TEXTS };
struct t2x_scope_texts {
	const char *text[T2X_SCOPE_TEXTS];      /* NULL: absent */
	size_t length[T2X_SCOPE_TEXTS];
};

/*
 * The scope that came with a checkpoint.  From place only line, repo and style are used.
 * Return  NULL: no memory; else *is_cached says whether it lives as long as the stream; if not, t2x_scope_free() it
 * when its checkpoint has been handed over
 */
struct t2x_scope *t2x_scope_inline(struct t2x_scopes *scopes, const struct tlg_sourceloc *place,
				   const struct t2x_scope_texts *texts, int *is_cached);
void t2x_scope_free(struct t2x_context *context, struct t2x_scope *scope);

/* Free them all. */
void t2x_scope_free_all(struct t2x_scopes *scopes);

#endif
