/* SPDX-License-Identifier: MIT */
/*
 * t2x_text.h - what the output formats share: quoting for the shell, arguments, times of day, and the places that git
 * prints from its own sources.
 */
#ifndef T2X_TEXT_H
#define T2X_TEXT_H

#include "model/t2x_writer.h"

/*
 * Append a word as git prints it: bare if it consists of letters, digits and +,-./:=@_^, else in single quotes.  Only
 * ' and ! are escaped; line ends and bytes above 0x7f stay as they are.
 */
void t2x_text_quoted(struct t2x_out *out, const char *text, size_t n);

/* Append quoted words with a blank between them. */
void t2x_text_argv(struct t2x_out *out, const struct t2x_arg *argv, unsigned n);

/* Append a text argument as it is; a null argument, or a null string, as printf of the C library prints it. */
void t2x_text_arg(struct t2x_out *out, const struct t2x_arg *arg);
void t2x_text_name(struct t2x_out *out, const char *name);

/* Append payloads, or parts of them, that normal and perf print alike. */
void t2x_text_message(struct t2x_out *out, const struct t2x_event *ev);         /* "" if there is none */
void t2x_text_cmd_name(struct t2x_out *out, const struct t2x_event *ev);        /* "one (zero/one)" */
void t2x_text_child_exit(struct t2x_out *out, const struct t2x_event *ev);      /* " pid:1234 code:0" */
void t2x_text_child_ready(struct t2x_out *out, const struct t2x_event *ev);     /* " pid:1234 ready:ready" */
void t2x_text_exec_result(struct t2x_out *out, const struct t2x_event *ev);     /* " code:2 err:No such file" */
void t2x_text_count(struct t2x_out *out, const struct t2x_event *ev);           /* " value:3" */
void t2x_text_unresolved(struct t2x_out *out, const struct t2x_event *ev);      /* "?scope#99" */

/* Of a sample: "count:1 value:10000000 path=/index stack:f < main"; parts of it: "path=/index", "f < main". */
void t2x_text_sample(const struct t2x_options *options, struct t2x_out *out, const struct t2x_event *ev);
void t2x_text_labels(struct t2x_out *out, const struct t2x_event *ev);
void t2x_text_stack(const struct t2x_options *options, struct t2x_out *out, const struct t2x_event *ev);

/* "core.editor=vi", or with another separator. */
void t2x_text_param(struct t2x_out *out, const struct t2x_event *ev, char separator);

/* The four arguments of a timer: " intervals:1 total:0.000541 min:0.000541 max:0.000541". */
void t2x_text_timer(struct t2x_printer *printer, const struct t2x_arg *args);

/* The event's name as git prints it. */
const char *t2x_text_event_name(enum tlg_style style);

/* "global", for the first argument of def_param. */
const char *t2x_text_param_scope(const struct t2x_arg *scope);

/*
 * Cache the time of the event: "HH:MM:SS.uuuuuu" in the local time of the process; "YYYY-MM-DDTHH:MM:SS.uuuuuuZ".  If
 * the options ask for nanoseconds, it has three more digits.
 */
void t2x_text_cache_local_time(struct t2x_printer *printer, const struct t2x_event *ev);
void t2x_text_cache_utc(struct t2x_printer *printer, const struct t2x_event *ev);

/* Put a time of the event, t2x_event_abs_ns() or rel_ns, in seconds, at least width wide.  Return  the byte behind */
char *t2x_text_put_elapsed(const struct t2x_printer *printer, char *to, const struct t2x_event *ev, uint64_t elapsed_ns,
			   unsigned width);

/* Cache the seconds since the start of the process, at least width wide, and " | ". */
void t2x_text_cache_elapsed(struct t2x_printer *printer, const struct t2x_event *ev, unsigned width);

enum { T2X_LOCAL_TIME = 15, T2X_LOCAL_TIME_NS = 18 };     /* bytes */

/* Return  1: the time of the event is cached.  That of a process without a number never is */
static inline int t2x_text_has_cached_time(const struct t2x_printer *printer, const struct t2x_event *ev)
{
	const struct t2x_cached_time *cached = &printer->time;

	return ev->ns - cached->ns < cached->span_ns && cached->process == ev->thread->process->number && !ev->shift_ns;
}

/* Put the cached local time, where 16 bytes may be written (only without nanoseconds).  Return  the byte behind */
static inline char *t2x_text_local_time(struct t2x_printer *printer, char *to, const struct t2x_event *ev)
{
	if (!t2x_text_has_cached_time(printer, ev))
		t2x_text_cache_local_time(printer, ev);
	memcpy(to, printer->time.text, 16);
	return to + T2X_LOCAL_TIME;
}

/* Put the cached UTC time, where T2X_CACHED_TIME_BYTES may be written. */
static inline char *t2x_text_utc(struct t2x_printer *printer, char *to, const struct t2x_event *ev)
{
	const struct t2x_cached_time *cached = &printer->time;

	if (ev->ns - cached->ns >= cached->span_ns || ev->shift_ns)
		t2x_text_cache_utc(printer, ev);
	memcpy(to, cached->text, T2X_CACHED_TIME_BYTES);
	return to + cached->length;
}

/*
 * The place of an event.  Some kinds have no place of a caller: git prints a place in its own source for them.
 * own_lines has the lines of signal, atexit, timer and counter there.
 */
struct t2x_text_place {
	const char *file;           /* NULL: no place; never empty */
	int line;
};
struct t2x_text_place t2x_text_place(const struct t2x_event *ev, const char *own_file, const int own_lines[4]);

#endif
