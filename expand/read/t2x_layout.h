/* SPDX-License-Identifier: MIT */
/*
 * t2x_layout.h - the layout of events in a file: that of this machine, of one with the other byte order, or of a
 * platform that a --show_format document describes.  Decodes foreign events into native ones.
 */
#ifndef T2X_LAYOUT_H
#define T2X_LAYOUT_H

#include "tlg_desc.h"

enum {
	T2X_MAX_MEMBERS = 16,             /* of a type */
	T2X_MAX_ENTRY = 255,              /* bytes of an event: PROLOGUE.entry_size has 8 bits */
	T2X_MAX_SPLIT = 16,               /* native events that one foreign one can become */
	T2X_STACKTRACK_VERSION = 0x0100,
};

struct t2x_member {
	char *name;
	const struct tlg_field_desc *native;   /* the member of ours with this name, or NULL */
	uint8_t offset;                        /* in the payload; of header members, in the event */
	uint8_t size;                          /* bytes: 1, 2, 4, 8; any for text */
	uint8_t is_signed;
	uint8_t kind;                          /* enum tlg_kind */
};

struct t2x_type {
	char *uname;
	uint8_t native;                        /* type id of ours; T2X_NO_TYPE if we have none of this name */
	unsigned nmembers;
	struct t2x_member members[T2X_MAX_MEMBERS];
};
enum { T2X_NO_TYPE = 0xfe };                   /* an id that no type will ever have */

enum { T2X_HEAD_FLAGS, T2X_HEAD_PID, T2X_HEAD_SEQUENCE, T2X_HEAD_MEMBERS };
enum { T2X_FLAG_HAS_INFO, T2X_FLAG_INFO_END, T2X_FLAG_HAS_MORE, T2X_FLAG_RENDERED, T2X_FLAGS };

struct t2x_layout {
	unsigned version;                      /* as in PROLOGUE */
	unsigned entry_size, payload_offset, payload_size;
	int little_endian;
	int is_native;                         /* events need no decoding */
	int is_foreign;                        /* a document describes it */
	unsigned text_size;                    /* bytes of text in an INFO */
	unsigned split;                        /* native events that one event can become */
	struct t2x_member head[T2X_HEAD_MEMBERS];
	uint16_t flags[T2X_FLAGS];             /* which bits of the flags word these are */
	struct t2x_type *types[256];           /* by id in the file; NULL: no such type */
	const struct t2x_type *block;          /* BLOCK; NULL: such files have no blocks */
	unsigned magic_at, crc_at;             /* offsets of BLOCK.magic and BLOCK.crc in the event */
	unsigned char magic[2];                /* bytes of BLOCK.magic in the file */
};

/*
 * The layout of FORMAT.md, in this byte order.
 * Return  0 or -ENOMEM
 */
int t2x_layout_init(struct t2x_layout *layout, int little_endian);

/* The same, cached: the first call makes it.  One thread only.  Return  NULL: no memory */
const struct t2x_layout *t2x_layout_native(int little_endian);

/*
 * The layout that a --show_format document describes, n bytes of XML.
 * why  when it fails: the reason, in words, valid until the next call
 * Return  0, -ENOMEM, -EINVAL (why says what is wrong with the document)
 */
int t2x_layout_parse(struct t2x_layout *layout, const char *xml, size_t n, const char **why);

void t2x_layout_free(struct t2x_layout *layout);

/*
 * Check a layout that has been filled in, and derive its other members.
 * Return  NULL, or what is wrong
 */
const char *t2x_layout_finish(struct t2x_layout *layout);

/* Set a member of a type, or of the head if type is NULL.  type_name: "hitime_t".  Return  0 or -ENOMEM */
int t2x_layout_set_member(struct t2x_member *member, const struct t2x_type *type, const char *name,
			  const char *type_name);

/* A new type.  Return  NULL: no memory */
struct t2x_type *t2x_layout_add_type(struct t2x_layout *layout, unsigned id, const char *uname);

/* The member of an event in the file, sign-extended.  Not for text. */
int64_t t2x_layout_get(const struct t2x_layout *layout, const struct t2x_member *member, unsigned base,
		       const unsigned char *entry);

/* The type of an event in the file, or NULL. */
const struct t2x_type *t2x_layout_type(const struct t2x_layout *layout, const unsigned char *entry);

/*
 * Decode count events of the file into native ones.
 * to      room for count * layout->split events
 * Return  the number of native events: a text longer than 16 bytes becomes several
 */
unsigned t2x_layout_decode(const struct t2x_layout *layout, const unsigned char *entries, unsigned count,
			   struct tlg_event *to);

#endif
