/* SPDX-License-Identifier: MIT */
/*
 * t2x_run.h - usual checkpoints of a thread, one behind the other, for writers that add them up.
 *
 * To say of a checkpoint all that a struct t2x_hit says, then a struct t2x_event, costs more than to add it to totals.
 * So a writer that has an `add` (t2x_writer.h) is handed the events of a thread as they lie in their block, with the
 * thread's open regions: a run.  It takes checkpoints from it as long as they are usual:
 *
 *   - region_enter, region_leave, step, or data that is a text or an integer
 *   - right behind it are all of its arguments, and they are those of its kind; messages are passed over
 *   - its scope is known
 *   - nothing is missing in front of it, and it is not older than what precedes it
 *   - the region around it is known, and there is room for one more in it
 *
 * It need not be the next one in time, for other threads do not matter to a sum: what has to be in order goes the long
 * way.  Such a checkpoint changes nothing but what is in the run.  The first one that is not usual, for whatever
 * reason, stays where it is and goes the long way; behind it another run begins.  So the two ways differ in nothing
 * but speed.
 */
#ifndef T2X_RUN_H
#define T2X_RUN_H

#include "tlg.h"
#include "t2x_hit.h"
#include "t2x_regions.h"
#include "base/t2x_clock.h"
#include "base/t2x_map.h"

struct t2x_run {
	/* the front end's.  The checkpoint in front has been taken, and nothing waits for arguments */
	struct t2x_thread *thread;
	const struct t2x_map *scopes;     /* by index: struct t2x_scope */
	struct t2x_clock *clock;
	uint64_t limit_ns;                /* what is younger waits; other threads may have what is older */
	const struct tlg_event *end;      /* of those that are there */
	/* where it stands */
	const struct tlg_event *event;    /* next */
	uint32_t sequence;                /* that this should have */
	uint64_t now_ns;                  /* of the checkpoint in front */
	unsigned hits;                    /* checkpoints taken */
	/* the model's */
	struct t2x_region *regions;       /* see struct t2x_regions ... */
	unsigned open;                    /* ... so many are open */
	unsigned least, room;             /* it is usual that they are least, or up to room - 1 more */
};

/* The next checkpoint of a run. */
struct t2x_usual {
	const struct t2x_scope *scope;
	uint64_t ns;
	unsigned used;                    /* events: itself and its arguments */
};

/* Of events from here on, those of one type and number up to the last of all.  Return  NULL: that is not among them */
static inline const struct tlg_event *
t2x_run_last(const struct tlg_event **event, const struct tlg_event *end, uint32_t sequence, unsigned type)
{
	const struct tlg_event *at = *event;

	for (; at < end && at->sequence == sequence && tlg_event_type(at) == type; at++) {
		if (at->flags & TLG_INFO_END) {
			*event = at + 1;
			return at;
		}
	}
	*event = at;
	return NULL;
}

/* There is room for no more regions than that. */
static inline void t2x_run_limit(struct t2x_run *run, unsigned capacity)
{
	unsigned room = capacity > run->least ? capacity - run->least : 0;

	run->room = run->room < room ? run->room : room;
}

/* Look at the next checkpoint, but for its arguments.  Return  0: there is none, or it is not usual */
static inline __attribute__((always_inline)) int
t2x_run_next(const struct t2x_run *run, struct t2x_usual *usual)
{
	const unsigned unusual = TLG_TYPE_MASK | TLG_HAS_MORE | TLG_RENDERED;
	const struct tlg_event *event = run->event;

	if (event >= run->end || (event->flags & unusual) != TLG_HIT || event->sequence != run->sequence)
		return 0;
	usual->ns = event->u.hit.when ? t2x_clock_ns(run->clock, event->u.hit.when) : run->now_ns;
	usual->scope = t2x_map_get(run->scopes, event->u.hit.scopeIndex);
	if (usual->ns > run->limit_ns || usual->ns < run->now_ns || !usual->scope)
		return 0;
	if (run->open - run->least >= run->room || !run->regions[run->open - 1].ns)
		return 0;
	return 1;
}

/* The arguments of the next checkpoint, as its kind has them: none.  Return  0: these are others, or elsewhere */
static inline int t2x_run_bare(const struct t2x_run *run, struct t2x_usual *usual)
{
	usual->used = 1;
	return !(run->event->flags & TLG_HAS_INFO);
}

/* Likewise: an integer. */
static inline int t2x_run_integer(const struct t2x_run *run, struct t2x_usual *usual, int64_t *integer)
{
	const unsigned all = TLG_TYPE_MASK | TLG_INFO_END, last_value = TLG_VALUE | TLG_INFO_END;
	const struct tlg_event *hit = run->event, *argument = hit + 1;

	if (!(hit->flags & TLG_HAS_INFO) || argument >= run->end || (argument->flags & all) != last_value ||
	    argument->sequence != hit->sequence)
		return 0;
	usual->used = 2;
	*integer = argument->u.value.value;
	return argument->u.value.argtype == TLG_ARG_INT || argument->u.value.argtype == TLG_ARG_UINT;
}

/* Likewise: a text. */
static inline int t2x_run_text(const struct t2x_run *run, struct t2x_usual *usual)
{
	const struct tlg_event *hit = run->event, *behind = hit + 1;

	if (!(hit->flags & TLG_HAS_INFO) || !t2x_run_last(&behind, run->end, hit->sequence, TLG_INFO))
		return 0;
	usual->used = (unsigned)(behind - hit);
	return 1;
}

/* Likewise: a message's, if there is one. */
static inline int t2x_run_message(const struct t2x_run *run, struct t2x_usual *usual)
{
	const struct tlg_event *hit = run->event, *behind = hit + 1;

	if (hit->flags & TLG_HAS_INFO && !t2x_run_last(&behind, run->end, hit->sequence, TLG_VALUE) &&
	    !t2x_run_last(&behind, run->end, hit->sequence, TLG_INFO))
		return 0;
	usual->used = (unsigned)(behind - hit);
	return 1;
}

/* The region of the next checkpoint is entered. */
static inline void t2x_run_enter(struct t2x_run *run, const struct t2x_usual *usual)
{
	run->regions[run->open++] =
		(struct t2x_region){ usual->ns, run->event->u.hit.when, usual->scope };
}

/* The innermost region is left at the next checkpoint.  Return  how long it was; may have wrapped below zero */
static inline uint64_t t2x_run_leave(struct t2x_run *run, const struct t2x_usual *usual)
{
	return usual->ns - run->regions[--run->open].ns;
}

/* The checkpoint is taken. */
static inline void t2x_run_take(struct t2x_run *run, const struct t2x_usual *usual)
{
	run->event += usual->used;
	run->sequence += usual->used;
	run->now_ns = usual->ns;
	run->hits++;
}

#endif
