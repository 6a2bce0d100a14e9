/* SPDX-License-Identifier: MIT */
/*
 * tr2_emit.h - record one checkpoint with arguments: find its scope, reserve its chain, fill it, commit it.
 *
 * The caller describes the arguments; nothing is formatted and nothing allocated here.  Arguments that do not
 * fit one chain go on in MORE chains.
 */
#ifndef TR2_EMIT_H
#define TR2_EMIT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tr2_scope.h"

/* One argument with a VALUE of its own.  A text may come in three parts; NULL parts are empty. */
struct tr2_arg {
	uint32_t type;            /* TLG_ARG_* */
	int64_t value;            /* of an integer; of a text it is computed */
	const char *text[3];
	size_t bytes[3];
};

enum { TR2_FIXED_ARGS = 16, TR2_TEXT_LIMIT = 1 << 20 };

/* All arguments of a checkpoint: the fixed ones, then a list of texts, then one last text without a VALUE. */
struct tr2_args {
	struct tr2_arg fixed[TR2_FIXED_ARGS + 7];   /* 7 more when the scope travels along */
	unsigned nfixed;
	int has_parts;            /* a fixed text may be in parts */
	size_t whole_bytes;       /* of the other fixed texts */
	const char *const *list;  /* NULL or NULL-terminated */
	unsigned nlist;
	int redact;               /* hide passwords in the list's texts */
	const char *last;         /* NULL: none */
	size_t last_bytes;
};

/* No arguments yet.  (An initializer would clear a kilobyte: 10 ns.) */
static inline void tr2_args_init(struct tr2_args *args)
{
	args->nfixed = 0;
	args->has_parts = 0;
	args->whole_bytes = 0;
	args->list = NULL;
	args->nlist = 0;
	args->redact = 0;
	args->last = NULL;
	args->last_bytes = 0;
}

/* Append an argument: any but a text; a text of so many bytes.  What this does not set of a text is not looked at. */
static inline struct tr2_arg *tr2_args_add(struct tr2_args *args, uint32_t type, int64_t value)
{
	struct tr2_arg *arg = &args->fixed[args->nfixed++];

	arg->type = type;
	arg->value = value;
	return arg;
}

static inline void tr2_args_bytes(struct tr2_args *args, const char *text, size_t bytes)
{
	struct tr2_arg *arg = tr2_args_add(args, TLG_ARG_TEXT, (int64_t)bytes);

	arg->text[0] = text;
	arg->bytes[0] = bytes;
	arg->bytes[1] = arg->bytes[2] = 0;
	args->whole_bytes += bytes;
}

/* Append an argument of a common kind.  A null text is recorded as such. */
static inline void tr2_args_int(struct tr2_args *args, int64_t value)
{
	tr2_args_add(args, TLG_ARG_INT, value);
}

static inline void tr2_args_uint(struct tr2_args *args, uint64_t value)
{
	tr2_args_add(args, TLG_ARG_UINT, (int64_t)value);
}

static inline void tr2_args_text(struct tr2_args *args, const char *text)
{
	if (text)
		tr2_args_bytes(args, text, strlen(text));
	else
		tr2_args_add(args, TLG_ARG_NULL, 0);
}

void tr2_args_redacted(struct tr2_args *args, const char *text);

/* The list, the last text.  NULL is allowed. */
void tr2_args_list(struct tr2_args *args, const char *const *list, int redact);
void tr2_args_last(struct tr2_args *args, const char *text);

/*
 * Record a checkpoint.
 * key     its place and names; looked up, or sent along if the scope table has no room
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

/* The two commonest, without an argument list: a bare event, timed or not; one with an integer. */
void tr2_emit_hit(uint32_t scope, int timed);
void tr2_emit_int(uint32_t scope, int64_t value);

/*
 * Where the password of a URL argument lies: http(s)://user:password@.
 * Return  1: *from..*to (offsets) is to be replaced by ":<REDACTED>"; 0: nothing to hide
 */
int tr2_find_password(const char *text, size_t *from, size_t *to);

#endif
