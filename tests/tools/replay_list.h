/* SPDX-License-Identifier: MIT */
/*
 * replay_list.h - parses a list of Trace2 calls into checked lines; it makes no call.
 *
 * One call a line: `name file line args...` (name alone for calls without a place), words split at blanks.
 * NULL is a null pointer, "" the empty string; in a word \s is a blank, \t a tab, \n a newline, \xHH a byte,
 * \\ a backslash.  A line that begins with # is a comment.  Blocks `thread` ... `join` nest.
 *
 * The parser checks everything, so that a list is either replayed whole or refused.  A list lives until the process
 * ends, because the calls may store pointers to its strings.  One thread only.
 */
#ifndef REPLAY_LIST_H
#define REPLAY_LIST_H

#include <stddef.h>
#include <stdint.h>

enum {
	REPLAY_SLOTS = 64,                /* children, repositories */
};

struct replay_line;

/*
 * A kind of call.  args has one letter an argument:
 *   s text or NULL   i int   m intmax_t   u uint64_t   c slot   r slot or NULL
 *   ? what follows may be absent   * any number of texts (last letter)
 */
struct replay_kind {
	const char *name;
	int located;                      /* 1: file and line come first */
	const char *args;
	void (*call)(const struct replay_line *line);
};

/* The names of the kinds that open and close a block.  Their call is not used. */
#define REPLAY_THREAD "thread"
#define REPLAY_JOIN "join"

struct replay_line {
	const struct replay_kind *kind;
	unsigned number;                  /* in the file, from 1 */
	const char *file;                 /* located: the file to pass */
	int line;
	size_t count;                     /* arguments */
	const char **text;                /* [count + 1], the last one NULL */
	intmax_t *value;                  /* [count + 1]: numbers; u: the same bits; r: -1 for NULL */
	size_t join;                      /* of `thread`: index of its `join` */
	char *words;                      /* the memory of the texts */
};

struct replay_list {
	struct replay_line *lines;
	size_t count;
};

/*
 * Read the list in the file path.  kinds ends with a name of NULL.
 * Return  0; -1: it cannot be read or is malformed, and a line "path:line: reason" is on stderr
 */
int replay_list_read(struct replay_list *list, const char *path, const struct replay_kind *kinds);

/* The argument at index, NULL if absent. */
const char *replay_text(const struct replay_line *line, size_t index);

#endif
