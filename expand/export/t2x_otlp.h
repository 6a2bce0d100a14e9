/* SPDX-License-Identifier: MIT */
/*
 * t2x_otlp.h - spans of OpenTelemetry: what its JSON and its protobuf form share.
 *
 * A process is a span, around it that of its parent; a thread but the first is a span in it; regions are spans in
 * their thread, or in their region.  Ids are derived from session ids as trace2receiver derives them, so that the
 * spans join those that it makes of git's: the trace is the first 16 bytes of SHA-256 of the first part of the session
 * id, the span of a process the next 8 of SHA-256 of the last part.
 *
 * A process's span has its exit code.  Its status is an error if that is not 0 or a signal ended the process; the error
 * that it reported last says more.
 */
#ifndef T2X_OTLP_H
#define T2X_OTLP_H

#include "profile/t2x_processes.h"

enum { T2X_OTLP_TRACE = 16, T2X_OTLP_SPAN = 8, T2X_OTLP_BATCH = 1000 };

/* How a process ended. */
struct t2x_otlp_outcome {
	int has_code;
	int64_t code, signal;             /* signal: 0: none was seen */
	char error[256];                  /* that it reported last; "": none */
};

struct t2x_otlp_process {
	uint64_t number;                  /* of the t2x_process of which the ids are */
	uint64_t forgotten;               /* threads, when it came: if it came before, its spans have other ids now */
	uint32_t pid, spans;              /* spans: those that have an id */
	unsigned char trace[T2X_OTLP_TRACE], id[T2X_OTLP_SPAN], parent[T2X_OTLP_SPAN];
	int has_parent;
	char name[64];                    /* of the program; "": not known yet */
	struct t2x_otlp_outcome outcome;
};

/* A span that has ended. */
struct t2x_otlp_span {
	const struct t2x_otlp_process *process;
	unsigned char id[T2X_OTLP_SPAN], parent[T2X_OTLP_SPAN];
	int has_parent;
	const char *name, *category, *thread;
	uint64_t start_ns, end_ns;
	const char *message;              /* NULL: none */
	size_t message_length;
	const char *note;                 /* why its times are not what they seem to be; NULL: they are */
	uint64_t lost;                    /* events: then the span is a gap */
	const struct t2x_otlp_outcome *outcome;   /* of the process whose span it is; NULL: it is of none */
};

/* Whether its status is an error, and the status's message then: what it reported, or "exit code 3", "signal 11". */
int t2x_otlp_has_failed(const struct t2x_otlp_outcome *outcome);
enum { T2X_OTLP_STATUS_BYTES = 256, T2X_OTLP_STATUS_ERROR = 2 };
void t2x_otlp_put_status(const struct t2x_otlp_outcome *outcome, char text[T2X_OTLP_STATUS_BYTES]);

typedef void t2x_otlp_put_fn(struct t2x_printer *printer, const struct t2x_otlp_span *span);

/* Put out what is gathered of a process, if any is: the process is about to be forgotten. */
typedef void t2x_otlp_flush_fn(struct t2x_printer *printer);

struct t2x_otlp {
	struct t2x_processes processes;
	t2x_otlp_put_fn *put;
	t2x_otlp_flush_fn *flush;
};

/* Initialize what a writer of a form keeps in printer->own, zero so far. */
void t2x_otlp_begin(struct t2x_printer *printer, struct t2x_otlp *otlp, t2x_otlp_put_fn *put,
		    t2x_otlp_flush_fn *flush);

/* Takes any event, unresolved ones too. */
void t2x_otlp_event(struct t2x_printer *printer, const struct t2x_event *ev);

/* End what is open; then free everything in it. */
void t2x_otlp_end(struct t2x_otlp *otlp);
void t2x_otlp_free(struct t2x_otlp *otlp);

#endif
