/* SPDX-License-Identifier: MIT */
/*
 * t2x_html_block.h - a block of data in a page: a script element that is not run, with deflated bytes as base64.
 *
 * A browser inflates by itself (DecompressionStream), and a page that is a file can load nothing from beside it.
 */
#ifndef T2X_HTML_BLOCK_H
#define T2X_HTML_BLOCK_H

#include <stdint.h>

#include "base/t2x_out.h"

struct t2x_html_block;

/* Blocks go to out.  Return  NULL: no memory */
struct t2x_html_block *t2x_html_block_new(struct t2x_out *out);
void t2x_html_block_free(struct t2x_html_block *block);

/* One block after the other, each with any number of bytes.  kind is what the page asks for it by. */
void t2x_html_block_begin(struct t2x_html_block *block, const char *kind);
void t2x_html_block_put(struct t2x_html_block *block, const void *bytes, size_t n);
void t2x_html_block_end(struct t2x_html_block *block);

#endif
