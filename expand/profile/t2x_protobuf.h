/* SPDX-License-Identifier: MIT */
/* t2x_protobuf.h - messages of protocol buffers: varints, fixed numbers, bytes, messages within messages. */
#ifndef T2X_PROTOBUF_H
#define T2X_PROTOBUF_H

#include "t2x_bytes.h"

/* A number that is 0 is left out, as proto3 has it; of a repeated field it is not. */
void t2x_protobuf_uint(struct t2x_bytes *message, unsigned field, uint64_t value);
void t2x_protobuf_each(struct t2x_bytes *message, unsigned field, uint64_t value);

/* A fixed64, little-endian. */
void t2x_protobuf_fixed(struct t2x_bytes *message, unsigned field, uint64_t value);

/* Bytes; a text of which bytes that are no UTF-8 become U+FFFD. */
void t2x_protobuf_bytes(struct t2x_bytes *message, unsigned field, const void *bytes, size_t n);
void t2x_protobuf_text(struct t2x_bytes *message, unsigned field, const char *text, size_t n);

/* A varint alone: a part of a packed field. */
void t2x_protobuf_packed(struct t2x_bytes *values, uint64_t value);

/* Another message, which is emptied. */
void t2x_protobuf_message(struct t2x_bytes *message, unsigned field, struct t2x_bytes *inner);

#endif
