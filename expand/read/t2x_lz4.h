/* SPDX-License-Identifier: MIT */
/*
 * t2x_lz4.h - from LZ4 frames to the bytes in them.  The expander's only user of lz4.
 *
 * Our own frames (at most TLG_FRAME_BYTES of content, its size stated) are given out whole, once their
 * checksum is verified.  Other frames, as the lz4 program makes them, are given out in pieces.
 *
 * Behind damage the next mark or frame is looked for.  It may be a text of the traced program, made up to look like
 * one, in the damaged frame.  So it counts only if
 *   1  its mark names a stream whose mark was in its place before;
 *   2  or good frames follow it back to back: up to such a mark, to the end, or for longer than any frame is;
 *   3  or another of its stream lies so far behind it that no frame could hold both.
 * A text cannot do that: behind it come the checksums of its own frame.  (If the file is cut off right behind a text,
 * nobody can tell.)
 */
#ifndef T2X_LZ4_H
#define T2X_LZ4_H

#include "t2x_window.h"
#include "tlg.h"
#include "base/t2x_report.h"

enum {
	T2X_LZ4_SEEN = 256 * 1024,        /* bytes of the file to be seen at once: more than our frames */
	T2X_LZ4_ROOM = TLG_FRAME_BYTES,   /* that t2x_lz4_fill() asks for */
	T2X_LZ4_MARK_BYTES = 24,
	T2X_LZ4_FRAME_MAGIC = 0x184d2204,
};

struct t2x_lz4;

/* A decoder for file, whose name is for messages.  Both outlive it.  Return  NULL: no memory */
struct t2x_lz4 *t2x_lz4_new(struct t2x_window *file, const char *name, struct t2x_report *report);
void t2x_lz4_free(struct t2x_lz4 *lz4);
void t2x_lz4_report_to(struct t2x_lz4 *lz4, struct t2x_report *report);

/* The file goes on elsewhere, at a mark. */
void t2x_lz4_restart(struct t2x_lz4 *lz4);

/* Do these first bytes of a file begin an LZ4 frame, or a mark of ours? */
int t2x_lz4_is_frame(const unsigned char *bytes, size_t n);

/* A whole mark of ours. */
int t2x_lz4_is_mark(const unsigned char *bytes, size_t n);

/* A frame as ours are, of whole blocks.  Return  its bytes; 0: no memory, or they are more than room */
enum { T2X_LZ4_PACKED = TLG_FRAME_BYTES + 4096 };
size_t t2x_lz4_pack(void *to, size_t room, const void *plain, size_t n);

/* Do frames with marks follow that count, as above?  Then it is an LZ4 file, whatever its beginning is. */
int t2x_lz4_is_ahead(struct t2x_lz4 *lz4);

/* The t2x_fill_fn that a window on the plain bytes uses; source is the decoder.  0 also before a break. */
ssize_t t2x_lz4_fill(void *source, unsigned char *to, size_t room);

/* 1: the bytes end here because of damage, which has been reported; calling fill again goes on behind it. */
int t2x_lz4_is_break(const struct t2x_lz4 *lz4);

/* The id of the stream to which the latest frame belongs, as its mark says; 0: not known. */
uint32_t t2x_lz4_stream(const struct t2x_lz4 *lz4);

#endif
