/* SPDX-License-Identifier: MIT */
/* t2x_deflate.c - see t2x_deflate.h. */
#include "t2x_deflate.h"

#include <limits.h>
#include <zlib.h>

#include "base/t2x_memory.h"

enum { WINDOW_BITS = 15, GZIP_BITS = 16, MEMORY_LEVEL = 8 };

struct t2x_deflate {
	t2x_write_fn *write;
	void *target;
	z_stream stream;
	unsigned char out[T2X_DEFLATE_BYTES];
};

static void start_buffer(struct t2x_deflate *d)
{
	d->stream.next_out = d->out;
	d->stream.avail_out = T2X_DEFLATE_BYTES;
}

static void write_out(struct t2x_deflate *d)
{
	d->write(d->target, (const char *)d->out, T2X_DEFLATE_BYTES - d->stream.avail_out);
	start_buffer(d);
}

struct t2x_deflate *t2x_deflate_new(enum t2x_deflate_form form, int level, t2x_write_fn *write, void *target)
{
	struct t2x_deflate *d = t2x_calloc(1, sizeof(*d));
	int bits = WINDOW_BITS + (form == T2X_DEFLATE_GZIP ? GZIP_BITS : 0);

	if (!d)
		return NULL;
	d->write = write;
	d->target = target;
	if (deflateInit2(&d->stream, level, Z_DEFLATED, bits, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		t2x_free(d);
		return NULL;
	}
	start_buffer(d);
	return d;
}

void t2x_deflate_free(struct t2x_deflate *d)
{
	if (d)
		deflateEnd(&d->stream);
	t2x_free(d);
}

void t2x_deflate_put(struct t2x_deflate *d, const void *bytes, size_t n)
{
	z_stream *stream = &d->stream;

	stream->next_in = (unsigned char *)bytes;   /* zlib only reads it, but its type does not say so */
	while (n) {
		unsigned part = n < UINT_MAX ? (unsigned)n : UINT_MAX;

		for (stream->avail_in = part; stream->avail_in;) {
			deflate(stream, Z_NO_FLUSH);
			if (!stream->avail_out)
				write_out(d);
		}
		n -= part;
	}
}

void t2x_deflate_end(struct t2x_deflate *d)
{
	while (deflate(&d->stream, Z_FINISH) != Z_STREAM_END)
		write_out(d);
	write_out(d);
	deflateReset(&d->stream);
}
