/* SPDX-License-Identifier: MIT */
/*
 * t2x_patterns.h - lists of shell patterns, as the filters have them: "main,th*:worker", "!trace2".
 *
 * A text is selected if it matches one of the patterns, and none of those with a ! in front; where there are only such,
 * if it matches none of these.  What has no text matches nothing.
 */
#ifndef T2X_PATTERNS_H
#define T2X_PATTERNS_H

/* All zero: no patterns, which select everything. */
struct t2x_patterns {
	char **pattern;           /* without the ! */
	unsigned char *excludes;
	unsigned char *matched;   /* the pattern has matched a text; set by those that only look */
	unsigned n;
	unsigned included;        /* patterns without a ! */
};

/* Add a list with commas between its patterns; a backslash makes the next character an ordinary one.
 * Return  0, -EINVAL if a pattern is empty, or -ENOMEM */
int t2x_patterns_add(struct t2x_patterns *patterns, const char *list);

/* Whether they select the text; NULL: there is none */
int t2x_patterns_select(const struct t2x_patterns *patterns, const char *text);

/* Whether one of those with a ! matches the text. */
int t2x_patterns_exclude(const struct t2x_patterns *patterns, const char *text);

/* As t2x_patterns_select(), for a path: a pattern without a slash is one of its last part. */
int t2x_patterns_select_path(const struct t2x_patterns *patterns, const char *path);

void t2x_patterns_free(struct t2x_patterns *patterns);

#endif
