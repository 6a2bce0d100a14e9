/* SPDX-License-Identifier: MIT */
/* tr2_track.c - see tr2_track.h. */
#include "tr2_track.h"

#include <string.h>

#include "tlg_chain.h"
#include "base/tr2_clock.h"
#include "base/tr2_memory.h"
#include "ring/tr2_scope.h"
#include "ring/tr2_shm.h"

struct tr2_track *tr2_track_of(struct tr2_thread *thread)
{
	if (!thread->reader.track)
		thread->reader.track = tr2_memory_acquire(sizeof(struct tr2_track));
	return thread->reader.track;
}

/* ---- whose events ------------------------------------------------------------------------------- */

/* From here on the events are this thread's: numbers start afresh, no region is open. */
static void begin_thread(struct tr2_track *track, uint32_t tid, uint32_t ostid, uint64_t start)
{
	track->tid = tid;
	track->ostid = ostid;
	track->start = track->last_when = start;
	track->position = 0;
	track->cycle = 0;
	track->depth = track->is_below_root = track->missing = track->assumed = 0;
	memset(track->name, 0, sizeof(track->name));
}

/* The thread was only renamed: its sequence numbers go on, and so do its regions, which are not announced again. */
static int is_renamed(const struct tr2_track *track, const struct tlg_announce *announce)
{
	return track->start && track->start == announce->start && track->tid == announce->tid &&
	       track->ostid == announce->ostid && !announce->nopen;
}

static void meet_announced(struct tr2_track *track, const struct tlg_announce *announce, const struct tlg_event *events)
{
	if (is_renamed(track, announce)) {
		memcpy(track->name, announce->name, sizeof(track->name));
		track->cycle = 0;
		return;
	}
	begin_thread(track, announce->tid, announce->ostid, announce->start);
	memcpy(track->name, announce->name, sizeof(track->name));
	for (unsigned i = 0; i < announce->nopen; i++) {
		uint64_t enter = tlg_announce_enter(events, i);
		if (!i && !enter)
			track->is_below_root = 1;
		else if (enter == TLG_OPEN_ASSUMED)
			track->assumed = track->depth + 1;
		else
			tr2_track_enter(track, enter, 0);
	}
}

void tr2_track_meet_thread(struct tr2_track *track, const struct tr2_chain *chain)
{
	struct tlg_announce announce;

	tlg_announce_read(&announce, chain->events, chain->count);
	meet_announced(track, &announce, chain->events);
}

int tr2_track_change_thread(struct tr2_thread *thread, struct tr2_track *track, const struct tr2_chain *chain)
{
	struct tlg_announce announce;
	int is_same;

	tlg_announce_read(&announce, chain->events, chain->count);
	is_same = is_renamed(track, &announce);
	if (!is_same && announce.lost_events > thread->reader.seen_events)
		thread->reader.seen_events = announce.lost_events;
	meet_announced(track, &announce, chain->events);
	tr2_track_skip_missing(track, tr2_ring_lost(&thread->reader, 0));   /* its own: those before it got in */
	return !is_same;
}

void tr2_track_check_thread(struct tr2_track *track, uint32_t tid)
{
	if (track->tid == tid && track->start)
		return;
	begin_thread(track, tid, 0, tr2_clock_start());
	track->name[0] = '?';
}

/* ---- what is missing ---------------------------------------------------------------------------- */

void tr2_track_skip_missing(struct tr2_track *track, uint64_t events)
{
	track->position += (uint32_t)events;
	track->missing += (uint32_t)events;
}

void tr2_track_count_missing(struct tr2_thread *thread, struct tr2_track *track, const struct tr2_chain *chain)
{
	if ((chain->is_first || chain->skipped) && tlg_event_type(chain->events) != TLG_THREAD)
		tr2_track_skip_missing(track, tr2_ring_lost(&thread->reader, 0));
}

void tr2_track_assume_missing(struct tr2_track *track)
{
	unsigned sure = 0, known = tr2_track_known_regions(track);

	if (!track->missing)
		return;
	while (sure < known && track->open[sure].when != TLG_OPEN_LOST)
		sure++;
	track->depth = sure < known ? sure : track->depth;
	track->assumed = track->depth + 1;
	track->missing = 0;
}

void tr2_track_follow_gap(struct tr2_track *track, const struct tlg_gap *gap)
{
	unsigned left = gap->left < track->depth ? gap->left : track->depth;

	if (gap->left == TLG_GAP_UNKNOWN)
		return;
	track->missing -= gap->events < track->missing ? gap->events : track->missing;
	track->is_below_root |= gap->left > left && !track->assumed;
	track->depth -= left;
	if (tr2_track_is_assumed(track))
		track->assumed = track->depth + 1;
	for (unsigned i = 0; i < gap->entered; i++)
		tr2_track_enter(track, TLG_OPEN_LOST, 0);
}

/* ---- regions ------------------------------------------------------------------------------------ */

int tr2_track_open_region(const struct tr2_track *track, unsigned at, unsigned max, struct tlg_open *open)
{
	const uint32_t assumed = track->missing ? track->depth + 1 : track->assumed;
	unsigned known = tr2_track_known_regions(track), extra = track->is_below_root + (assumed != 0), mark;

	*open = (struct tlg_open){ .tid = track->tid };
	known = known < max - extra ? known : max - extra;
	mark = assumed && assumed <= known ? assumed - 1 : known;
	if (at >= known + extra)
		return 0;
	if (track->is_below_root && !at--)
		return 1;
	if (assumed && at == mark) {
		open->when = TLG_OPEN_ASSUMED;
		return 1;
	}
	at -= assumed && at > mark;
	open->when = track->open[at].when;
	open->scopeIndex = track->open[at].scope;
	return 1;
}

/* Bytes of category and label among the names of a scope. */
static size_t name_bytes(const struct tlg_ring_scope *scope)
{
	const char *text = tr2_shm_text(scope->text);
	unsigned names = (scope->names & TLG_NAME_CATEGORY ? 1 : 0) + (scope->names & TLG_NAME_LABEL ? 1 : 0);
	size_t n = 0;

	for (; names; names--)
		n += strlen(text + n) + 1;
	return n;
}

/* Is what is entered, or left, at the one scope what was entered at the other? */
static int is_same_region(uint32_t one, uint32_t other)
{
	const unsigned both = TLG_NAME_CATEGORY | TLG_NAME_LABEL;
	const struct tlg_ring_scope *a = tr2_scope_get(one), *b = tr2_scope_get(other);
	size_t n = a && b ? name_bytes(a) : 0;

	return n && a->repo == b->repo && (a->names & both) == (b->names & both) && n == name_bytes(b) &&
	       !memcmp(tr2_shm_text(a->text), tr2_shm_text(b->text), n);
}

/* The same repair as in t2x_regions.h: so a cycle repeats what a reader of the whole file knows. */
void tr2_track_repair(struct tr2_track *track, const struct tlg_hit *hit, unsigned style)
{
	unsigned at = tr2_track_known_regions(track);

	while (at && !is_same_region(track->open[at - 1].scope, hit->scopeIndex))
		at--;
	if (at)
		track->depth = at - 1;
	else if (style == TLG_STYLE_region_leave)
		track->depth = 0;
	track->assumed = track->depth + 1;
	if (style == TLG_STYLE_region_enter)
		tr2_track_enter(track, hit->when, hit->scopeIndex);
}

/*
 * Regions that are deeper than the known ones are taken to be left.  If the scope table is full, the mark lies behind a
 * definition: nobody looks for it there, and what is open is only assumed to be.
 */
void tr2_track_unwind_to(struct tr2_track *track, const struct tlg_event *events, unsigned count)
{
	const int is_there = count == 2 && events->u.hit.scopeIndex && tlg_event_type(&events[1]) == TLG_VALUE;
	const uint64_t mark = is_there ? (uint64_t)events[1].u.value.value : 0;

	if (!is_there) {
		track->assumed = track->depth + 1;
		return;
	}
	track->depth = tr2_track_known_regions(track);
	while (track->depth && track->open[track->depth - 1].when >= mark)
		track->depth--;
	if (tr2_track_is_assumed(track))
		track->assumed = track->depth + 1;
}

unsigned tr2_track_style(const struct tlg_ring_scope *scope, const struct tlg_event *events, unsigned count)
{
	if (scope)
		return scope->style;
	return count > 1 && !events->u.hit.scopeIndex ? (unsigned)events[1].u.value.value : 0;
}

/* ---- passing over ------------------------------------------------------------------------------- */

unsigned tr2_track_skip(struct tr2_track *track, const struct tlg_event *events, unsigned n)
{
	unsigned at = 0, count;

	tr2_track_assume_missing(track);
	for (; at < n; at += count) {
		const struct tlg_hit *hit = &events[at].u.hit;
		if (hit->tid != track->tid)
			break;
		count = tlg_chain_length(&events[at], n - at);
		if (hit->when)
			track->last_when = hit->when;
		if (tlg_event_type(&events[at]) != TLG_HIT)
			continue;
		track->overwritten++;
		tr2_track_follow(track, &events[at], count,
				 tr2_track_style(tr2_scope_get(hit->scopeIndex), &events[at], count));
	}
	track->position += at;
	return at;
}
