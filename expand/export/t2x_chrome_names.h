/* SPDX-License-Identifier: MIT */
/*
 * t2x_chrome_names.h - elements of the chrome format that name processes and threads; children, and the arrows to them.
 */
#ifndef T2X_CHROME_NAMES_H
#define T2X_CHROME_NAMES_H

#include "t2x_chrome_element.h"

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
