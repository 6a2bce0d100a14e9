/* SPDX-License-Identifier: MIT */
/*
 * t2x_otlp_json.c - spans as OTLP's JSON, as the collector's file exporter and receiver have it: each line is a whole
 * request with up to T2X_OTLP_BATCH spans of one process.  Ids are hexadecimal, 64-bit numbers are strings.
 */
#include <errno.h>
#include <stdlib.h>

#include "t2x_otlp.h"
#include "text/t2x_json.h"
#include "text/t2x_utf8.h"

struct otlp_json {
	struct t2x_otlp otlp;
	const struct t2x_otlp_process *process;   /* of the line; NULL: none is begun */
	unsigned spans;                           /* in it */
};

static void put_hex(struct t2x_out *out, const char *key, const unsigned char *id, unsigned n)
{
	static const char digits[] = "0123456789abcdef";
	char *p;

	t2x_json_key(out, key);
	p = t2x_out_room(out, 2 * T2X_OTLP_TRACE + 2);
	*p++ = '"';
	for (unsigned i = 0; i < n; i++) {
		*p++ = digits[id[i] >> 4];
		*p++ = digits[id[i] & 15];
	}
	*p++ = '"';
	out->pos = p;
}

/* A 64-bit number, as text. */
static void put_number(struct t2x_out *out, const char *key, uint64_t value)
{
	t2x_json_key(out, key);
	t2x_out_char(out, '"');
	t2x_out_uint(out, value);
	t2x_out_char(out, '"');
}

static void put_attribute(struct t2x_out *out, const char *comma, const char *key, const char *text, size_t n)
{
	t2x_out_string(out, comma);
	t2x_out_literal(out, "{\"key\":\"");
	t2x_out_string(out, key);
	t2x_out_literal(out, "\",\"value\":{\"stringValue\":");
	t2x_utf8_json(out, text, n);
	t2x_out_literal(out, "}}");
}

static void put_integer(struct t2x_out *out, const char *key, int64_t value)
{
	t2x_out_literal(out, ",{\"key\":\"");
	t2x_out_string(out, key);
	t2x_out_literal(out, "\",\"value\":{\"intValue\":\"");
	t2x_out_int(out, value);
	t2x_out_literal(out, "\"}}");
}

static void end_line(struct t2x_printer *printer)
{
	struct otlp_json *json = printer->own;

	if (!json->process)
		return;
	t2x_out_literal(printer->out, "]}]}]}");
	t2x_out_end_line(printer->out);
	json->process = NULL;
}

static void begin_line(struct t2x_printer *printer, const struct t2x_otlp_process *process)
{
	struct otlp_json *json = printer->own;
	struct t2x_out *out = printer->out;

	t2x_out_literal(out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
	put_attribute(out, "", "service.name", process->name, strlen(process->name));
	put_integer(out, "process.pid", process->pid);
	t2x_out_literal(out, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"libtrace2\"},\"spans\":[");
	json->process = process;
	json->spans = 0;
}

/* How the process ended, behind the other attributes of its span. */
static void put_outcome(struct t2x_out *out, const struct t2x_otlp_outcome *outcome)
{
	char text[T2X_OTLP_STATUS_BYTES];

	if (outcome->has_code)
		put_integer(out, "process.exit.code", outcome->code);
	if (outcome->signal)
		put_integer(out, "trace2.signal", outcome->signal);
	t2x_out_char(out, ']');
	if (!t2x_otlp_has_failed(outcome))
		return;
	t2x_otlp_put_status(outcome, text);
	t2x_out_literal(out, ",\"status\":{\"message\":");
	t2x_utf8_json(out, text, strlen(text));
	t2x_json_int(out, "code", T2X_OTLP_STATUS_ERROR);
	t2x_out_char(out, '}');
}

static void put_span(struct t2x_printer *printer, const struct t2x_otlp_span *span)
{
	struct otlp_json *json = printer->own;
	struct t2x_out *out = printer->out;

	if (json->process != span->process || json->spans == T2X_OTLP_BATCH)
		end_line(printer);
	if (!json->process)
		begin_line(printer, span->process);
	t2x_out_string(out, json->spans++ ? ",{\"name\":" : "{\"name\":");
	t2x_utf8_json(out, span->name, strlen(span->name));
	put_hex(out, "traceId", span->process->trace, T2X_OTLP_TRACE);
	put_hex(out, "spanId", span->id, T2X_OTLP_SPAN);
	if (span->has_parent)
		put_hex(out, "parentSpanId", span->parent, T2X_OTLP_SPAN);
	t2x_json_int(out, "kind", 1);   /* internal */
	put_number(out, "startTimeUnixNano", span->start_ns);
	put_number(out, "endTimeUnixNano", span->end_ns);
	t2x_out_literal(out, ",\"attributes\":[");
	put_attribute(out, "", "trace2.category", span->category, strlen(span->category));
	put_attribute(out, ",", "thread.name", span->thread, strlen(span->thread));
	if (span->message)
		put_attribute(out, ",", "trace2.message", span->message, span->message_length);
	if (span->note)
		put_attribute(out, ",", "trace2.end", span->note, strlen(span->note));
	if (span->lost)
		put_integer(out, "trace2.lost", (int64_t)span->lost);
	if (span->outcome)
		put_outcome(out, span->outcome);
	else
		t2x_out_char(out, ']');
	t2x_out_char(out, '}');
}

static int begin_otlp(struct t2x_printer *printer)
{
	struct otlp_json *json = calloc(1, sizeof(*json));

	if (!json)
		return -ENOMEM;
	t2x_otlp_begin(printer, &json->otlp, put_span, end_line);
	return 0;
}

static void finish_otlp(struct t2x_printer *printer)
{
	struct otlp_json *json = printer->own;

	t2x_otlp_end(&json->otlp);
	end_line(printer);
	t2x_otlp_free(&json->otlp);
	free(json);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_otlp = {
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
