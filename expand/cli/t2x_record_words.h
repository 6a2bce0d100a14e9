/* SPDX-License-Identifier: MIT */
/*
 * t2x_record_words.h - the options of `t2 record' that are words of TRACE2_PROF, and which values they may have.
 *
 * libtrace2-prof ignores a wrong word, so that a program in production runs on.  The command checks the words before it
 * starts the program.  Both read the profiles and their bounds from prof_kinds.def; tests/cli/check_record.sh compares
 * their verdicts.
 */
#ifndef T2X_RECORD_WORDS_H
#define T2X_RECORD_WORDS_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

/* Options whose val is T2X_RECORD_WORD become words; the others are for the caller.  Ended by an empty one */
enum {
	T2X_RECORD_WORD = 'p', T2X_RECORD_DORMANT, T2X_RECORD_PID, T2X_RECORD_DELAY, T2X_RECORD_SECONDS,
	T2X_RECORD_COMPARE, T2X_RECORD_RUNS,
};
extern const struct option t2x_record_options[];

/*
 * Is this a value of the word?  NULL: it is the word alone.
 * needs   filled with what the word needs, of size bytes
 */
int t2x_record_may_be(const char *name, const char *value, char *needs, size_t size);

/* Does a list, as of TRACE2_PROF, have the word, with a value or without?  word  NULL: any that samples something */
int t2x_record_has(const char *list, const char *word);

/*
 * t2x_record_split()  of a list: what has to be known at the start of a program, and the profiles that can be started
 *                     later.  size of each
 * t2x_record_stops()  the words that stop the profiles of a list
 */
void t2x_record_split(const char *list, char *start, char *later, size_t size);
void t2x_record_stops(const char *list, char *stops, size_t size);

/* Seconds, "3" or "0.5", as ms.  Return  0: text is no such number, or more than 1,000,000,000 */
int t2x_record_ms(const char *text, uint64_t *ms);

#endif
