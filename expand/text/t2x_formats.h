/* SPDX-License-Identifier: MIT */
/*
 * t2x_formats.h - the table of the output formats and their options (t2x_formats.def).
 */
#ifndef T2X_FORMATS_H
#define T2X_FORMATS_H

#include "model/t2x_writer.h"

enum {
	T2X_TRAIT_LIVE = 1,       /* libtrace2 also prints it, while the program runs */
	T2X_TRAIT_JSON = 2,       /* on a terminal, characters are escaped as in a JSON string */
	T2X_TRAIT_BINARY = 4,     /* not for a terminal */
	T2X_TRAIT_STREAM = 32,    /* each event is printed when it comes: t2 follow has it */
	T2X_TRAIT_DOCUMENT = 16,  /* of JSON: it is one text, not an object on each line */
	T2X_TRAIT_RAW = 8,        /* its writer gets blocks; the model is not used */
};

enum t2x_format_name {
#define T2X_FORMAT(name, suffix, traits, help) T2X_FORMAT_##name,
#include "t2x_formats.def"
	T2X_FORMATS
};

enum t2x_format_option_name {
#define T2X_FORMAT_OPTION(name, value, formats, help) T2X_OPTION_##name,
#include "t2x_formats.def"
	T2X_OPTIONS
};

struct t2x_format {
	const char *name;
	const char *suffix;
	const char *help;
	unsigned traits;
	const struct t2x_writer *writer;
};

struct t2x_format_option {
	const char *name;         /* as on the command line */
	const char *value;        /* the name of its value in --help; NULL: it has none */
	const char *formats;      /* formats that have it; "": all */
	const char *help;
};

extern const struct t2x_format t2x_formats[T2X_FORMATS];
extern const struct t2x_format_option t2x_format_options[T2X_OPTIONS];

#define T2X_FORMAT(name, suffix, traits, help) extern const struct t2x_writer t2x_writer_##name;
#include "t2x_formats.def"

/* Return  NULL: no format has this name */
const struct t2x_format *t2x_format_find(const char *name);

/* Whether the format has the option. */
int t2x_format_has(const struct t2x_format *format, const struct t2x_format_option *option);

/* Whether the text, the value of an option, is one of the words, separated by |, or as one with a colon says. */
int t2x_format_is_one_of(const char *words, const char *text);

/* Return  the value of a format's option on the command line; NULL: it was not given; "": given without a value */
static inline const char *t2x_option(const struct t2x_options *options, enum t2x_format_option_name option)
{
	return options->values ? options->values[option] : NULL;
}

#endif
