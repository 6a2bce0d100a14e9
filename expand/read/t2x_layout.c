/* SPDX-License-Identifier: MIT */
/* t2x_layout.c - layouts, and the decoding of events. */
#include "t2x_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint16_t native_flags[T2X_FLAGS] = { TLG_HAS_INFO, TLG_INFO_END, TLG_HAS_MORE, TLG_RENDERED };

static int is_host_little(void)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

/* ---- making layouts ----------------------------------------------------------------------------- */

struct t2x_type *t2x_layout_add_type(struct t2x_layout *layout, unsigned id, const char *uname)
{
	const struct tlg_type_desc *native = tlg_type_by_uname(uname);
	struct t2x_type *type = calloc(1, sizeof(*type));

	if (type)
		type->uname = strdup(uname);
	if (!type || !type->uname) {
		free(type);
		return NULL;
	}
	type->native = native ? native->id : T2X_NO_TYPE;
	layout->types[id & TLG_TYPE_MASK] = type;
	return type;
}

static const struct tlg_field_desc *find_native(const struct t2x_type *type, const char *name)
{
	const struct tlg_type_desc *native = type ? tlg_type_by_id(type->native) : NULL;

	for (unsigned i = 0; native && i < native->nfields; i++)
		if (!strcmp(native->fields[i].name, name))
			return &native->fields[i];
	return NULL;
}

/* The kind of a member that we do not know, by StackTrack's name for its type. */
static enum tlg_kind guess_kind(const char *type_name)
{
	if (!strcmp(type_name, "hitime_t"))
		return TLG_KIND_TICKS;
	if (!strcmp(type_name, "st_pid_t") || !strcmp(type_name, "st_tid_t") || !strcmp(type_name, "flags_t"))
		return TLG_KIND_HEX;
	return TLG_KIND_DEC;
}

int t2x_layout_set_member(struct t2x_member *member, const struct t2x_type *type, const char *name,
			  const char *type_name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(member->name);
	member->name = copy;
	member->native = find_native(type, name);
	member->kind = member->native ? member->native->kind : (uint8_t)guess_kind(type_name);
	member->is_signed = !strncmp(type_name, "int", 3) || !strcmp(type_name, "sctime_t");
	return 0;
}

/* Header members as StackTrack has them, for documents that do not describe them. */
static int set_default_head(struct t2x_layout *layout)
{
	static const struct { const char *name, *type; uint8_t offset, size; } head[] = {
		[T2X_HEAD_FLAGS] = { "flags", "flags_t", 0, 2 },
		[T2X_HEAD_PID] = { "pid", "st_pid_t", 2, 2 },
		[T2X_HEAD_SEQUENCE] = { "sequence", "sequence_t", 4, 4 },
	};

	for (unsigned i = 0; i < T2X_HEAD_MEMBERS; i++) {
		struct t2x_member *member = &layout->head[i];
		if (member->name)
			continue;
		if (t2x_layout_set_member(member, NULL, head[i].name, head[i].type))
			return -ENOMEM;
		member->offset = head[i].offset;
		member->size = head[i].size;
	}
	return 0;
}

static int add_native_type(struct t2x_layout *layout, const struct tlg_type_desc *desc)
{
	struct t2x_type *type = t2x_layout_add_type(layout, desc->id, desc->text[TLG_DESC_UNAME]);

	for (unsigned i = 0; type && i < desc->nfields; i++) {
		struct t2x_member *member = &type->members[i];
		if (t2x_layout_set_member(member, type, desc->fields[i].name, desc->fields[i].type))
			return -ENOMEM;
		member->offset = desc->fields[i].offset;
		member->size = desc->fields[i].size;
		member->is_signed = desc->fields[i].is_signed;
		type->nmembers++;
	}
	return type ? 0 : -ENOMEM;
}

int t2x_layout_init(struct t2x_layout *layout, int little_endian)
{
	int error = 0;

	memset(layout, 0, sizeof(*layout));
	layout->version = TLG_VERSION;
	layout->entry_size = TLG_EVENT_SIZE;
	layout->payload_offset = offsetof(struct tlg_event, u);
	layout->payload_size = TLG_PAYLOAD_SIZE;
	layout->little_endian = little_endian;
	layout->is_native = little_endian == is_host_little();
	memcpy(layout->flags, native_flags, sizeof(native_flags));
	for (unsigned i = 0; !error && i < tlg_type_count(); i++)
		error = add_native_type(layout, tlg_type_at(i));
	if (!error && t2x_layout_finish(layout))
		error = -ENOMEM;
	if (error)
		t2x_layout_free(layout);
	return error;
}

const struct t2x_layout *t2x_layout_native(int little_endian)
{
	static struct t2x_layout layouts[2];
	struct t2x_layout *layout = &layouts[little_endian != 0];

	if (!layout->entry_size && t2x_layout_init(layout, little_endian))
		return NULL;
	return layout;
}

void t2x_layout_free(struct t2x_layout *layout)
{
	for (unsigned i = 0; i < T2X_HEAD_MEMBERS; i++)
		free(layout->head[i].name);
	for (unsigned id = 0; id < 256; id++) {
		struct t2x_type *type = layout->types[id];
		for (unsigned i = 0; type && i < type->nmembers; i++)
			free(type->members[i].name);
		if (type)
			free(type->uname);
		free(type);
	}
	memset(layout, 0, sizeof(*layout));
}

/* ---- checking ----------------------------------------------------------------------------------- */

static int is_width(unsigned size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Member names must be unique: they become attributes of one XML element, behind those of the header. */
static const char *check_names(const struct t2x_type *type)
{
	for (unsigned i = 0; i < type->nmembers; i++) {
		const char *name = type->members[i].name;
		if (!strcmp(name, "flags") || !strcmp(name, "seq"))
			return "a member has the name of one of the header";
		for (unsigned k = 0; k < i; k++)
			if (!strcmp(name, type->members[k].name))
				return "a member is given twice";
	}
	return NULL;
}

static const char *check_type(const struct t2x_layout *layout, const struct t2x_type *type)
{
	for (unsigned i = 0; i < type->nmembers; i++) {
		const struct t2x_member *member = &type->members[i];
		if (member->offset + member->size > layout->payload_size)
			return "a member lies outside the payload";
		if (member->kind == TLG_KIND_TEXT ? !member->size : !is_width(member->size))
			return "a member has a size other than 1, 2, 4, 8";
	}
	return check_names(type);
}

/* StackTrack's documents do not list INFO: its whole payload is text. */
static const char *complete_info(struct t2x_layout *layout)
{
	struct t2x_type *type = layout->types[TLG_INFO];

	if (type)
		return NULL;
	type = t2x_layout_add_type(layout, TLG_INFO, "INFO");
	if (!type || t2x_layout_set_member(&type->members[0], type, "text", "text"))
		return "no memory";
	type->nmembers = 1;
	type->members[0].size = (uint8_t)layout->payload_size;
	return NULL;
}

static const struct t2x_member *find_member(const struct t2x_type *type, const char *name, unsigned size)
{
	for (unsigned i = 0; i < type->nmembers; i++)
		if (!strcmp(type->members[i].name, name) && type->members[i].size == size)
			return &type->members[i];
	return NULL;
}

/* Find BLOCK, which counts only if it has a magic and a checksum of the right sizes. */
static void find_block(struct t2x_layout *layout)
{
	for (unsigned id = 0; id < 256; id++) {
		const struct t2x_type *type = layout->types[id];
		const struct t2x_member *magic, *crc;
		if (!type || type->native != TLG_BLOCK)
			continue;
		magic = find_member(type, "magic", 2);
		crc = find_member(type, "crc", 4);
		if (!magic || !crc || !find_member(type, "size", 2) || !find_member(type, "count", 2))
			continue;
		layout->block = type;
		layout->magic_at = layout->payload_offset + magic->offset;
		layout->magic[!layout->little_endian] = TLG_BLOCK_MAGIC & 0xff;
		layout->magic[layout->little_endian] = TLG_BLOCK_MAGIC >> 8;
		layout->crc_at = layout->payload_offset + crc->offset;
	}
}

/* Find into how many native events one event can be divided: the longest text decides. */
static void find_split(struct t2x_layout *layout)
{
	layout->text_size = 0;
	for (unsigned id = 0; id < 256; id++) {
		const struct t2x_type *type = layout->types[id];
		if (type && type->native == TLG_INFO && type->nmembers &&
		    type->members[0].size > layout->text_size)
			layout->text_size = type->members[0].size;
	}
	layout->split = layout->text_size > TLG_TEXT_SIZE
				? (layout->text_size + TLG_TEXT_SIZE - 1) / TLG_TEXT_SIZE
				: 1;
}

const char *t2x_layout_finish(struct t2x_layout *layout)
{
	const char *wrong = NULL;

	if (!layout->entry_size || layout->entry_size > T2X_MAX_ENTRY ||
	    layout->payload_offset > layout->entry_size ||
	    layout->payload_size > layout->entry_size - layout->payload_offset)
		return "the sizes of event and payload are impossible";
	if (set_default_head(layout))
		return "no memory";
	for (unsigned i = 0; i < T2X_HEAD_MEMBERS; i++)
		if (!is_width(layout->head[i].size) ||
		    layout->head[i].offset + layout->head[i].size > layout->entry_size)
			return "a member of the header lies outside the event, or has a size other than 1, "
			       "2, 4, 8";
	wrong = complete_info(layout);
	for (unsigned id = 0; !wrong && id < 256; id++)
		if (layout->types[id])
			wrong = check_type(layout, layout->types[id]);
	if (wrong)
		return wrong;
	find_block(layout);
	find_split(layout);
	return NULL;
}

/* ---- turning events ----------------------------------------------------------------------------- */

int64_t t2x_layout_get(const struct t2x_layout *layout, const struct t2x_member *member, unsigned base,
		       const unsigned char *entry)
{
	const unsigned char *p = entry + base + member->offset;
	unsigned size = member->size;
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value = value << 8 | p[layout->little_endian ? size - 1 - i : i];
	if (member->is_signed && size < 8 && value >> (8 * size - 1))
		value |= ~UINT64_C(0) << (8 * size);
	return (int64_t)value;
}

static unsigned get_head(const struct t2x_layout *layout, unsigned which, const unsigned char *entry)
{
	return (unsigned)t2x_layout_get(layout, &layout->head[which], 0, entry);
}

/*
 * Append text to the n events at to.  Only the last event of a text may have padding.  So the function first fills up
 * the event before, if that belongs to the same text.
 * used    bytes of to[n - 1] that are used, if the text may continue there; else 0
 * Return  the new n
 */
static unsigned append_text(struct tlg_event *to, unsigned n, unsigned *used, const struct tlg_event *head,
			    const unsigned char *text, unsigned size)
{
	const int is_end = head->flags & TLG_INFO_END;
	int goes_on = *used && tlg_event_type(&to[n - 1]) == TLG_INFO && to[n - 1].sequence == head->sequence;
	unsigned at = goes_on ? *used : TLG_TEXT_SIZE;

	while (is_end && size > 1 && !text[size - 1])
		size--;
	for (unsigned i = 0; i < size; i++, at++) {
		if (at == TLG_TEXT_SIZE) {
			to[n] = *head;
			to[n++].flags = (uint16_t)(head->flags & ~TLG_INFO_END);
			at = 0;
		}
		to[n - 1].u.info.text.c[at] = (char)text[i];
	}
	if (is_end)
		to[n - 1].flags |= TLG_INFO_END;
	*used = is_end ? 0 : at % TLG_TEXT_SIZE;
	return n;
}

/* Decode an event, except the text of an INFO. */
static void decode_one(const struct t2x_layout *layout, const struct t2x_type *type,
		       const unsigned char *entry, struct tlg_event *to)
{
	unsigned flags = get_head(layout, T2X_HEAD_FLAGS, entry);
	unsigned turned = type ? type->native : T2X_NO_TYPE;

	memset(to, 0, sizeof(*to));
	for (unsigned i = 0; i < T2X_FLAGS; i++)
		if (flags & layout->flags[i])
			turned |= native_flags[i];
	to->flags = (uint16_t)(turned | (flags & TLG_CYCLE_MASK));
	to->pid = (uint16_t)get_head(layout, T2X_HEAD_PID, entry);
	to->sequence = get_head(layout, T2X_HEAD_SEQUENCE, entry);
	for (unsigned i = 0; type && i < type->nmembers; i++) {
		const struct t2x_member *member = &type->members[i];
		if (member->native && member->native->kind != TLG_KIND_TEXT)
			tlg_field_set(member->native, to->u.payload,
				      t2x_layout_get(layout, member, layout->payload_offset, entry));
	}
}

unsigned t2x_layout_decode(const struct t2x_layout *layout, const unsigned char *entries, unsigned count,
			   struct tlg_event *to)
{
	unsigned n = 0, used = 0;

	if (layout->is_native) {
		memcpy(to, entries, count * sizeof(*to));
		return count;
	}
	for (unsigned i = 0; i < count; i++) {
		const unsigned char *entry = entries + (size_t)i * layout->entry_size;
		const struct t2x_type *type = t2x_layout_type(layout, entry);
		struct tlg_event event;
		decode_one(layout, type, entry, &event);
		if (type && type->native == TLG_INFO && type->nmembers)
			n = append_text(to, n, &used, &event,
					entry + layout->payload_offset + type->members[0].offset,
					type->members[0].size);
		else
			to[n++] = event;
	}
	return n;
}

const struct t2x_type *t2x_layout_type(const struct t2x_layout *layout, const unsigned char *entry)
{
	return layout->types[get_head(layout, T2X_HEAD_FLAGS, entry) & TLG_TYPE_MASK];
}
