/* SPDX-License-Identifier: MIT */
/* t2x_raw_frame.h - writes blocks of a stream as LZ4 frames with marks, see FORMAT.md section 7. */
#ifndef T2X_RAW_FRAME_H
#define T2X_RAW_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* Write n bytes.  Return  0 or -errno */
typedef int t2x_raw_write_fn(void *owner, const void *bytes, size_t n);

/* Where the file goes. */
struct t2x_raw_sink {
	t2x_raw_write_fn *write;
	void *owner;
	int error;                /* the first that write() returned; then nothing more is written */
	uint64_t bytes;           /* written so far */
};

struct t2x_raw_frame {
	struct t2x_raw_sink *sink;
	uint32_t stream, number;          /* number: of the last frame */
	unsigned char *plain;
	size_t used, max;
};

void t2x_raw_frame_init(struct t2x_raw_frame *frame, struct t2x_raw_sink *sink, uint32_t stream);
void t2x_raw_frame_free(struct t2x_raw_frame *frame);

/* Add whole blocks.  What goes wrong is in sink->error. */
void t2x_raw_frame_add(struct t2x_raw_frame *frame, const void *blocks, size_t bytes);

/* Write what has been gathered. */
void t2x_raw_frame_flush(struct t2x_raw_frame *frame);

#endif
