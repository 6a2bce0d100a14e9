/* SPDX-License-Identifier: MIT */
/*
 * tr2_config_parse.h - the syntax of git's configuration files.
 *
 * Works in the text that it is given: a value is decoded in place, where it is never longer than what it
 * stands for.  Knows neither files nor which keys matter.  Any bytes may come.
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

#endif
