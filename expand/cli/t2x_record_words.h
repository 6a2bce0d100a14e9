/* SPDX-License-Identifier: MIT */
/*
 * t2x_record_words.h - the options of `t2 record' that are words of TRACE2_PROF, and which values they may have.
 *
 * libtrace2-prof leaves out what is wrong: a program in production runs on.  Who types a command wants to know before
 * the program runs.  Profiles and their bounds are in prof_kinds.def, which both read, and tests/cli/check_record.sh
 * compares what they say.
 */
#ifndef T2X_RECORD_WORDS_H
#define T2X_RECORD_WORDS_H

#include <getopt.h>
#include <stddef.h>

/* Options whose val is T2X_RECORD_WORD become words; the others are for the caller.  Ended by an empty one */
enum { T2X_RECORD_WORD = 'p' };
extern const struct option t2x_record_options[];

/*
 * Is this a value of the word?  NULL: it is the word alone.
 * needs   filled with what the word needs, of size bytes
 */
int t2x_record_may_be(const char *name, const char *value, char *needs, size_t size);

/* Does a list, as of TRACE2_PROF, have the word, with a value or without?  word  NULL: any that samples something */
int t2x_record_has(const char *list, const char *word);

#endif
