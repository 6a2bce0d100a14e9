/* SPDX-License-Identifier: MIT */
/*
 * t2x_suggest.h - what somebody may have meant by a misspelt word.
 *
 * The best candidate is the one with the fewest changes: a character more, less, other, or two that changed places.  A
 * word with more than one change in three characters is too far from everything.  A candidate that begins with the word
 * counts as one change.
 */
#ifndef T2X_SUGGEST_H
#define T2X_SUGGEST_H

struct t2x_suggestion {
	const char *word;
	const char *best;         /* NULL: nothing is like it yet; else a candidate */
	unsigned distance;        /* changes between both */
};

/* Compare the word with one candidate more.  Of two that are as near the first stays. */
void t2x_suggest_try(struct t2x_suggestion *suggestion, const char *candidate);

#endif
