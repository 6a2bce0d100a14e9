/* SPDX-License-Identifier: MIT */
/*
 * tr2_config_parse.h - the syntax of git's configuration: of its files, and of patterns for names in their values.
 *
 * The parser decodes values in place: a decoded value is never longer than its text.  It knows neither files nor keys,
 * and accepts any bytes.
 */
#ifndef TR2_CONFIG_PARSE_H
#define TR2_CONFIG_PARSE_H

#include <stddef.h>

enum { TR2_CONFIG_KEY_BYTES = 1024 };

struct tr2_config_parser {
	char *text;               /* bytes + 1, the last of which is for a NUL */
	size_t bytes, at;
	int ended;                /* 1: the line end behind the text was taken */
	unsigned line;            /* of what was parsed last, from 1 */
	unsigned line_ended;      /* 1: the byte before was the line's last */
	size_t section;           /* bytes of key that are "section." or "section.subsection." */
	size_t length;            /* bytes of key, or more: then it is too long */
	char key[TR2_CONFIG_KEY_BYTES];
	char *value;              /* in text; NULL: a key without "=" */
};

/* Begin with a text of so many bytes, behind which one more may be written. */
void tr2_config_parse_begin(struct tr2_config_parser *parser, char *text, size_t bytes);

/*
 * Go on to the next setting.  Its key is "section.key" or "section.Sub Section.key", all but the subsection in
 * small letters.  One whose key has no room is passed over.
 * Return  1: key and value are set; 0: the text ends; -1: bad syntax in `line`, where git too gives up
 */
int tr2_config_parse_next(struct tr2_config_parser *parser);

/*
 * Does a pattern, as in trace2.configParams, match the whole text?  Upper and lower case of ASCII are the same, with
 * git's exceptions: a capital behind a backslash, or alone in brackets, matches nothing; in a range it counts as both.
 * fnmatch(3) would not do: it reads bytes by the program's locale, allocates for long texts, reads an unclosed bracket
 * as a literal, and may take exponential time.
 * pattern  "*" any run of bytes, "." and "/" too; "?" any byte; "[a-c]", "[!a-c]", "[^a-c]", "[[:alpha:]]";
 *          "\\" takes the next byte literally.  One with an unclosed bracket or an unknown class matches nothing.
 * Return   1 or 0    Thread any    Signal safe    Cost  at most the product of the lengths
 */
int tr2_wildmatch(const char *pattern, const char *text);

#endif
