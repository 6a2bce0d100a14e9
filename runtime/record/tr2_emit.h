/* SPDX-License-Identifier: MIT */
/*
 * tr2_emit.h - record one checkpoint with arguments: find its scope, reserve its chain, fill it, commit it.
 *
 * The caller describes the arguments; nothing is formatted and nothing allocated here.  Arguments that do not
 * fit one chain go on in MORE chains.
 */
#ifndef TR2_EMIT_H
#define TR2_EMIT_H

#include <stdint.h>

#include "tr2_args.h"
#include "ring/tr2_scope.h"

enum { TR2_TEXT_LIMIT = 1 << 20 };   /* of strings that a checkpoint records; the rest is cut */

/*
 * Record a checkpoint.
 * key     its place and names: looked up; recorded with the checkpoint if the scope table is full
 * args    NULL: none; else changed by the call
 * flags   TLG_RENDERED or 0
 * when    raw clock; 0: read it now, once the place is reserved
 * Thread  any    Signal safe    Errno kept
 */
void tr2_emit(const struct tr2_scope_key *key, struct tr2_args *args, unsigned flags, uint64_t when);

/* The same for a call site that has been looked up. */
struct tr2_site;
void tr2_emit_at(const struct tr2_site *site, const struct tr2_scope_key *key, struct tr2_args *args, unsigned flags,
		 uint64_t when);

/* The same for a scope that is known: 1.. from tr2_scope_intern(). */
void tr2_emit_scope(uint32_t scope, const struct tr2_args *args, unsigned flags, uint64_t when);

/* The same for a scope that the table has no room for: its definition goes in front of its arguments. */
void tr2_emit_with_scope(const struct tr2_scope_key *key, const struct tr2_args *args, unsigned flags, uint64_t when);

/* A checkpoint without names that carries one string, NULL: none; one integer.  As tr2_emit() */
void tr2_emit_one_text(int style, const char *file, int line, const char *text);
void tr2_emit_one_int(int style, const char *file, int line, int64_t value, uint64_t when);

/* The most frequent ones take no argument list: no argument, with or without a time; an integer; a string or NULL. */
void tr2_emit_hit(uint32_t scope, int timed);
void tr2_emit_int(uint32_t scope, int64_t value);
void tr2_emit_last(uint32_t scope, const char *text);

#endif
