/* SPDX-License-Identifier: MIT */
/*
 * t2x_chrome_element.h - an element of "traceEvents", and what the files of the chrome format know of the trace.
 *
 * An element is a line.  Its members are put in this order: name, category, phase, process, thread, time, whatever the
 * phase asks for, arguments.
 */
#ifndef T2X_CHROME_ELEMENT_H
#define T2X_CHROME_ELEMENT_H

#include "profile/t2x_processes.h"

struct t2x_chrome {
	struct t2x_processes processes;
	struct t2x_frames places;       /* call sites: a span's node is the number of one, or 0 */
	uint64_t zero_ns;               /* of its times: midnight UTC before the first event; 0: there was none */
	uint64_t flows;                 /* ids given */
	int is_begun;                   /* an element was printed */
};

/* {"name":"...","cat":"...","ph":"P","pid":1,"tid":1,"ts":12.345 */
struct t2x_chrome_place { uint32_t pid, tid; };
void t2x_chrome_begin(struct t2x_printer *printer, struct t2x_chrome_place place, const char *name,
		      const char *category, char phase, uint64_t ns);

static inline struct t2x_chrome_place t2x_chrome_place_of(const struct t2x_spans *spans)
{
	return (struct t2x_chrome_place){ t2x_traced_of(spans)->pid, spans->tid };
}

/* ,"key":12.345 */
void t2x_chrome_time(struct t2x_printer *printer, const char *key, uint64_t ns);

/* The rest is open: the caller puts members, ,"args":{...} among them. */
void t2x_chrome_end(struct t2x_printer *printer);

/* Behind that text "file":"m.c","line":12.  Return  0: the place is not known, and nothing is put */
int t2x_chrome_put_place(struct t2x_out *out, const char *before, const char *file, int line);

/* Microseconds; a time before zero is negative. */
static inline char *t2x_chrome_put_us(char *p, uint64_t ns)
{
	if (__builtin_expect(ns >> 63 != 0, 0)) {
		*p++ = '-';
		ns = 0 - ns;
	}
	p = t2x_put_uint(p, ns / 1000);
	*p++ = '.';
	return t2x_put_3(p, (unsigned)(ns % 1000));
}

#endif
