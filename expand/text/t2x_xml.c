/* SPDX-License-Identifier: MIT */
/*
 * t2x_xml.c - prints each raw event as an XML element, in the order of the file: StackTrack's listing.
 *
 * The attributes are flags, pid and seq, then the members.  A point in time is printed in seconds since the start of
 * the process (PROCINFO.start; in StackTrack's files TIMEINFO.start_hires), with 9 decimals (StackTrack's: 6).  While
 * the clock is not known, the raw reading is printed.  A reading of 0 prints as 0.  There is no root element.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_formats.h"
#include "tlg_math.h"
#include "read/t2x_blocks.h"

enum { MAX_CLOCKS = 65536, DECIMALS = 9, STACKTRACK_DECIMALS = 6 };

/* The clock of a stream. */
struct clock {
	uint64_t ticks_per_s;     /* 0: not known */
	uint64_t zero;            /* reading that prints as 0 */
	int has_zero;
};

/* ---- values ------------------------------------------------------------------------------------- */

static void put_hex(struct t2x_out *out, uint64_t value, unsigned digits)
{
	char *to = t2x_out_room(out, 18);

	*to++ = '0';
	*to++ = 'x';
	for (unsigned i = digits; i--;)
		*to++ = "0123456789abcdef"[value >> 4 * i & 15];
	out->pos = to;
}

/* Put "-0.000123", rounded to the nearest, halves up. */
static void put_seconds(struct t2x_out *out, int64_t ticks, uint64_t ticks_per_s, unsigned decimals)
{
	uint64_t size = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks, unit = 1;
	uint64_t seconds = size / ticks_per_s, part, rest;
	char digits[DECIMALS];

	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	part = tlg_mul_div(size % ticks_per_s, unit, ticks_per_s, &rest);
	part += rest >= ticks_per_s - rest;
	seconds += part / unit;
	part %= unit;
	if (ticks < 0 && (seconds || part))
		t2x_out_char(out, '-');
	t2x_out_uint(out, seconds);
	t2x_out_char(out, '.');
	for (unsigned i = decimals; i--; part /= 10)
		digits[i] = (char)('0' + part % 10);
	t2x_out_bytes(out, digits, decimals);
}

/* Put printable ASCII, escaped for XML, and every other byte as \xNN: an event may end inside of a UTF-8 character. */
static void put_text(struct t2x_out *out, const unsigned char *text, unsigned n)
{
	while (n && !text[n - 1])
		n--;
	for (unsigned i = 0; i < n; i++) {
		unsigned char c = text[i];
		if (c == '&')
			t2x_out_literal(out, "&amp;");
		else if (c == '<')
			t2x_out_literal(out, "&lt;");
		else if (c == '>')
			t2x_out_literal(out, "&gt;");
		else if (c == '"')
			t2x_out_literal(out, "&quot;");
		else if (c >= 0x20 && c < 0x7f)
			t2x_out_char(out, (char)c);
		else {
			char *to = t2x_out_room(out, 4);
			to[0] = '\\';
			to[1] = 'x';
			to[2] = "0123456789abcdef"[c >> 4];
			to[3] = "0123456789abcdef"[c & 15];
			out->pos += 4;
		}
	}
}

static void put_time(struct t2x_out *out, const struct clock *clock, uint64_t raw, int is_stacktrack)
{
	/* 0 is no point in time: a step does not read the clock. */
	if ((!raw && !is_stacktrack) || !clock || !clock->has_zero ||
	    (!clock->ticks_per_s && raw != clock->zero))
		t2x_out_uint(out, raw);
	else
		put_seconds(out, (int64_t)(raw - clock->zero), clock->ticks_per_s ? clock->ticks_per_s : 1,
			    is_stacktrack ? STACKTRACK_DECIMALS : DECIMALS);
}

/* ---- clocks ------------------------------------------------------------------------------------- */

static struct clock *find_clock(struct t2x_map *clocks, uint32_t stream)
{
	struct clock *clock = t2x_map_get(clocks, stream);

	if (clock || clocks->count >= MAX_CLOCKS)
		return clock;
	clock = calloc(1, sizeof(*clock));
	if (clock && t2x_map_put(clocks, stream, clock)) {
		free(clock);
		return NULL;
	}
	return clock;
}

/* Follow what the event says about the clock, before it is printed: its own times need it, too. */
static void follow_clock(struct clock *clock, const struct tlg_event *event, int is_stacktrack)
{
	switch (tlg_event_type(event)) {
	case TLG_TIMETYPE:
		clock->ticks_per_s = event->u.timetype.tdiv;
		break;
	case TLG_PROCINFO:
		if (!is_stacktrack) {
			clock->zero = event->u.procinfo.start;
			clock->has_zero = 1;
		}
		break;
	case TLG_TIMEINFO:
		if (is_stacktrack) {
			clock->zero = event->u.timeinfo.start_hires;
			clock->has_zero = 1;
		}
		break;
	default:
		break;
	}
}

/* ---- events ------------------------------------------------------------------------------------- */

/* An element that is being printed. */
struct element {
	struct t2x_out *out;
	const struct t2x_layout *layout;
	const unsigned char *entry;
	const struct clock *clock;
	int is_stacktrack;
};

static void put_name(struct t2x_out *out, const char *name)
{
	t2x_out_char(out, ' ');
	t2x_out_string(out, name);
	t2x_out_literal(out, "=\"");
}

static void put_member(const struct element *element, const struct t2x_member *member, unsigned base)
{
	struct t2x_out *out = element->out;
	int64_t value;

	if (member->kind == TLG_KIND_TEXT) {
		put_text(out, element->entry + base + member->offset, member->size);
		return;
	}
	value = t2x_layout_get(element->layout, member, base, element->entry);
	if (member->kind == TLG_KIND_HEX)
		put_hex(out, (uint64_t)value, member->size * 2u);
	else if (member->kind == TLG_KIND_TICKS)
		put_time(out, element->clock, (uint64_t)value, element->is_stacktrack);
	else if (member->kind == TLG_KIND_RATE && element->is_stacktrack)
		t2x_out_literal(out, "1.000000");
	else if (member->is_signed)
		t2x_out_int(out, value);
	else
		t2x_out_uint(out, (uint64_t)value);
}

static void put_head(const struct element *element, unsigned which, const char *name)
{
	put_name(element->out, name);
	put_member(element, &element->layout->head[which], 0);
	t2x_out_char(element->out, '"');
}

/* Put the payload of a type that the layout does not have, byte by byte. */
static void put_payload(const struct element *element)
{
	const unsigned char *p = element->entry + element->layout->payload_offset;

	put_name(element->out, "payload");
	for (unsigned i = 0; i < element->layout->payload_size; i++) {
		char *to = t2x_out_room(element->out, 2);
		to[0] = "0123456789abcdef"[p[i] >> 4];
		to[1] = "0123456789abcdef"[p[i] & 15];
		element->out->pos += 2;
	}
	t2x_out_char(element->out, '"');
}

/* XML forbids two attributes of one name, so PROCINFO's pid replaces the head's.  StackTrack prints both. */
static const struct t2x_member *find_whole_pid(const struct element *element, const struct t2x_type *type)
{
	for (unsigned i = 0; type && !element->is_stacktrack && i < type->nmembers; i++)
		if (!strcmp(type->members[i].name, "pid"))
			return &type->members[i];
	return NULL;
}

static void put_event(const struct element *element)
{
	const struct t2x_type *type = t2x_layout_type(element->layout, element->entry);
	const struct t2x_member *pid = find_whole_pid(element, type);
	unsigned base = element->layout->payload_offset;
	struct t2x_out *out = element->out;

	t2x_out_char(out, '<');
	t2x_out_string(out, type ? type->uname : "UNKNOWN");
	put_head(element, T2X_HEAD_FLAGS, "flags");
	if (pid) {
		put_name(out, "pid");
		put_member(element, pid, base);
		t2x_out_char(out, '"');
	} else {
		put_head(element, T2X_HEAD_PID, "pid");
	}
	put_head(element, T2X_HEAD_SEQUENCE, "seq");
	for (unsigned i = 0; type && i < type->nmembers; i++) {
		if (&type->members[i] == pid)
			continue;
		put_name(out, type->members[i].name);
		put_member(element, &type->members[i], base);
		t2x_out_char(out, '"');
	}
	if (!type)
		put_payload(element);
	t2x_out_literal(out, "/>");
	t2x_out_end_line(out);
}

/* ---- the writer --------------------------------------------------------------------------------- */

/* The writer's own state is the map of clocks, by stream. */
static int begin_xml(struct t2x_printer *printer)
{
	printer->own = calloc(1, sizeof(struct t2x_map));
	return printer->own ? 0 : -ENOMEM;
}

static int print_block(struct t2x_printer *printer, const struct t2x_block *block)
{
	struct element element = {
		.out = printer->out, .layout = block->layout, .entry = block->raw,
		.is_stacktrack = block->layout->version < TLG_VERSION,
	};
	struct clock *clock = find_clock(printer->own, block->stream);

	element.clock = clock;
	for (unsigned i = 0; i < block->entries; i++, element.entry += block->layout->entry_size) {
		struct tlg_event event[T2X_MAX_SPLIT];
		t2x_layout_decode(block->layout, element.entry, 1, event);
		if (clock)
			follow_clock(clock, event, element.is_stacktrack);
		put_event(&element);
	}
	return 0;
}

static void finish_xml(struct t2x_printer *printer)
{
	struct t2x_map *clocks = printer->own;

	for (uint32_t i = 0; i < t2x_map_slots(clocks); i++)
		free(t2x_map_at(clocks, i));
	t2x_map_free(clocks);
	free(clocks);
	printer->own = NULL;
}

const struct t2x_writer t2x_writer_xml = { .begin = begin_xml, .block = print_block, .finish = finish_xml };
