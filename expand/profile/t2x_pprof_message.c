/* SPDX-License-Identifier: MIT */
/* t2x_pprof_message.c - see t2x_pprof_message.h. */
#include "t2x_pprof_message.h"

#include <errno.h>

#include "t2x_deflate.h"

enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { LEVEL = 1 };                     /* of compression: Go's own */

static int write_out(void *target, const char *bytes, size_t n)
{
	struct t2x_pprof_message *message = target;

	if (!message->error)
		message->error = message->write(message->target, bytes, n);
	return message->error;
}

int t2x_pprof_begin(struct t2x_pprof_message *message, t2x_write_fn *write, void *target)
{
	*message = (struct t2x_pprof_message){ .write = write, .target = target };
	message->deflate = t2x_deflate_new(T2X_DEFLATE_GZIP, LEVEL, write_out, message);
	return message->deflate ? 0 : ENOMEM;
}

static void put_field(struct t2x_pprof_message *message)
{
	if (!message->field.error)
		t2x_deflate_put(message->deflate, message->field.bytes, message->field.n);
	message->field.n = 0;
}

void t2x_pprof_number(struct t2x_pprof_message *message, unsigned field, uint64_t value)
{
	t2x_protobuf_uint(&message->field, field, value);
	put_field(message);
}

void t2x_pprof_inner(struct t2x_pprof_message *message, unsigned field)
{
	t2x_protobuf_message(&message->field, field, &message->inner);
	put_field(message);
}

void t2x_pprof_string(struct t2x_pprof_message *message, const char *text, size_t n)
{
	t2x_protobuf_text(&message->field, T2X_PPROF_STRING, text, n);
	put_field(message);
}

void t2x_pprof_type(struct t2x_pprof_message *message, unsigned field, uint64_t type, uint64_t unit)
{
	t2x_protobuf_uint(&message->inner, TYPE_TYPE, type);
	t2x_protobuf_uint(&message->inner, TYPE_UNIT, unit);
	t2x_pprof_inner(message, field);
}

int t2x_pprof_end(struct t2x_pprof_message *message)
{
	int is_short = message->field.error || message->inner.error || message->part.error;

	t2x_deflate_end(message->deflate);
	t2x_deflate_free(message->deflate);
	t2x_bytes_free(&message->field);
	t2x_bytes_free(&message->inner);
	t2x_bytes_free(&message->part);
	return is_short ? ENOMEM : message->error;
}
