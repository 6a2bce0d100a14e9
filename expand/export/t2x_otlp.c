/* SPDX-License-Identifier: MIT */
/* t2x_otlp.c - see t2x_otlp.h. */
#include "t2x_otlp.h"

#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- ids ---------------------------------------------------------------------------------------- */

static void hash(const char *text, size_t n, unsigned char to[SHA256_DIGEST_LENGTH])
{
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, (const unsigned char *)text, n);
	SHA256Final(to, &context);
}

/* The part of a session id that ends in front of end, which is not behind another slash. */
static const char *part_before(const char *sid, const char *end)
{
	while (end > sid && end[-1] != '/')
		end--;
	return end;
}

static void derive_ids(struct t2x_otlp_process *known, const struct t2x_process *process)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	const char *sid = process->sid, *end = sid + strlen(sid), *last = part_before(sid, end), *before;

	known->number = process->number;
	hash(sid, strcspn(sid, "/"), digest);
	memcpy(known->trace, digest, T2X_OTLP_TRACE);
	hash(last, (size_t)(end - last), digest);
	memcpy(known->id, digest + T2X_OTLP_TRACE, T2X_OTLP_SPAN);
	known->has_parent = last > sid;
	if (!known->has_parent)
		return;
	before = part_before(sid, last - 1);
	hash(before, (size_t)(last - 1 - before), digest);
	memcpy(known->parent, digest + T2X_OTLP_TRACE, T2X_OTLP_SPAN);
}

/* The id of a process's n-th span in the order in which they get one; n > 0, and an id is never 0. */
static void make_id(const struct t2x_otlp_process *process, uint32_t n, unsigned char id[T2X_OTLP_SPAN])
{
	uint64_t seed = 0, number = process->forgotten << 32 | n, mixed;

	for (unsigned i = 0; i < T2X_OTLP_SPAN; i++)
		seed |= (uint64_t)process->id[i] << 8 * i;
	mixed = t2x_index_mix(t2x_index_mix(seed, number), UINT64_C(0x6f746c70));
	for (unsigned i = 0; i < T2X_OTLP_SPAN; i++)
		id[i] = (unsigned char)(mixed >> 8 * i | (i == 0 && !mixed));
}

/* ---- spans -------------------------------------------------------------------------------------- */

/* That of a thread, which is no region. */
static int is_own_level(const struct t2x_span *span)
{
	return span->own == &t2x_thread_frame;
}

/* A process's own span, which is that of its first thread; else one whose id comes from its number. */
static void find_id(struct t2x_otlp_process *process, const struct t2x_spans *spans, struct t2x_span *span,
		    unsigned char id[T2X_OTLP_SPAN])
{
	if (is_own_level(span) && !spans->tid) {
		memcpy(id, process->id, T2X_OTLP_SPAN);
		return;
	}
	if (!span->node)
		span->node = ++process->spans;
	make_id(process, span->node, id);
}

/* The span around: the innermost that was seen; of a process the parent's, of a thread the process's. */
static void find_parent(struct t2x_otlp_process *process, const struct t2x_spans *spans, struct t2x_otlp_span *span)
{
	unsigned depth = spans->open;

	while (depth && !spans->spans[depth - 1].own)
		depth--;
	span->has_parent = 1;
	if (depth)
		find_id(process, spans, &spans->spans[depth - 1], span->parent);
	else
		memcpy(span->parent, process->id, T2X_OTLP_SPAN);
}

static void put_span(struct t2x_otlp *otlp, const struct t2x_spans *spans, struct t2x_span *ended,
		     enum t2x_span_end end)
{
	struct t2x_otlp_process *process = t2x_traced_of(spans)->own;
	const struct t2x_frame *frame = t2x_span_frame(ended);
	int is_thread = is_own_level(ended), is_process = is_thread && !spans->tid;
	struct t2x_otlp_span span = {
		.process = process, .name = is_process ? process->name : is_thread ? spans->name : frame->label,
		.category = is_process ? "process" : is_thread ? "thread" : frame->category,
		.thread = spans->name, .end_ns = ended->end_ns,
		.start_ns = end == T2X_SPAN_UNSEEN ? ended->end_ns : ended->start_ns,
		.message = ended->message, .message_length = ended->message_length,
		.note = is_thread && end == T2X_SPAN_CUT ? NULL : t2x_span_ending(end),
	};

	find_id(process, spans, ended, span.id);
	if (!is_process) {
		find_parent(process, spans, &span);
	} else {
		span.outcome = &process->outcome;
		span.has_parent = process->has_parent;
		memcpy(span.parent, process->parent, T2X_OTLP_SPAN);
	}
	otlp->put(otlp->processes.spans.printer, &span);
}

static void end_span(struct t2x_spans_table *table, const struct t2x_spans *spans, struct t2x_span *span,
		     enum t2x_span_end end)
{
	struct t2x_otlp *otlp = table->printer->own;

	span->own = (void *)(uintptr_t)t2x_processes_ended(&otlp->processes, span);
	if (span->own)
		put_span(otlp, spans, span, end);
}

/* A gap is a span, too: readers have no other way to say where events are missing. */
static void put_gap(struct t2x_printer *printer, const struct t2x_spans *spans, const struct t2x_event *ev)
{
	struct t2x_otlp *otlp = printer->own;
	struct t2x_otlp_process *process = t2x_traced_of(spans)->own;
	struct t2x_otlp_span span = {
		.process = process, .name = "events lost", .category = "trace2", .thread = spans->name,
		.start_ns = ev->lost->since_ns ? ev->lost->since_ns : ev->ns, .end_ns = ev->ns,
		.lost = (uint64_t)ev->args[0].value,
	};

	make_id(process, ++process->spans, span.id);
	find_parent(process, spans, &span);
	otlp->put(printer, &span);
}

/* ---- events ------------------------------------------------------------------------------------- */

/* A process is called as its program; the pid is an attribute of its own. */
static void name_process(struct t2x_otlp_process *process, const struct t2x_traced *known)
{
	if (known->name)
		snprintf(process->name, sizeof(process->name), "%s", known->name);
	else
		snprintf(process->name, sizeof(process->name), "pid %u", process->pid);
}

/* Return  0: no memory */
static int meet_thread(struct t2x_spans_table *table, struct t2x_spans *spans, const struct t2x_event *ev,
		       int is_renamed)
{
	struct t2x_traced *known = t2x_traced_of(spans);
	struct t2x_otlp_process *own = known->own;

	(void)is_renamed;
	if (!own) {
		own = calloc(1, sizeof(*own));
		if (!own)
			return 0;
		own->forgotten = table->forgotten;
		own->pid = known->pid;
		known->own = own;
	} else if (own->number == ev->thread->process->number) {
		return 1;
	}
	name_process(own, known);
	derive_ids(own, ev->thread->process);
	return 1;
}

/* ---- how a process ends ------------------------------------------------------------------------- */

/* A message is cut between two characters. */
static void take_error(struct t2x_otlp_outcome *outcome, const struct t2x_event *ev)
{
	size_t n = ev->message_length, max = sizeof(outcome->error) - 1;

	if (!ev->message || !n)
		return;
	if (n > max) {
		n = max;
		while (n > max - 4 && (ev->message[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(outcome->error, ev->message, n);
	outcome->error[n] = '\0';
}

static void take_outcome(struct t2x_otlp_outcome *outcome, const struct t2x_event *ev)
{
	switch (ev->style) {
	case TLG_STYLE_exit:
	case TLG_STYLE_atexit:
		outcome->has_code = 1;
		outcome->code = ev->args[0].value;
		break;
	case TLG_STYLE_signal:
		outcome->signal = ev->args[0].value;
		break;
	case TLG_STYLE_error:
		take_error(outcome, ev);
		break;
	default:
		break;
	}
}

int t2x_otlp_has_failed(const struct t2x_otlp_outcome *outcome)
{
	return outcome->signal || (outcome->has_code && outcome->code);
}

void t2x_otlp_put_status(const struct t2x_otlp_outcome *outcome, char text[T2X_OTLP_STATUS_BYTES])
{
	if (outcome->error[0])
		snprintf(text, T2X_OTLP_STATUS_BYTES, "%s", outcome->error);
	else
		snprintf(text, T2X_OTLP_STATUS_BYTES, "%s %lld", outcome->signal ? "signal" : "exit code",
			 (long long)(outcome->signal ? outcome->signal : outcome->code));
}

/* ---- all events --------------------------------------------------------------------------------- */

void t2x_otlp_event(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct t2x_otlp *otlp = printer->own;
	struct t2x_spans *spans = ev->spans;

	if (!spans)
		printer->out->error = ENOMEM;
	else if (ev->style == TLG_STYLE_region_enter)
		t2x_processes_enter(&otlp->processes, ev);
	else if (ev->lost && ev->lost->what == T2X_LOST_EVENTS)
		put_gap(printer, spans, ev);
	else if (t2x_processes_name(t2x_traced_of(spans), ev))
		name_process(t2x_traced_of(spans)->own, t2x_traced_of(spans));
	else if (ev->style == TLG_STYLE_thread_exit)
		t2x_spans_end_thread(printer->spans, spans);
	else if (ev->scope)
		take_outcome(&((struct t2x_otlp_process *)t2x_traced_of(spans)->own)->outcome, ev);
}

static void forget_process(struct t2x_processes *processes, struct t2x_traced *process)
{
	struct t2x_printer *printer = processes->spans.printer;

	((struct t2x_otlp *)printer->own)->flush(printer);
	free(process->own);
}

void t2x_otlp_begin(struct t2x_printer *printer, struct t2x_otlp *otlp, t2x_otlp_put_fn *put,
		    t2x_otlp_flush_fn *flush)
{
	otlp->processes.meet_thread = meet_thread;
	otlp->processes.spans.end_span = end_span;
	otlp->processes.spans.keeps_messages = 1;
	otlp->processes.forget_process = forget_process;
	otlp->processes.forgets_frames = 1;
	otlp->processes.frames.max_bytes = T2X_FRAMES_BYTES;
	otlp->put = put;
	otlp->flush = flush;
	printer->own = otlp;
	t2x_processes_begin(&otlp->processes, printer);
}

void t2x_otlp_end(struct t2x_otlp *otlp)
{
	t2x_spans_end(&otlp->processes.spans);
	t2x_processes_report(&otlp->processes);
}

void t2x_otlp_free(struct t2x_otlp *otlp)
{
	t2x_processes_free(&otlp->processes);
}
