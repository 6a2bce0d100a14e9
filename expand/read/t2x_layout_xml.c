/* SPDX-License-Identifier: MIT */
/* t2x_layout_xml.c - reads a --show_format document.  The expander's only user of expat. */
#include <ctype.h>
#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_layout.h"

enum { MAX_DOCUMENT = 1024 * 1024 };

struct parse {
	XML_Parser parser;
	struct t2x_layout *layout;
	struct t2x_type *type;    /* the open TYPE, or NULL */
	int in_header;
	int seen_root;
	const char *wrong;
};

static void refuse(struct parse *parse, const char *why)
{
	if (!parse->wrong)
		parse->wrong = why;
	XML_StopParser(parse->parser, XML_FALSE);
}

/* The value of an attribute, or NULL. */
static const char *find(const char **attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

/* A number of at most max; base 10 or 16, with or without 0x. */
static unsigned get_number(struct parse *parse, const char **attributes, const char *name, int base,
			   unsigned long max)
{
	const char *text = find(attributes, name);
	unsigned long value;
	char *end;

	if (!text || !isxdigit((unsigned char)*text)) {
		refuse(parse, "a number is missing");
		return 0;
	}
	errno = 0;
	value = strtoul(text, &end, base);
	if (*end || errno || value > max) {
		refuse(parse, "a number is wrong or too large");
		return 0;
	}
	return (unsigned)value;
}

/* Get a name.  It must be a valid XML name, because the xml output uses it for elements and attributes. */
static const char *get_name(struct parse *parse, const char **attributes, const char *name)
{
	const char *text = find(attributes, name);
	size_t length =
		text ? strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") : 0;

	if (length && !text[length] && !isdigit((unsigned char)*text))
		return text;
	refuse(parse, "a name is missing, or is none");
	return NULL;
}

/* ---- elements ----------------------------------------------------------------------------------- */

static void parse_root(struct parse *parse, const char **attributes)
{
	struct t2x_layout *layout = parse->layout;
	const char *raw = find(attributes, "magic_raw");

	parse->seen_root = 1;
	layout->version = get_number(parse, attributes, "version", 16, 0xffff);
	layout->entry_size = get_number(parse, attributes, "size", 10, T2X_MAX_ENTRY);
	layout->payload_size = get_number(parse, attributes, "payload_size", 10, T2X_MAX_ENTRY);
	layout->payload_offset = get_number(parse, attributes, "payload_offset", 10, T2X_MAX_ENTRY);
	if (raw && !strcmp(raw, "0x78563412"))
		layout->little_endian = 1;
	else if (!raw || strcmp(raw, "0x12345678"))
		refuse(parse, "magic_raw names no byte order that is known");
}

static void parse_type(struct parse *parse, const char **attributes)
{
	unsigned id = get_number(parse, attributes, "typeindex", 10, 255);
	const char *uname = get_name(parse, attributes, "uname");

	if (parse->type || parse->in_header || !uname || parse->layout->types[id]) {
		refuse(parse, "a TYPE inside another, without a name, or given twice");
		return;
	}
	parse->type = t2x_layout_add_type(parse->layout, id, uname);
	if (!parse->type)
		refuse(parse, "no memory");
}

/* Return  the member to fill in for this element; NULL: the document may not have it here */
static struct t2x_member *find_place(struct parse *parse, const char *name)
{
	static const char *const head[] = {
		[T2X_HEAD_FLAGS] = "flags", [T2X_HEAD_PID] = "pid", [T2X_HEAD_SEQUENCE] = "sequence",
	};

	if (parse->type && parse->type->nmembers < T2X_MAX_MEMBERS)
		return &parse->type->members[parse->type->nmembers++];
	for (unsigned i = 0; parse->in_header && i < T2X_HEAD_MEMBERS; i++)
		if (!strcmp(name, head[i]))
			return &parse->layout->head[i];
	return NULL;
}

static void parse_member(struct parse *parse, const char **attributes)
{
	const char *name = get_name(parse, attributes, "name"), *type_name = find(attributes, "type");
	unsigned size = get_number(parse, attributes, "size", 10, T2X_MAX_ENTRY);
	unsigned offset = get_number(parse, attributes, "offset", 10, T2X_MAX_ENTRY);
	struct t2x_member *member = name && type_name ? find_place(parse, name) : NULL;

	if (!member) {
		refuse(parse, "a MEMBER without a name or a place, or one too many");
		return;
	}
	if (t2x_layout_set_member(member, parse->type, name, type_name)) {
		refuse(parse, "no memory");
		return;
	}
	member->size = (uint8_t)size;
	member->offset = (uint8_t)offset;
}

/* A flag.  Those named IS_... are ignored: they repeat what TYPE says. */
static void parse_flag(struct parse *parse, const char **attributes)
{
	static const char *const names[T2X_FLAGS] = {
		[T2X_FLAG_HAS_INFO] = "HAS_INFO", [T2X_FLAG_INFO_END] = "INFO_END",
		[T2X_FLAG_HAS_MORE] = "HAS_MORE", [T2X_FLAG_RENDERED] = "RENDERED",
	};
	const char *name = find(attributes, "name");
	unsigned value = get_number(parse, attributes, "value", 16, 0xffff);

	for (unsigned i = 0; name && i < T2X_FLAGS; i++)
		if (!strcmp(name, names[i]))
			parse->layout->flags[i] = (uint16_t)value;
}

static void XMLCALL open_element(void *data, const char *name, const char **attributes)
{
	struct parse *parse = data;

	if (!parse->seen_root && strcmp(name, "RAW_FORMAT"))
		refuse(parse, "it does not begin with RAW_FORMAT");
	else if (!strcmp(name, "RAW_FORMAT"))
		parse_root(parse, attributes);
	else if (!strcmp(name, "HEADER"))
		parse->in_header = !parse->type;
	else if (!strcmp(name, "TYPE"))
		parse_type(parse, attributes);
	else if (!strcmp(name, "MEMBER"))
		parse_member(parse, attributes);
	else if (!strcmp(name, "FLAG"))
		parse_flag(parse, attributes);
}

static void XMLCALL close_element(void *data, const char *name)
{
	struct parse *parse = data;

	if (!strcmp(name, "TYPE"))
		parse->type = NULL;
	else if (!strcmp(name, "HEADER"))
		parse->in_header = 0;
}

/* Refuse a document type: it can define entities, whose expansion has no bound. */
static void XMLCALL refuse_doctype(void *data, const char *name, const char *system, const char *public,
				   int subset)
{
	(void)name, (void)system, (void)public, (void)subset;
	refuse(data, "a document type is not allowed");
}

int t2x_layout_parse(struct t2x_layout *layout, const char *xml, size_t n, const char **why)
{
	static char reason[128];
	struct parse parse = { .layout = layout, .parser = XML_ParserCreate(NULL) };

	memset(layout, 0, sizeof(*layout));
	layout->is_foreign = 1;
	layout->flags[T2X_FLAG_HAS_INFO] = TLG_HAS_INFO;
	layout->flags[T2X_FLAG_INFO_END] = TLG_INFO_END;
	if (!parse.parser)
		return -ENOMEM;
	XML_SetUserData(parse.parser, &parse);
	XML_SetElementHandler(parse.parser, open_element, close_element);
	XML_SetStartDoctypeDeclHandler(parse.parser, refuse_doctype);
	if (n > MAX_DOCUMENT)
		parse.wrong = "it is longer than a megabyte";
	else if (XML_Parse(parse.parser, xml, (int)n, 1) != XML_STATUS_OK && !parse.wrong)
		parse.wrong = XML_ErrorString(XML_GetErrorCode(parse.parser));
	else if (!parse.wrong)
		parse.wrong = t2x_layout_finish(layout);
	if (parse.wrong) {
		snprintf(reason, sizeof(reason), "line %lu: %s",
			 (unsigned long)XML_GetCurrentLineNumber(parse.parser), parse.wrong);
		*why = reason;
		t2x_layout_free(layout);
	}
	XML_ParserFree(parse.parser);
	return parse.wrong ? -EINVAL : 0;
}
