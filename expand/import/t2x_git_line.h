/* SPDX-License-Identifier: MIT */
/*
 * t2x_git_line.h - parses one line of git's event target: what kind of event it is, whose, when, its arguments.
 *
 * Every line is untrusted.  All texts point into the parser and are valid until the next line.
 */
#ifndef T2X_GIT_LINE_H
#define T2X_GIT_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "tlg.h"

struct t2x_git_text {
	const char *at;                   /* NULL: the line has none */
	size_t length;
};

/* An argument as the format has it: VALUE, and the text of those that are texts. */
struct t2x_git_arg {
	unsigned type;                    /* TLG_ARG_* */
	int64_t value;
	struct t2x_git_text text;
};

#define T2X_GIT_NO_TIME INT64_MIN
enum { T2X_GIT_SID_BYTES = 16384 };     /* of a session id at most: a block has to hold it */

struct t2x_git_line {
	unsigned style;                   /* enum tlg_style */
	struct t2x_git_text sid, thread, file;
	struct t2x_git_text category, label, format;   /* of the callsite; format: of a message */
	int32_t line;
	uint16_t repo;
	int64_t time_us;                  /* since 1970; likewise below T2X_GIT_NO_TIME: the line has none */
	int64_t abs_us, rel_us;           /* t_abs; t_rel */
	const struct t2x_git_arg *args;
	unsigned nargs;
	int start_arg;                    /* index of the argument that is the raw clock at a child's start; -1: none */
	struct t2x_git_text last;         /* the text behind the VALUEs */
	unsigned others;                  /* members that no event of a trace has a place for */
};

enum t2x_git_verdict {
	T2X_GIT_OK,
	T2X_GIT_BROKEN,                   /* no JSON, a longer session id, or an event without what git always prints */
	T2X_GIT_UNKNOWN,                  /* an event of another kind */
	T2X_GIT_NO_MEMORY,
};

struct t2x_git_parser;

/* Return  NULL: no memory */
struct t2x_git_parser *t2x_git_parser_new(void);
void t2x_git_parser_free(struct t2x_git_parser *parser);

/* Parse a line of n bytes, without its end. */
enum t2x_git_verdict
t2x_git_parse(struct t2x_git_parser *parser, const char *text, size_t n, struct t2x_git_line *line);

#endif
