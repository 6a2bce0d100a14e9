/* SPDX-License-Identifier: MIT */
/*
 * t2x_chrome.h - what the two files of the chrome format share: the parts of an element of "traceEvents".
 *
 * An element is a line.  Its members are put in this order: name, category, phase, process, thread, time, whatever the
 * phase asks for, arguments.
 */
#ifndef T2X_CHROME_H
#define T2X_CHROME_H

#include "profile/t2x_processes.h"

struct t2x_chrome {
	struct t2x_processes processes;
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

/* The rest is open: the caller puts members, ,"args":{...} among them. */
void t2x_chrome_end(struct t2x_printer *printer);

/* Elements that name a thread, and its process, when it is met. */
void t2x_chrome_name_thread(struct t2x_printer *printer, const struct t2x_spans *spans);
void t2x_chrome_name_process(struct t2x_printer *printer, const struct t2x_spans *spans);

/*
 * A child: an asynchronous slice from its start to its exit, and an arrow from its start to the process that it was, if
 * that is in the trace.
 */
void t2x_chrome_child_start(struct t2x_printer *printer, const struct t2x_event *ev);
void t2x_chrome_child_end(struct t2x_printer *printer, const struct t2x_event *ev);

void t2x_chrome_forget_children(struct t2x_processes *processes, struct t2x_traced *process);

/* Arrows to children of which no end was seen. */
void t2x_chrome_finish_children(struct t2x_printer *printer);

#endif
