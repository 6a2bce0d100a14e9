/* SPDX-License-Identifier: MIT */
/*
 * t2x_text.h - what the output formats share: quoting for the shell, arguments, times of day,
 * the columns that git fills from its own sources.
 */
#ifndef T2X_TEXT_H
#define T2X_TEXT_H

#include "t2x_writer.h"

/*
 * A word as git shows it: bare if it is made of letters, digits and +,-./:=@_^ alone, else in single quotes,
 * in which ' and ! are escaped.  Everything else, line ends and bytes above 0x7f too, stays as it is.
 */
void t2x_text_quoted(struct t2x_out *out, const char *text, size_t n);

/* Quoted words with a blank between them. */
void t2x_text_argv(struct t2x_out *out, const struct t2x_arg *argv, unsigned n);

/* A text argument as it is; a null one, or a null string, as the C library's printf shows it. */
void t2x_text_arg(struct t2x_out *out, const struct t2x_arg *arg);
void t2x_text_name(struct t2x_out *out, const char *name);

/* The four arguments of a timer: " intervals:1 total:0.000541 min:0.000541 max:0.000541". */
void t2x_text_timer(struct t2x_out *out, const struct t2x_arg *args);

/* The event's name as git prints it. */
const char *t2x_text_event_name(enum tlg_style style);

/* "global", for the first argument of def_param. */
const char *t2x_text_param_scope(const struct t2x_arg *scope);

/* "HH:MM:SS.uuuuuu" in the local time of the process.  Return  the byte behind the 15 written */
char *t2x_text_local_time(struct t2x_printer *printer, char *to, const struct t2x_event *ev);

/* "YYYY-MM-DDTHH:MM:SS.uuuuuuZ".  Return  the byte behind the 27 written */
char *t2x_text_utc(struct t2x_printer *printer, char *to, const struct t2x_event *ev);

/*
 * Where an event was raised.  Kinds that no caller locates are located in git's own source for the format;
 * own_lines holds the lines of signal, atexit, timer, counter there.
 */
struct t2x_place {
	const char *file;           /* NULL: no place; never empty */
	int line;
};
struct t2x_place t2x_text_place(const struct t2x_event *ev, const char *own_file, const int own_lines[4]);

#endif
