/* SPDX-License-Identifier: MIT */
/*
 * t2x_frames.h - the distinct names of regions, a frame for each category and label: what a stack is made of.
 *
 * A scope may be freed before the region that was entered with it is left, and several scopes may have the same names.
 * So a span refers to a frame, which stays until the end.
 *
 * A writer that makes stacks of frames needs all frames at the end: names that do not fit into max_bytes share one
 * frame, "other names", and are counted.  Other writers forget the frames that no span refers to; the rest may still
 * be too much.  A writer that can do without the text of a frame gets it only while all frames take up to half of
 * max_bytes.
 */
#ifndef T2X_FRAMES_H
#define T2X_FRAMES_H

#include "t2x_index.h"
#include "model/t2x_hit.h"

enum { T2X_FRAMES_CACHED = 2048, T2X_FRAMES_BYTES = 12 * 1024 * 1024 };

struct t2x_frame {
	uint32_t number;                  /* from 1 up, without a gap, in the order of their first use */
	const char *category;             /* "": there is none */
	const char *label;                /* if the scope has none: its category; if there is none either: "?" */
	const char *file;                 /* of the scope that came first; "": not known */
	int line;
	uint64_t first_ns;                /* when it came, if the owner says that ... */
	uint32_t stream, tid;             /* ... and of whom */
	char *other_file;                 /* what file points to, if it came from elsewhere */
	uint32_t hash;                    /* of the names */
	int is_used;                      /* while others are forgotten: this one is not */
	unsigned length;                  /* of text */
	char *text;                       /* what the writer makes of the names; NULL: it can do without */
};

/* Lays out the names as the format has them, once for each frame.  Return  malloc'ed; NULL: no memory */
typedef char *t2x_frame_text_fn(const struct t2x_frame *frame, unsigned *length);

struct t2x_frames {
	struct t2x_frame **frames;        /* by number - 1 */
	uint32_t count, max;
	t2x_frame_text_fn *make_text;     /* NULL: no text */
	int spares_texts;                 /* the writer can do without a frame's text */
	size_t bytes, max_bytes;          /* that they take; 0: as many as there are */
	uint64_t others;                  /* names for which there was no room, each as often as it was looked for */
	size_t refused;                   /* bytes of them, since frames were forgotten */
	/* Of a profile that may be joined with others, which of several places came first matters: */
	const struct t2x_thread *thread;  /* whose frames come ... */
	uint64_t now_ns;                  /* ... and when: no earlier than those before.  NULL: it does not matter */
	int needs_order;                  /* frames were joined whose places differ: the first is that in time ... */
	int is_ambiguous;                 /* ... and nobody knows which that is */
	struct t2x_index index;
	struct { uint64_t scope; struct t2x_frame *frame; } cache[T2X_FRAMES_CACHED];
};

/* As t2x_frames_of() for a scope that is not in the cache. */
const struct t2x_frame *t2x_frames_find(struct t2x_frames *frames, const struct t2x_scope *scope);

/* The frame of a scope that came before, as most have.  Return  NULL: it has to be looked for */
static inline const struct t2x_frame *t2x_frames_cached(const struct t2x_frames *frames, const struct t2x_scope *scope)
{
	unsigned at = scope->number % T2X_FRAMES_CACHED;

	return scope->number && frames->cache[at].scope == scope->number ? frames->cache[at].frame : NULL;
}

/* The frame of a scope's names.  Return  NULL: no memory */
static inline const struct t2x_frame *t2x_frames_of(struct t2x_frames *frames, const struct t2x_scope *scope)
{
	const struct t2x_frame *frame = t2x_frames_cached(frames, scope);

	return frame ? frame : t2x_frames_find(frames, scope);
}

/*
 * That of the same names as a frame of another table; its place is that of the one that came first.
 * Return  NULL: no memory
 */
const struct t2x_frame *t2x_frames_join(struct t2x_frames *frames, const struct t2x_frame *other);

/* Forget all that are not marked as used, and take the marks away.  Numbers change.  Return  0: no memory for that */
int t2x_frames_forget_unused(struct t2x_frames *frames);

void t2x_frames_free(struct t2x_frames *frames);

#endif
