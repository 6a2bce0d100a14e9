/* SPDX-License-Identifier: MIT */
/*
 * t2x_otlp_proto.c - spans as OTLP's protobuf: the file is one ExportTraceServiceRequest, a ResourceSpans for up to
 * T2X_OTLP_BATCH spans of one process, of which one is in memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "t2x_otlp.h"
#include "profile/t2x_protobuf.h"

/* Numbers of fields. */
enum { REQUEST_RESOURCE_SPANS = 1 };
enum { RESOURCE_SPANS_RESOURCE = 1, RESOURCE_SPANS_SCOPE_SPANS };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_SPANS_SCOPE = 1, SCOPE_SPANS_SPANS };
enum { SCOPE_NAME = 1 };
enum { SPAN_TRACE = 1, SPAN_ID, SPAN_PARENT = 4, SPAN_NAME, SPAN_KIND, SPAN_START, SPAN_END, SPAN_ATTRIBUTES,
       SPAN_STATUS = 15 };
enum { STATUS_MESSAGE = 2, STATUS_CODE };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { VALUE_TEXT = 1, VALUE_INTEGER = 3 };

struct otlp_proto {
	struct t2x_otlp otlp;
	const struct t2x_otlp_process *process;   /* of the batch */
	unsigned spans;                           /* in it */
	struct t2x_bytes batch;                   /* its ScopeSpans */
	struct t2x_bytes span, attribute, value;  /* reused */
	int error;
};

static void put_attribute(struct otlp_proto *proto, struct t2x_bytes *to, unsigned field, const char *key)
{
	t2x_protobuf_text(&proto->attribute, ATTRIBUTE_KEY, key, strlen(key));
	t2x_protobuf_message(&proto->attribute, ATTRIBUTE_VALUE, &proto->value);
	t2x_protobuf_message(to, field, &proto->attribute);
}

static void put_text(struct otlp_proto *proto, struct t2x_bytes *to, unsigned field, const char *key, const char *text,
		     size_t n)
{
	t2x_protobuf_text(&proto->value, VALUE_TEXT, text, n);
	put_attribute(proto, to, field, key);
}

static void put_integer(struct otlp_proto *proto, struct t2x_bytes *to, unsigned field, const char *key, uint64_t value)
{
	t2x_protobuf_each(&proto->value, VALUE_INTEGER, value);
	put_attribute(proto, to, field, key);
}

/* The batch goes out. */
static void end_batch(struct t2x_printer *printer)
{
	struct otlp_proto *proto = printer->own;
	const struct t2x_otlp_process *process = proto->process;
	struct t2x_bytes resource = { .n = 0 }, spans = { .n = 0 }, request = { .n = 0 };

	if (!process)
		return;
	put_text(proto, &resource, RESOURCE_ATTRIBUTES, "service.name", process->name, strlen(process->name));
	put_integer(proto, &resource, RESOURCE_ATTRIBUTES, "process.pid", process->pid);
	t2x_protobuf_message(&spans, RESOURCE_SPANS_RESOURCE, &resource);
	t2x_protobuf_message(&spans, RESOURCE_SPANS_SCOPE_SPANS, &proto->batch);
	t2x_protobuf_message(&request, REQUEST_RESOURCE_SPANS, &spans);
	if (request.error)
		proto->error = ENOMEM;
	else
		t2x_out_bytes(printer->out, (const char *)request.bytes, request.n);
	t2x_bytes_free(&resource);
	t2x_bytes_free(&spans);
	t2x_bytes_free(&request);
	proto->process = NULL;
}

static void begin_batch(struct otlp_proto *proto, const struct t2x_otlp_process *process)
{
	static const char name[] = "libtrace2";

	t2x_protobuf_text(&proto->value, SCOPE_NAME, name, sizeof(name) - 1);
	t2x_protobuf_message(&proto->batch, SCOPE_SPANS_SCOPE, &proto->value);
	proto->process = process;
	proto->spans = 0;
}

static void put_attributes(struct otlp_proto *proto, const struct t2x_otlp_span *span)
{
	struct t2x_bytes *to = &proto->span;

	put_text(proto, to, SPAN_ATTRIBUTES, "trace2.category", span->category, strlen(span->category));
	put_text(proto, to, SPAN_ATTRIBUTES, "thread.name", span->thread, strlen(span->thread));
	if (span->message)
		put_text(proto, to, SPAN_ATTRIBUTES, "trace2.message", span->message, span->message_length);
	if (span->note)
		put_text(proto, to, SPAN_ATTRIBUTES, "trace2.end", span->note, strlen(span->note));
	if (span->lost)
		put_integer(proto, to, SPAN_ATTRIBUTES, "trace2.lost", span->lost);
}

static void put_outcome(struct otlp_proto *proto, const struct t2x_otlp_outcome *outcome)
{
	char text[T2X_OTLP_STATUS_BYTES];

	if (outcome->has_code)
		put_integer(proto, &proto->span, SPAN_ATTRIBUTES, "process.exit.code", (uint64_t)outcome->code);
	if (outcome->signal)
		put_integer(proto, &proto->span, SPAN_ATTRIBUTES, "trace2.signal", (uint64_t)outcome->signal);
	if (!t2x_otlp_has_failed(outcome))
		return;
	t2x_otlp_put_status(outcome, text);
	t2x_protobuf_text(&proto->value, STATUS_MESSAGE, text, strlen(text));
	t2x_protobuf_uint(&proto->value, STATUS_CODE, T2X_OTLP_STATUS_ERROR);
	t2x_protobuf_message(&proto->span, SPAN_STATUS, &proto->value);
}

static void put_span(struct t2x_printer *printer, const struct t2x_otlp_span *span)
{
	struct otlp_proto *proto = printer->own;
	struct t2x_bytes *to = &proto->span;

	if (proto->process != span->process || proto->spans == T2X_OTLP_BATCH)
		end_batch(printer);
	if (!proto->process)
		begin_batch(proto, span->process);
	t2x_protobuf_bytes(to, SPAN_TRACE, span->process->trace, T2X_OTLP_TRACE);
	t2x_protobuf_bytes(to, SPAN_ID, span->id, T2X_OTLP_SPAN);
	if (span->has_parent)
		t2x_protobuf_bytes(to, SPAN_PARENT, span->parent, T2X_OTLP_SPAN);
	t2x_protobuf_text(to, SPAN_NAME, span->name, strlen(span->name));
	t2x_protobuf_uint(to, SPAN_KIND, 1);    /* internal */
	t2x_protobuf_fixed(to, SPAN_START, span->start_ns);
	t2x_protobuf_fixed(to, SPAN_END, span->end_ns);
	put_attributes(proto, span);
	if (span->outcome)
		put_outcome(proto, span->outcome);
	t2x_protobuf_message(&proto->batch, SCOPE_SPANS_SPANS, to);
	proto->spans++;
}

static int begin_otlp(struct t2x_printer *printer)
{
	struct otlp_proto *proto = calloc(1, sizeof(*proto));

	if (!proto)
		return -ENOMEM;
	t2x_otlp_begin(printer, &proto->otlp, put_span, end_batch);
	return 0;
}

static void finish_otlp(struct t2x_printer *printer)
{
	struct otlp_proto *proto = printer->own;

	t2x_otlp_end(&proto->otlp);
	end_batch(printer);
	if (proto->error || proto->span.error || proto->attribute.error || proto->value.error)
		printer->out->error = ENOMEM;
	t2x_bytes_free(&proto->batch);
	t2x_bytes_free(&proto->span);
	t2x_bytes_free(&proto->attribute);
	t2x_bytes_free(&proto->value);
	t2x_otlp_free(&proto->otlp);
	free(proto);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_otlp_proto = {
	.thread_bytes = T2X_SPANS_THREAD_BYTES,
	.begin = begin_otlp,
	.finish = finish_otlp,
	.unresolved = t2x_otlp_event,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = t2x_otlp_event,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
