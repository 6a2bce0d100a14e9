/* SPDX-License-Identifier: MIT */
/*
 * t2x_unpack.h - a packed block as the plain one that its writer could have written instead.
 */
#ifndef T2X_UNPACK_H
#define T2X_UNPACK_H

#include "t2x_layout.h"

/* 1 if events of this layout can have been packed: those of ours, also when a document describes them. */
int t2x_unpack_is_for(const struct t2x_layout *layout);

/*
 * Unpack a block of such a layout.
 * head    its BLOCK event, native      raw, bytes  the whole block as it is in the file
 * to      room for BLOCK and head's count of events; the events get the writer's byte order, BLOCK stays as it is
 * Return  0: what is behind BLOCK are no packed events
 */
int t2x_unpack(const struct t2x_layout *layout, const struct tlg_event *head, const unsigned char *raw, size_t bytes,
	       struct tlg_event *to);

/* Of a block that was unpacked so, make BLOCK what it would be for a plain one of this stream. */
void t2x_unpack_seal(const struct t2x_layout *layout, struct tlg_event *block, unsigned count, uint32_t stream);

#endif
