/* SPDX-License-Identifier: MIT */
/* tlg_show.c - prints the descriptor tables as text. */
#include "tlg_show.h"

#include <string.h>

#include "tlg_crc.h"
#include "tlg_desc.h"

struct show {
	tlg_show_fn *put;
	void *to;
};

static void show_text(const struct show *show, const char *text)
{
	show->put(show->to, text, strlen(text));
}

static void show_decimal(const struct show *show, unsigned value)
{
	char digits[10];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	show->put(show->to, digits + at, sizeof(digits) - at);
}

/* At least width digits, no prefix. */
static void show_hex(const struct show *show, uint32_t value, unsigned width)
{
	char digits[8];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value || sizeof(digits) - at < width);
	show->put(show->to, digits + at, sizeof(digits) - at);
}

/* ---- XML ---------------------------------------------------------------------------------------- */

/* Print an attribute.  It needs no escaping: our tables have none of the characters that XML reserves. */
static void show_attribute(const struct show *show, const char *name, const char *value)
{
	show_text(show, " ");
	show_text(show, name);
	show_text(show, "=\"");
	show_text(show, value);
	show_text(show, "\"");
}

static void show_number(const struct show *show, const char *name, unsigned value)
{
	show_text(show, " ");
	show_text(show, name);
	show_text(show, "=\"");
	show_decimal(show, value);
	show_text(show, "\"");
}

static void show_member(const struct show *show, const struct tlg_field_desc *field)
{
	show_text(show, "  <MEMBER");
	show_attribute(show, "name", field->name);
	show_attribute(show, "type", field->type);
	show_number(show, "size", field->size);
	show_number(show, "offset", field->offset);
	show_attribute(show, "desc", field->desc);
	show_text(show, "/>\n");
}

static void show_type(const struct show *show, const struct tlg_type_desc *type)
{
	show_text(show, "<TYPE");
	show_attribute(show, "uname", type->text[TLG_DESC_UNAME]);
	show_attribute(show, "name", type->text[TLG_DESC_NAME]);
	show_number(show, "typeindex", type->id);
	show_text(show, " type=\"ev_");
	show_text(show, type->text[TLG_DESC_NAME]);
	show_text(show, "\"");
	show_number(show, "size", type->size);
	show_attribute(show, "followedby", type->text[TLG_DESC_FOLLOWEDBY]);
	show_attribute(show, "desc", type->text[TLG_DESC_DESC]);
	show_text(show, ">\n");
	for (unsigned i = 0; i < type->nfields; i++)
		show_member(show, &type->fields[i]);
	show_text(show, "</TYPE>\n");
}

static void show_flag(const struct show *show, const char *prefix, const char *name, unsigned value)
{
	show_text(show, "<FLAG name=\"");
	show_text(show, prefix);
	show_text(show, name);
	show_text(show, "\" value=\"0x");
	show_hex(show, value, 4);
	show_text(show, "\"/>\n");
}

static void show_header(const struct show *show)
{
	static const struct tlg_field_desc members[] = {
		{ "flags", "flags_t", "type and flags", offsetof(struct tlg_event, flags), 2, 0,
		  TLG_KIND_HEX },
		{ "pid", "st_pid_t", "process id, low 16 bits", offsetof(struct tlg_event, pid), 2, 0,
		  TLG_KIND_HEX },
		{ "sequence", "sequence_t", "sequence number", offsetof(struct tlg_event, sequence), 4, 0,
		  TLG_KIND_DEC },
	};

	show_text(show, "<HEADER>\n");
	for (unsigned i = 0; i < 3; i++)
		show_member(show, &members[i]);
	show_text(show, "</HEADER>\n");
}

void tlg_show_xml(tlg_show_fn *put, void *to)
{
	static const struct { const char *name; unsigned value; } flags[] = {
		{ "HAS_INFO", TLG_HAS_INFO }, { "INFO_END", TLG_INFO_END }, { "HAS_MORE", TLG_HAS_MORE },
		{ "RENDERED", TLG_RENDERED },
	};
	const struct show show = { put, to };
	const uint32_t magic = TLG_MAGIC;
	unsigned char raw[4];

	memcpy(raw, &magic, sizeof(raw));
	show_text(&show, "<RAW_FORMAT version=\"");
	show_hex(&show, TLG_VERSION, 1);
	show_text(&show, "\"");
	show_number(&show, "size", TLG_EVENT_SIZE);
	show_number(&show, "payload_size", TLG_PAYLOAD_SIZE);
	show_number(&show, "payload_offset", offsetof(struct tlg_event, u));
	show_text(&show, " magic=\"0x");
	show_hex(&show, magic, 8);
	show_text(&show, "\" magic_raw=\"0x");
	for (unsigned i = 0; i < sizeof(raw); i++)
		show_hex(&show, raw[i], 2);
	show_text(&show, "\">\n");
	show_header(&show);
	for (unsigned i = 0; i < tlg_type_count(); i++)
		show_type(&show, tlg_type_at(i));
	for (unsigned i = 0; i < tlg_type_count(); i++)
		show_flag(&show, "IS_", tlg_type_at(i)->text[TLG_DESC_UNAME], tlg_type_at(i)->id);
	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		show_flag(&show, "", flags[i].name, flags[i].value);
	show_text(&show, "</RAW_FORMAT>\n");
}

static void add_to_crc(void *crc, const char *text, size_t n)
{
	uint32_t *sum = crc;

	*sum = tlg_crc32c(*sum, text, n);
}

uint32_t tlg_show_crc(void)
{
	uint32_t crc = 0;

	tlg_show_xml(add_to_crc, &crc);
	return crc;
}

/* ---- markdown ----------------------------------------------------------------------------------- */

static void show_cell(const struct show *show, const char *text)
{
	show_text(show, " | ");
	show_text(show, text);
}

/* u8, i64, or "text". */
static void show_width(const struct show *show, const struct tlg_field_desc *field)
{
	if (field->kind == TLG_KIND_TEXT) {
		show_cell(show, "text");
		return;
	}
	show_cell(show, field->is_signed ? "i" : "u");
	show_decimal(show, field->size * 8u);
}

static void show_type_rows(const struct show *show, const struct tlg_type_desc *type)
{
	const char *followedby = type->text[TLG_DESC_FOLLOWEDBY];

	show_text(show, "| ");
	show_decimal(show, type->id);
	show_cell(show, "**");
	show_text(show, type->text[TLG_DESC_UNAME]);
	show_text(show, "**");
	show_cell(show, "| | ");
	show_text(show, type->text[TLG_DESC_DESC]);
	if (strcmp(followedby, "~")) {
		show_text(show, "; INFO: ");
		show_text(show, followedby);
	}
	show_text(show, " |\n");
	for (unsigned i = 0; i < type->nfields; i++) {
		show_text(show, "| | ");
		show_text(show, type->fields[i].name);
		show_text(show, " | ");
		show_decimal(show, type->fields[i].offset);
		show_width(show, &type->fields[i]);
		show_cell(show, type->fields[i].desc);
		show_text(show, " |\n");
	}
}

static void show_style_row(const struct show *show, unsigned id, const struct tlg_style_desc *style)
{
	show_text(show, "| ");
	show_decimal(show, id);
	show_cell(show, style->name);
	if (*style->args) {
		show_cell(show, "`");
		show_text(show, style->args);
		show_text(show, "`");
	} else {
		show_cell(show, "");
	}
	show_cell(show, style->desc);
	show_text(show, " |\n");
}

void tlg_show_md(tlg_show_fn *put, void *to)
{
	const struct show show = { put, to };

	show_text(&show, "<!-- styles -->\n| id | event | arguments | meaning |\n|---|---|---|---|\n");
	for (unsigned id = 1; id < TLG_STYLE_COUNT; id++)
		if (tlg_style_by_id(id))
			show_style_row(&show, id, tlg_style_by_id(id));
	show_text(&show, "<!-- /styles -->\n\n<!-- types -->\n| id | name | offset | type | meaning |\n"
			 "|---|---|---|---|---|\n");
	for (unsigned i = 0; i < tlg_type_count(); i++)
		show_type_rows(&show, tlg_type_at(i));
	show_text(&show, "<!-- /types -->\n");
}
