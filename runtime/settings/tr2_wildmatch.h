/* SPDX-License-Identifier: MIT */
/*
 * tr2_wildmatch.h - git's patterns for names, as in trace2.configParams.
 *
 * Why not fnmatch(3): it takes the program's locale for bytes, allocates for long texts, knows an unclosed
 * bracket as a literal, and may take exponential time.
 */
#ifndef TR2_WILDMATCH_H
#define TR2_WILDMATCH_H

/*
 * Does the pattern match the whole text?  Upper and lower case of ASCII are the same, with git's exceptions: a
 * capital behind a backslash, or alone in brackets, matches nothing; in a range it counts as both.
 * pattern  "*" any run of bytes, "." and "/" too; "?" any byte; "[a-c]", "[!a-c]", "[^a-c]", "[[:alpha:]]";
 *          "\\" takes the next byte literally.  One with an unclosed bracket or an unknown class matches nothing.
 * Return   1 or 0    Thread any    Signal safe    Cost  at most the product of the lengths
 */
int tr2_wildmatch(const char *pattern, const char *text);

#endif
