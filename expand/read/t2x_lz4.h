/* SPDX-License-Identifier: MIT */
/*
 * t2x_lz4.h - decompresses LZ4 frames.  All that t2expand reads of LZ4 goes through it.
 *
 * Our own frames state the size of their content, at most TLG_FRAME_BYTES.  The decoder delivers such a frame whole,
 * after it has verified its checksum.  Other frames, as the lz4 program makes them, are delivered in pieces.
 *
 * Behind damage the decoder searches for the next mark or frame.  What it finds may be a text of the traced program
 * that only looks like one and lies in the damaged frame.  So it counts only if
 *   1  its mark names a stream of which a mark was found where a frame begins before;
 *   2  or good frames follow it back to back: up to such a mark, to the end, or for longer than any frame is;
 *   3  or another frame of its stream lies so far behind it that no frame could hold both.
 * A text cannot meet these conditions: the checksums of its own frame follow it.  (Nobody can tell if the file is cut
 * off right behind a text.)
 */
#ifndef T2X_LZ4_H
#define T2X_LZ4_H

#include "t2x_window.h"
#include "tlg.h"
#include "base/t2x_report.h"

enum {
	T2X_LZ4_SEEN = 256 * 1024,        /* bytes that the file's window must have: more than our frames */
	T2X_LZ4_ROOM = TLG_FRAME_BYTES,   /* the least room for t2x_lz4_fill() */
	T2X_LZ4_MARK_BYTES = 24,
	T2X_LZ4_FRAME_MAGIC = 0x184d2204,
};

struct t2x_lz4;

/* A decoder for file; messages use name.  Both outlive the decoder.  Return  NULL: no memory */
struct t2x_lz4 *t2x_lz4_new(struct t2x_window *file, const char *name, struct t2x_report *report);
void t2x_lz4_free(struct t2x_lz4 *lz4);
void t2x_lz4_report_to(struct t2x_lz4 *lz4, const char *name, struct t2x_report *report);

/* The file's window has been moved to another place, at a mark, where the plain bytes have this offset. */
void t2x_lz4_restart(struct t2x_lz4 *lz4, uint64_t plain);

/*
 * Free what only decoding needs, until t2x_lz4_restore().
 * unread  bytes that t2x_lz4_fill() has made and that it has to make again then
 * *at     offset at which the file has to continue: that of a frame in front of them, or where it stands
 * *again  how many bytes, which have been read, come before them
 * Return  0: there is damage, or a frame that is not ours; nothing was done
 */
int t2x_lz4_park(struct t2x_lz4 *lz4, size_t unread, uint64_t *at, size_t *again);

/* Return  0 or -ENOMEM */
int t2x_lz4_restore(struct t2x_lz4 *lz4);

/* Return  1: these first bytes of a file begin an LZ4 frame, or a mark of ours */
int t2x_lz4_is_frame(const unsigned char *bytes, size_t n);

/* Return  1: the bytes begin with a whole mark of ours */
int t2x_lz4_is_mark(const unsigned char *bytes, size_t n);

/* Compress whole blocks into a frame like ours.  Return  its bytes; 0: no memory, or it is longer than room */
enum { T2X_LZ4_PACKED = TLG_FRAME_BYTES + 4096 };
size_t t2x_lz4_pack(void *to, size_t room, const void *plain, size_t n);

/* Return  1: frames with marks follow that count, as above, so this is an LZ4 file, whatever its beginning is */
int t2x_lz4_is_ahead(struct t2x_lz4 *lz4);

/* The t2x_fill_fn for a window on the plain bytes; source is the decoder.  It returns 0 also in front of a break. */
ssize_t t2x_lz4_fill(void *source, unsigned char *to, size_t room);

/* Return  1: t2x_lz4_fill() ended because of damage, which it has reported; the next call continues behind it */
int t2x_lz4_is_break(const struct t2x_lz4 *lz4);

/*
 * The frame that the end of the file cuts off.  Its process died while it wrote, and may have all of it elsewhere.  So
 * the caller may judge it: from now on it is not reported as T2X_LZ4_CUT, but filled in here.
 */
struct t2x_lz4_cut {
	int is_there;
	uint32_t stream;                  /* as its mark says; 0: not known */
	uint64_t at;                      /* its offset in the file */
};
#define T2X_LZ4_CUT "LZ4 frame cut off by the end of the file"
void t2x_lz4_defer_cut(struct t2x_lz4 *lz4, struct t2x_lz4_cut *cut);

/* The id of the stream to which the latest frame belongs, as its mark says; 0: not known. */
uint32_t t2x_lz4_stream(const struct t2x_lz4 *lz4);

#endif
