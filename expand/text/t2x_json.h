/* SPDX-License-Identifier: MIT */
/*
 * t2x_json.h - appends members of a JSON object: a comma, the key, and the value.  Keys are plain words.
 */
#ifndef T2X_JSON_H
#define T2X_JSON_H

#include "base/t2x_out.h"
#include "model/t2x_hit.h"

/* Append a text inside of a JSON string: " \ and bytes below 0x20 are escaped, all others stay as they are. */
void t2x_json_escaped(struct t2x_out *out, const char *text, size_t n);

/* Append only the key, a short one; the caller appends the value. */
static inline void t2x_json_key(struct t2x_out *out, const char *key)
{
	size_t n = strlen(key);
	char *p = t2x_out_room(out, n + 4);

	p[0] = ',';
	p[1] = '"';
	memcpy(p + 2, key, n);
	p[n + 2] = '"';
	p[n + 3] = ':';
	out->pos = p + n + 4;
}

void t2x_json_text(struct t2x_out *out, const char *key, const char *value, size_t n);

static inline void t2x_json_int(struct t2x_out *out, const char *key, int64_t value)
{
	t2x_json_key(out, key);
	t2x_out_int(out, value);
}

/* A text argument; nothing if it is null. */
void t2x_json_arg(struct t2x_out *out, const char *key, const struct t2x_arg *arg);

/* An array of n texts, with one more before them unless before is NULL. */
void t2x_json_argv(struct t2x_out *out, const char *key, const char *before, const struct t2x_arg *argv,
		   unsigned n);

#endif
