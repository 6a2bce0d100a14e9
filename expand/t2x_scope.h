/* SPDX-License-Identifier: MIT */
/*
 * t2x_scope.h - source files and scopes of a stream.
 *
 * A definition that comes again and says the same keeps its address: writers remember things about it.  One
 * that says something else is damage; it holds from there on, the old one stays valid for those who have it.
 */
#ifndef T2X_SCOPE_H
#define T2X_SCOPE_H

#include "t2x_context.h"

/* FLOC: n bytes of name, which may have padding. */
void t2x_scope_define_file(struct t2x_stream *stream, uint16_t filenum, const char *name, size_t n);

/*
 * SLOC: n bytes of names.  Without its FLOC, which a reader that joined late may have missed, the scope stays
 * undefined.
 */
void t2x_scope_define(struct t2x_stream *stream, const struct tlg_sourceloc *place, const char *names,
		      size_t n);

/* The scope, or NULL. */
static inline struct t2x_scope *t2x_scope_get(const struct t2x_stream *stream, uint32_t index)
{
	return t2x_map_get(&stream->scopes, index);
}

/* Texts of a scope, each may be absent.  None is NUL-terminated. */
enum { T2X_SCOPE_FILE, T2X_SCOPE_CATEGORY, T2X_SCOPE_LABEL, T2X_SCOPE_FORMAT, T2X_SCOPE_TEXTS };
struct t2x_scope_texts {
	const char *text[T2X_SCOPE_TEXTS];      /* NULL: absent */
	size_t length[T2X_SCOPE_TEXTS];
};

/*
 * The scope that came with a checkpoint.  From place only line, repo and style are used.
 * Return  NULL: no memory; else *is_kept says whether it lives as long as the stream; if not, it is to be
 * given to t2x_scope_drop() after use
 */
struct t2x_scope *t2x_scope_passing(struct t2x_stream *stream, const struct tlg_sourceloc *place,
				    const struct t2x_scope_texts *texts, int *is_kept);
void t2x_scope_drop(struct t2x_context *context, struct t2x_scope *scope);

/* Free all definitions of the stream. */
void t2x_scope_free_all(struct t2x_stream *stream);

#endif
