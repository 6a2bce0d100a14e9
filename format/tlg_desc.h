/* SPDX-License-Identifier: MIT */
/*
 * tlg_desc.h - the event table at run time: names, sizes, offsets and meanings of all types and members.  The XML
 * writer, --show_format, the decoder of foreign layouts and the tests read it.
 */
#ifndef TLG_DESC_H
#define TLG_DESC_H

#include "tlg.h"

enum tlg_kind { TLG_KIND_DEC, TLG_KIND_HEX, TLG_KIND_TICKS, TLG_KIND_RATE, TLG_KIND_TEXT };

struct tlg_field_desc {
	const char *name;
	const char *type;      /* StackTrack's type name, "hitime_t" */
	const char *desc;
	uint8_t offset;        /* in the payload, bytes */
	uint8_t size;          /* bytes: 1, 2, 4, 8, or 16 for text */
	uint8_t is_signed;
	uint8_t kind;          /* enum tlg_kind */
};

/* struct tlg_type_desc.text: "HIT", "hit", the meaning of the text behind it ("~": none), the description. */
enum { TLG_DESC_UNAME, TLG_DESC_NAME, TLG_DESC_FOLLOWEDBY, TLG_DESC_DESC };

struct tlg_type_desc {
	const char *const *text;
	const struct tlg_field_desc *fields;
	uint8_t id;
	uint8_t nfields;
	uint8_t size;          /* bytes of the payload that the members fill */
};

struct tlg_style_desc {
	const char *name;      /* the Trace2 event name: "region_enter" */
	const char *args;      /* see tlg_styles.def */
	const char *desc;
};

enum { TLG_MAX_FIELDS = 8 };

/* The number of types, and the i-th one in the order of ids. */
unsigned tlg_type_count(void);
const struct tlg_type_desc *tlg_type_at(unsigned i);

/* The type with this id, or NULL.  Signal-safe. */
const struct tlg_type_desc *tlg_type_by_id(unsigned id);

/* The type with this upper-case name ("HIT"), or NULL. */
const struct tlg_type_desc *tlg_type_by_uname(const char *uname);

/* The Trace2 event kind, or NULL for an unknown one. */
const struct tlg_style_desc *tlg_style_by_id(unsigned id);

/* By a style's id: the letter of its only argument; 0 if it has none, several or a list, or if there is no style. */
extern const char tlg_style_only[UINT8_MAX + 1];

/* A LOSS.reason in words; "unknown" for others. */
const char *tlg_loss_name(unsigned reason);

/* One member's value from a payload in native order, sign-extended to 64 bits.  Not for TEXT. */
int64_t tlg_field_get(const struct tlg_field_desc *f, const void *payload);

/* Store a value into a native payload, truncated to the member's size. */
void tlg_field_set(const struct tlg_field_desc *f, void *payload, int64_t value);

#endif
