/* SPDX-License-Identifier: MIT */
/* t2x_deflate.h - bytes deflated as they come, by zlib. */
#ifndef T2X_DEFLATE_H
#define T2X_DEFLATE_H

#include "base/t2x_out.h"

enum t2x_deflate_form { T2X_DEFLATE_ZLIB, T2X_DEFLATE_GZIP };

/* What is written at a time, but for the last: a multiple of three, so that base64 needs no padding within. */
enum { T2X_DEFLATE_BYTES = 48 * 1024 };

struct t2x_deflate;

/* Deflated bytes go to write.  level  1 to 9, as zlib's.  Return  NULL: no memory */
struct t2x_deflate *t2x_deflate_new(enum t2x_deflate_form form, int level, t2x_write_fn *write, void *target);
void t2x_deflate_free(struct t2x_deflate *deflate);

/* Errors are the target's to remember. */
void t2x_deflate_put(struct t2x_deflate *deflate, const void *bytes, size_t n);

/* End what was begun with the first put; the next one begins anew. */
void t2x_deflate_end(struct t2x_deflate *deflate);

#endif
