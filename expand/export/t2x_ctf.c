/* SPDX-License-Identifier: MIT */
/*
 * t2x_ctf.c - a trace in the Common Trace Format 1.8, for babeltrace2 and Trace Compass: a tar archive of the directory
 * that they read, so that it can go where all output goes; cli/t2x_unpack.c makes the directory of it.
 *
 * A thread is a stream.  Its events are put into packets, each of which is a file: so what is in memory is a packet of
 * each thread that lives.  When they take HELD_BYTES together, all of them end.  A gap ends a packet, and the next one
 * has more discarded events: readers say how many, and between which times.  Times of a stream must not go back: a
 * region that is only repeated has the time of the event before it.  Readers put the packets of a stream in the order
 * of the times at which they begin, so two must not begin at the same: a packet of one time begins a nanosecond before.
 *
 * The metadata are the last file: they have the classes that occurred.
 */
#include "t2x_ctf_metadata.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/t2x_processes.h"
#include "text/t2x_utf8.h"
#include "tlg_desc.h"

enum {
	PACKET_BYTES = 256 * 1024,      /* a packet ends when it has more */
	HELD_BYTES = 8 * 1024 * 1024,   /* all end when they take more */
	THREAD_BYTES = T2X_SPANS_THREAD_BYTES + 384,   /* with little in its packet */
};

/* A thread's stream. */
struct ctf_stream {
	struct ctf_stream *next, **at;
	uint64_t number, discarded;
	uint64_t begin_ns, end_ns;      /* of the packet; end also the last time of all */
	uint64_t before_ns;             /* the end of the packet before it */
	size_t start;                   /* where its times and sizes are */
	struct t2x_bytes packet;        /* empty: none is begun */
};

struct ctf {
	struct t2x_processes processes;
	struct ctf_stream *streams;
	struct t2x_ctf_classes classes;
	uint64_t count, packets;
	size_t held;                    /* bytes that the packets take */
	int error;
};

/* With U+FFFD for each byte that is not UTF-8. */
static void put_mended(struct t2x_bytes *to, const char *text, size_t n)
{
	for (size_t valid; n; text += valid, n -= valid) {
		valid = t2x_utf8_valid(text, n);
		t2x_bytes_put(to, text, valid);
		if (valid < n) {
			t2x_bytes_put(to, "\xef\xbf\xbd", 3);
			valid++;
		}
	}
	t2x_bytes_put(to, "", 1);
}

/* There is no NUL among its n bytes. */
static void put_string(struct t2x_bytes *to, const char *text, size_t n)
{
	unsigned char *p;

	if (__builtin_expect(t2x_utf8_valid(text, n) != n, 0)) {
		put_mended(to, text, n);
		return;
	}
	p = t2x_bytes_extend(to, n + 1);
	if (!p)
		return;
	memcpy(p, text, n);
	p[n] = '\0';
}

static void put_name(struct t2x_bytes *to, const char *name)
{
	put_string(to, name ? name : "", name ? strlen(name) : 0);
}

/* ---- packets ------------------------------------------------------------------------------------ */

/* Its head; what is known only at its end is put there later. */
static void begin_packet(struct ctf_stream *stream, const struct t2x_spans *spans, uint64_t ns)
{
	struct t2x_bytes *packet = &stream->packet;

	stream->begin_ns = stream->end_ns = ns > stream->end_ns ? ns : stream->end_ns;
	t2x_bytes_u32(packet, UINT32_C(0xc1fc1fc1));   /* of CTF */
	t2x_bytes_u32(packet, 0);
	t2x_bytes_u64(packet, stream->number);
	stream->start = packet->n;
	for (unsigned i = 0; i < 4; i++)
		t2x_bytes_u64(packet, 0);
	t2x_bytes_u64(packet, stream->discarded);
	t2x_bytes_u32(packet, t2x_traced_of(spans)->pid);
	t2x_bytes_u32(packet, spans->tid);
	put_name(packet, spans->name);
}

static void end_packet(struct t2x_printer *printer, struct ctf_stream *stream)
{
	struct ctf *ctf = printer->own;
	struct t2x_bytes *packet = &stream->packet, sizes = { .n = 0 };
	char name[32];

	if (!packet->n)
		return;
	if (stream->begin_ns == stream->end_ns && stream->begin_ns > stream->before_ns)
		stream->begin_ns--;
	stream->before_ns = stream->end_ns;
	t2x_bytes_u64(&sizes, stream->begin_ns);
	t2x_bytes_u64(&sizes, stream->end_ns);
	t2x_bytes_u64(&sizes, packet->n * 8);
	t2x_bytes_u64(&sizes, packet->n * 8);
	if (!packet->error && !sizes.error) {
		memcpy(packet->bytes + stream->start, sizes.bytes, sizes.n);
		snprintf(name, sizeof(name), "packet-%08llu", (unsigned long long)++ctf->packets);
		t2x_ctf_tar_file(printer->out, name, packet);
	} else {
		ctf->error = ENOMEM;
	}
	t2x_bytes_free(&sizes);
	packet->n = 0;
	packet->error = 0;
}

static void free_packet(struct ctf *ctf, struct t2x_bytes *packet)
{
	ctf->held -= packet->max;
	t2x_bytes_free(packet);
}

static void end_packets(struct t2x_printer *printer)
{
	struct ctf *ctf = printer->own;

	for (struct ctf_stream *stream = ctf->streams; stream; stream = stream->next) {
		end_packet(printer, stream);
		free_packet(ctf, &stream->packet);
	}
}

/* ---- streams ------------------------------------------------------------------------------------ */

/* Return  NULL: no memory */
static struct ctf_stream *add_stream(struct ctf *ctf)
{
	struct ctf_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->number = ++ctf->count;
	stream->next = ctf->streams;
	stream->at = &ctf->streams;
	if (stream->next)
		stream->next->at = &stream->next;
	ctf->streams = stream;
	return stream;
}

static void end_stream(struct t2x_printer *printer, struct ctf_stream *stream)
{
	end_packet(printer, stream);
	*stream->at = stream->next;
	if (stream->next)
		stream->next->at = stream->at;
	free_packet(printer->own, &stream->packet);
	free(stream);
}

/* What is missing lies between two packets; the first must be there. */
static void discard(struct t2x_printer *printer, struct ctf_stream *stream, const struct t2x_spans *spans,
		    const struct t2x_event *ev)
{
	if (!stream->packet.n && !stream->end_ns)
		begin_packet(stream, spans, ev->lost->since_ns ? ev->lost->since_ns : ev->ns);
	end_packet(printer, stream);
	stream->discarded += (uint64_t)ev->args[0].value;
}

/* ---- events ------------------------------------------------------------------------------------- */

/* A text without NULs is a field unless it is empty.  Return  its bit, or 0 */
static unsigned put_text(struct t2x_bytes *to, unsigned bit, const char *text, size_t n)
{
	if (!n)
		return 0;
	put_string(to, text, n);
	return bit;
}

static unsigned put_label(struct t2x_bytes *to, unsigned bit, const char *label)
{
	return put_text(to, bit, label, label ? strlen(label) : 0);
}

/* Up to the first NUL. */
static size_t length_of(const struct t2x_arg *arg)
{
	return arg->type == TLG_ARG_TEXT && arg->text ? strnlen(arg->text, arg->length) : 0;
}

/* If one of them is empty each has a number in front of it.  Return  bit, or 0: none is empty */
static unsigned put_words(struct t2x_bytes *to, unsigned bit, const struct t2x_arg *args, unsigned n)
{
	int has_empty = 0;

	for (unsigned i = 0; i < n; i++)
		has_empty |= !length_of(&args[i]);
	t2x_bytes_u32(to, n);
	for (unsigned i = 0; i < n; i++) {
		if (has_empty)
			t2x_bytes_u32(to, length_of(&args[i]) > 0);
		put_text(to, bit, args[i].text, length_of(&args[i]));
	}
	return has_empty ? bit : 0;
}

/* A sample's functions, or addresses, the innermost first, with semicolons between them. */
static unsigned put_stack(struct t2x_bytes *to, unsigned bit, const struct t2x_event *ev,
			  const struct t2x_options *options)
{
	const struct t2x_stack_names *names = NULL;
	size_t before = to->n;

	if (options->name_stack)
		names = options->name_stack(options->namer, ev->scope);
	if (!names)
		return put_label(to, bit, ev->scope->format);
	for (unsigned i = 0; i < names->n; i++) {
		if (i)
			t2x_bytes_put(to, ";", 1);
		t2x_bytes_put(to, names->at[i], strlen(names->at[i]));
	}
	if (to->n == before)
		return 0;
	t2x_bytes_put(to, "", 1);
	return bit;
}

/* The fields of the kind's class.  Return  the set of texts */
static unsigned put_arguments(struct t2x_bytes *to, const struct t2x_event *ev, const struct t2x_options *options)
{
	const char *letter = ev->scope ? tlg_style_by_id(ev->style)->args : "";
	unsigned bit = T2X_CTF_ARGUMENT, texts = 0, i = 0;

	if (!ev->scope)
		t2x_bytes_u64(to, ev->scope_index);
	for (; *letter; letter++) {
		if (*letter == 'i' || *letter == 'u' || *letter == 't') {
			t2x_bytes_u64(to, (uint64_t)ev->args[i++].value);
			continue;
		}
		if (*letter == 'M') {
			texts |= put_text(to, bit, ev->message,
					  ev->message ? strnlen(ev->message, ev->message_length) : 0);
		} else if (*letter == '*') {
			texts |= put_words(to, bit, &ev->args[i], ev->nargs - i);
			i = ev->nargs;
		} else {
			texts |= put_text(to, bit, ev->args[i].text, length_of(&ev->args[i]));
			i++;
		}
		bit <<= 1;
	}
	if (ev->scope && ev->style == TLG_STYLE_sample)
		texts |= put_stack(to, bit, ev, options);
	return texts;
}

/* The scope's names and place; a sample has the module in place of a file.  Return  the set of texts */
static unsigned put_scope(struct t2x_bytes *to, const struct t2x_event *ev)
{
	const struct t2x_scope *scope = ev->scope;
	unsigned texts;

	if (!scope)
		return 0;
	texts = put_label(to, T2X_CTF_CATEGORY, scope->category);
	texts |= put_label(to, T2X_CTF_LABEL, scope->label);
	if (ev->style != TLG_STYLE_sample)
		texts |= put_label(to, T2X_CTF_FILE, scope->file);
	if (texts & T2X_CTF_FILE)
		t2x_bytes_u32(to, scope->line > 0 ? (uint32_t)scope->line : 0);
	return texts;
}

static int has_elapsed(const struct t2x_event *ev)
{
	switch (ev->style) {
	case TLG_STYLE_region_leave:
	case TLG_STYLE_data:
	case TLG_STYLE_data_intmax:
	case TLG_STYLE_data_json:
	case TLG_STYLE_thread_exit:
	case TLG_STYLE_child_exit:
	case TLG_STYLE_child_ready:
		return ev->rel_ns != T2X_NO_TIME;
	default:
		return 0;
	}
}

/* Its class is known when its texts are, and goes to the place in front of them. */
static void put_event(struct ctf *ctf, struct ctf_stream *stream, const struct t2x_event *ev,
		      const struct t2x_options *options)
{
	struct t2x_bytes *to = &stream->packet;
	size_t start = to->n;
	uint16_t class = 0;
	unsigned texts;

	if (ev->ns > stream->end_ns)
		stream->end_ns = ev->ns;
	t2x_bytes_put(to, &class, sizeof(class));
	t2x_bytes_u64(to, stream->end_ns);
	t2x_bytes_u32(to, ev->open);
	t2x_bytes_u64(to, has_elapsed(ev) ? ev->rel_ns : UINT64_MAX);
	texts = put_scope(to, ev);
	texts |= put_arguments(to, ev, options);
	if (to->error)
		return;
	class = t2x_ctf_class(&ctf->classes, ev->scope ? ev->style : 0, texts);
	to->bytes[start] = (unsigned char)class;
	to->bytes[start + 1] = (unsigned char)(class >> 8);
}

/* A null pointer of the program is an empty text here. */
static void print_event(struct t2x_printer *printer, const struct t2x_event *ev)
{
	struct ctf *ctf = printer->own;
	struct t2x_spans *spans = ev->spans;
	struct ctf_stream *stream;
	size_t held;

	if (spans && !spans->own)
		spans->own = add_stream(ctf);
	stream = spans ? spans->own : NULL;
	if (!stream) {
		ctf->error = ENOMEM;
		return;
	}
	held = stream->packet.max;
	if (ev->lost && ev->lost->what == T2X_LOST_EVENTS)
		discard(printer, stream, spans, ev);
	if (!stream->packet.n)
		begin_packet(stream, spans, ev->ns);
	put_event(ctf, stream, ev, &printer->options);
	ctf->held += stream->packet.max - held;
	if (stream->packet.n > PACKET_BYTES)
		end_packet(printer, stream);
	if (ctf->held > HELD_BYTES)
		end_packets(printer);
	if (ev->style == TLG_STYLE_thread_exit)
		t2x_spans_end_thread(printer->spans, spans);
}

/* ---- the writer --------------------------------------------------------------------------------- */

static void forget_thread(struct t2x_spans_table *table, struct t2x_spans *spans)
{
	if (spans->own)
		end_stream(table->printer, spans->own);
}

static int begin_ctf(struct t2x_printer *printer)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));

	if (!ctf)
		return -ENOMEM;
	ctf->processes.spans.has_no_spans = 1;
	ctf->processes.spans.forget_thread = forget_thread;
	printer->own = ctf;
	t2x_processes_begin(&ctf->processes, printer);
	return 0;
}

static void put_metadata(struct t2x_printer *printer, struct ctf *ctf)
{
	struct t2x_bytes metadata = { .n = 0 };

	t2x_ctf_metadata(&metadata, &ctf->classes);
	if (metadata.error)
		ctf->error = ENOMEM;
	else
		t2x_ctf_tar_file(printer->out, "metadata", &metadata);
	t2x_bytes_free(&metadata);
}

static void finish_ctf(struct t2x_printer *printer)
{
	struct ctf *ctf = printer->own;

	while (ctf->streams)
		end_stream(printer, ctf->streams);
	ctf->processes.spans.forget_thread = NULL;   /* there are no streams any more */
	put_metadata(printer, ctf);
	t2x_ctf_tar_end(printer->out);
	t2x_processes_report(&ctf->processes);
	if (ctf->error)
		printer->out->error = ctf->error;
	t2x_processes_free(&ctf->processes);
	free(ctf);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_ctf = {
	.thread_bytes = THREAD_BYTES,
	.begin = begin_ctf,
	.finish = finish_ctf,
	.unresolved = print_event,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = print_event,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};
