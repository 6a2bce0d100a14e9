/* SPDX-License-Identifier: MIT */
/* t2x_tracks.c - see t2x_tracks.h. */
#include "t2x_tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t2x_tracks_private.h"
#include "base/t2x_report.h"

enum {
	FIRST_SPANS = 1,                /* most of very many threads have no regions */
	MAX_SPANS = 65536,              /* of a thread: deeper regions have none */
};

const struct t2x_frame t2x_thread_frame = { .category = "trace2", .label = "thread", .file = "" };

/* ---- spans -------------------------------------------------------------------------------------- */

/* The innermost span ends. */
static void end_innermost(struct t2x_tracks *tracks, struct t2x_track *track, uint64_t ns, enum t2x_span_end end)
{
	struct t2x_span *span = &track->spans[--track->open];

	span->end_ns = ns > span->start_ns ? ns : span->start_ns;
	if (track->at_once < span->after)
		track->at_once = span->after;
	if (!span->frame && tracks->end_unseen) {
		tracks->end_unseen(tracks->printer, track, span, track->open, end);
		return;
	}
	if (span->frame)
		tracks->end_span(tracks->printer, track, span, track->open, end);
	track->at_once++;
	if (track->open)
		span[-1].inner_ns += span->frame && t2x_span_is_exact(end) ? span->end_ns - span->start_ns :
				     span->inner_ns;
	free(span->message);
	span->message = NULL;
}

/* All but the outermost, the thread's own level among them, end. */
static void end_down_to(struct t2x_tracks *tracks, struct t2x_track *track, uint32_t open, uint64_t ns,
			enum t2x_span_end end)
{
	while (track->open > open)
		end_innermost(tracks, track, ns, end);
}

int t2x_tracks_make_room(struct t2x_track *track, uint32_t open)
{
	uint32_t max = track->max ? track->max : FIRST_SPANS;
	struct t2x_span *spans;

	if (open <= track->max)
		return 1;
	while (max < open && max < MAX_SPANS)
		max *= 2;
	spans = max >= open ? realloc(track->spans, max * sizeof(spans[0])) : NULL;
	if (!spans)
		return 0;
	track->spans = spans;
	track->max = max;
	return 1;
}

/* What is open around and was not seen to be entered has a place, and no frame. */
static int fill_up_to(struct t2x_track *track, uint32_t open)
{
	if (!t2x_tracks_make_room(track, open))
		return 0;
	while (track->open < open)
		track->spans[track->open++] = (struct t2x_span){ .frame = NULL };
	return 1;
}

static struct t2x_track_process *process_at(const struct t2x_tracks *tracks, uint32_t i)
{
	return t2x_map_at(&tracks->processes, i);
}

/* Of frames that are not const the tracks are the owner. */
static void mark_frames(const struct t2x_track *track)
{
	for (uint32_t i = 0; i < track->open; i++)
		if (track->spans[i].frame && track->spans[i].frame->number)
			((struct t2x_frame *)(uintptr_t)track->spans[i].frame)->is_used = 1;
}

/* Next time when there are twice as many bytes: so what it costs is in proportion to the names that come. */
static __attribute__((noinline)) void forget_frames(struct t2x_tracks *tracks)
{
	for (const struct t2x_track *track = tracks->oldest; track; track = track->newer)
		mark_frames(track);
	t2x_frames_forget_unused(&tracks->frames);
	tracks->frames_next = 2 * tracks->frames.bytes;
}

static void enter(struct t2x_tracks *tracks, struct t2x_track *track, const struct t2x_event *ev)
{
	const struct t2x_frame *frame = t2x_frames_of(&tracks->frames, ev->scope);
	struct t2x_span *span;

	if (!fill_up_to(track, ev->open) || !t2x_tracks_make_room(track, ev->open + 1))
		return;
	span = &track->spans[track->open++];
	*span = (struct t2x_span){ .frame = frame, .start_ns = ev->ns, .after = track->at_once++ };
	if (!tracks->keeps_messages || !ev->message)
		return;
	span->message = malloc(ev->message_length + 1);
	if (!span->message)
		return;
	memcpy(span->message, ev->message, ev->message_length);
	span->message_length = (uint32_t)ev->message_length;
}

/* A leave whose enter has no span: the model may know its time nevertheless. */
static void leave_unseen(struct t2x_tracks *tracks, struct t2x_track *track, const struct t2x_event *ev)
{
	struct t2x_span span = { .frame = t2x_frames_of(&tracks->frames, ev->scope), .end_ns = ev->ns };
	enum t2x_span_end end = ev->rel_ns == T2X_NO_TIME || !ev->rel_ns ? T2X_SPAN_UNSEEN : T2X_SPAN_LEFT;

	if (end == T2X_SPAN_LEFT)
		span.start_ns = ev->ns - ev->rel_ns;
	if (span.frame)
		tracks->end_span(tracks->printer, track, &span, ev->open, end);
}

static void leave(struct t2x_tracks *tracks, struct t2x_track *track, const struct t2x_event *ev)
{
	enum t2x_span_end end = ev->rel_ns == T2X_NO_TIME ? T2X_SPAN_UNSURE : T2X_SPAN_LEFT;
	struct t2x_span *span;

	if (tracks->end_unseen && !fill_up_to(track, ev->open + 1))
		return;
	if (track->open > ev->open + 1)
		end_down_to(tracks, track, ev->open + 1, ev->ns, T2X_SPAN_LOST);
	span = track->open == ev->open + 1 ? &track->spans[ev->open] : NULL;
	if (span && !span->frame && tracks->end_unseen) {
		end_innermost(tracks, track, ev->ns, end);
		return;
	}
	if (!span || !span->frame) {
		end_down_to(tracks, track, ev->open, ev->ns, T2X_SPAN_LOST);
		leave_unseen(tracks, track, ev);
		return;
	}
	if (end == T2X_SPAN_LEFT)
		span->start_ns = ev->ns - ev->rel_ns;
	end_innermost(tracks, track, ev->ns, end);
}

/* ---- processes ---------------------------------------------------------------------------------- */

/* Its own hash and that of its parent. */
static void learn_sid(struct t2x_track_process *known, const struct t2x_process *process)
{
	const char *slash = strrchr(process->sid, '/');
	uint64_t seed = t2x_index_seed();

	known->number = process->number;
	known->start_ticks = process->start_ticks;
	known->sid = *process->sid ? t2x_index_hash(seed, process->sid, strlen(process->sid)) : 0;
	known->parent = slash ? t2x_index_hash(seed, process->sid, (size_t)(slash - process->sid)) : 0;
}

static struct t2x_track_process *add_process(struct t2x_tracks *tracks, const struct t2x_event *ev)
{
	const struct t2x_process *process = ev->thread->process;
	struct t2x_track_process *known = calloc(1, sizeof(*known));

	if (!known || t2x_map_put(&tracks->processes, process->stream, known)) {
		free(known);
		return NULL;
	}
	known->stream = process->stream;
	known->order = ++tracks->count;
	known->start_ns = process->start_ns ? process->start_ns : ev->ns;
	known->pid = process->pid;
	if (t2x_map_get(&tracks->pids, known->pid))
		known->pid = T2X_TRACKS_FREE_PID + known->order;
	t2x_map_put(&tracks->pids, known->pid, known);
	learn_sid(known, process);
	t2x_tracks_inherit_name(tracks, known, process);
	return known;
}

/* ---- threads ------------------------------------------------------------------------------------ */

static void unlink_track(struct t2x_tracks *tracks, struct t2x_track *track)
{
	*(track->older ? &track->older->newer : &tracks->oldest) = track->newer;
	*(track->newer ? &track->newer->older : &tracks->newest) = track->older;
}

static void link_newest(struct t2x_tracks *tracks, struct t2x_track *track)
{
	track->older = tracks->newest;
	track->newer = NULL;
	*(tracks->newest ? &tracks->newest->newer : &tracks->oldest) = track;
	tracks->newest = track;
	track->looked_ns = track->last_ns;
}

struct t2x_track *t2x_tracks_new_track(struct t2x_tracks *tracks, struct t2x_track_process *process, uint32_t tid,
				       const char *name, const struct t2x_span *own)
{
	struct t2x_track *track = calloc(1, sizeof(*track));

	if (!track || !fill_up_to(track, 1) || t2x_map_put(&process->threads, tid, track)) {
		if (track)
			free(track->spans);
		free(track);
		return NULL;
	}
	track->process = process;
	track->tid = tid;
	memcpy(track->name, name, sizeof(track->name));
	track->spans[0] = *own;
	link_newest(tracks, track);
	tracks->nthreads++;
	return track;
}

/* Its own level began when the thread did, or with its first event. */
static struct t2x_track *add_track(struct t2x_tracks *tracks, struct t2x_track_process *process,
				   const struct t2x_event *ev)
{
	uint64_t start_ns = ev->thread->tid ? ev->thread->start_ns : ev->thread->process->start_ns;
	const struct t2x_span own = { .frame = &t2x_thread_frame, .start_ns = start_ns ? start_ns : ev->ns };

	return t2x_tracks_new_track(tracks, process, ev->thread->tid, ev->thread->name, &own);
}

static void free_track(struct t2x_track *track)
{
	while (track->open)
		free(track->spans[--track->open].message);
	free(track->spans);
	free(track);
}

static void remove_from(struct t2x_map *map, uint32_t key, const struct t2x_track_process *process)
{
	if (t2x_map_get(map, key) == process)
		t2x_map_remove(map, key);
}

static void forget_process(struct t2x_tracks *tracks, struct t2x_track_process *process)
{
	if (tracks->forget_process)
		tracks->forget_process(tracks->printer, process);
	remove_from(&tracks->processes, process->stream, process);
	remove_from(&tracks->pids, process->pid, process);
	remove_from(&tracks->sids, (uint32_t)process->sid, process);
	t2x_map_free(&process->threads);
	free(process->name);
	free(process);
}

/* A track is in the cache at most once, under its latest number, however many inputs have its thread. */
static void uncache(struct t2x_tracks *tracks, const struct t2x_track *track)
{
	unsigned at = track->number % T2X_TRACKS_CACHED;

	if (tracks->cache[at].track == track)
		tracks->cache[at].thread = 0;
}

static void forget_track(struct t2x_tracks *tracks, struct t2x_track *track)
{
	struct t2x_track_process *process = track->process;

	uncache(tracks, track);
	unlink_track(tracks, track);
	tracks->nthreads--;
	t2x_map_remove(&process->threads, track->tid);
	free_track(track);
	if (!process->threads.count && tracks->processes.count > T2X_TRACKS_MAX && !tracks->keeps_all)
		forget_process(tracks, process);
}

/* Make room: the thread that has had no event for longest, or longer than most, is at its end here. */
static __attribute__((noinline)) void forget_oldest(struct t2x_tracks *tracks)
{
	struct t2x_track *track = tracks->oldest;

	while (track->last_ns != track->looked_ns) {
		unlink_track(tracks, track);
		link_newest(tracks, track);
		track = tracks->oldest;
	}
	tracks->forgotten++;
	tracks->unfinished += !track->process->is_over;
	end_down_to(tracks, track, 0, track->last_ns, track->process->is_over ? T2X_SPAN_CUT : T2X_SPAN_OPEN);
	if (tracks->forget_track)
		tracks->forget_track(tracks->printer, track);
	forget_track(tracks, track);
}

/* A thread that is not in the cache, or has another name, or its process another session id. */
static __attribute__((noinline)) struct t2x_track *find_track(struct t2x_tracks *tracks, const struct t2x_event *ev)
{
	const struct t2x_thread *thread = ev->thread;
	struct t2x_track_process *process = t2x_map_get(&tracks->processes, thread->process->stream);
	struct t2x_track *track = process ? t2x_map_get(&process->threads, thread->tid) : NULL;

	if (!track && tracks->nthreads >= T2X_TRACKS_MAX && !tracks->keeps_all) {
		forget_oldest(tracks);   /* which may be the last one of this process */
		process = t2x_map_get(&tracks->processes, thread->process->stream);
	}
	if (!process)
		process = add_process(tracks, ev);
	if (!process)
		return NULL;
	if (process->number != thread->process->number) {
		learn_sid(process, thread->process);
		t2x_tracks_inherit_name(tracks, process, thread->process);
	}
	if (!track)
		track = add_track(tracks, process, ev);
	if (!track || !thread->number)
		return track;
	track->is_told &= strcmp(track->name, thread->name) == 0;
	memcpy(track->name, thread->name, sizeof(track->name));
	uncache(tracks, track);
	track->number = thread->number;
	tracks->cache[thread->number % T2X_TRACKS_CACHED].thread = thread->number;
	tracks->cache[thread->number % T2X_TRACKS_CACHED].track = track;
	return track;
}

static inline struct t2x_track *track_of(struct t2x_tracks *tracks, const struct t2x_event *ev)
{
	uint64_t number = ev->thread->number;
	unsigned at = number % T2X_TRACKS_CACHED;

	return number && tracks->cache[at].thread == number ? tracks->cache[at].track : find_track(tracks, ev);
}

/* ---- the interface ------------------------------------------------------------------------------ */

struct t2x_track *t2x_tracks_find(struct t2x_tracks *tracks, const struct t2x_event *ev)
{
	return track_of(tracks, ev);
}

/* The thread of an event, which has come to its time. */
static inline struct t2x_track *reach(struct t2x_tracks *tracks, const struct t2x_event *ev)
{
	struct t2x_track *track = track_of(tracks, ev);

	if (track && ev->ns > track->last_ns) {
		track->last_ns = ev->ns;
		track->at_once = 0;
	}
	return track;
}

struct t2x_track *t2x_tracks_follow(struct t2x_tracks *tracks, const struct t2x_event *ev)
{
	struct t2x_track *track = reach(tracks, ev);

	if (track && (ev->style == TLG_STYLE_atexit || ev->style == TLG_STYLE_signal))
		track->process->is_over = 1;
	return track;
}

struct t2x_track *t2x_tracks_take(struct t2x_tracks *tracks, const struct t2x_event *ev)
{
	struct t2x_track *track = reach(tracks, ev);

	if (!track)
		return NULL;
	if (__builtin_expect(tracks->frames.bytes > T2X_FRAMES_BYTES / 2, 0) && tracks->forgets_frames &&
	    tracks->frames.bytes + tracks->frames.refused > tracks->frames_next)
		forget_frames(tracks);
	if (ev->style == TLG_STYLE_region_leave) {
		leave(tracks, track, ev);
		return track;
	}
	if (track->open > ev->open)
		end_down_to(tracks, track, ev->open, track->last_ns,
			    tlg_style_unwinds(ev->style) ? T2X_SPAN_CUT : T2X_SPAN_LOST);
	if (ev->style == TLG_STYLE_region_enter)
		enter(tracks, track, ev);
	else if (ev->style == TLG_STYLE_atexit || ev->style == TLG_STYLE_signal)
		track->process->is_over = 1;
	return track;
}

void t2x_tracks_end_thread(struct t2x_tracks *tracks, struct t2x_track *track)
{
	end_down_to(tracks, track, 0, track->last_ns, T2X_SPAN_CUT);
	forget_track(tracks, track);
}

void t2x_tracks_end_down_to(struct t2x_tracks *tracks, struct t2x_track *track, uint32_t open, uint64_t ns,
			    enum t2x_span_end end)
{
	end_down_to(tracks, track, open, ns, end);
}

void t2x_tracks_end(struct t2x_tracks *tracks)
{
	for (uint32_t i = 0; i < t2x_map_slots(&tracks->processes); i++) {
		struct t2x_track_process *process = process_at(tracks, i);

		for (uint32_t j = 0; process && j < t2x_map_slots(&process->threads); j++) {
			struct t2x_track *track = t2x_map_at(&process->threads, j);
			if (track)
				end_down_to(tracks, track, 0, track->last_ns,
					    process->is_over ? T2X_SPAN_CUT : T2X_SPAN_OPEN);
		}
	}
}

struct t2x_track *t2x_tracks_get(const struct t2x_tracks *tracks, uint32_t stream, uint32_t tid)
{
	const struct t2x_track_process *process = t2x_map_get(&tracks->processes, stream);

	return process ? t2x_map_get(&process->threads, tid) : NULL;
}

void t2x_tracks_report(const struct t2x_tracks *tracks)
{
	struct t2x_report report = { .to = stderr };

	if (tracks->forgets_frames && tracks->frames.others)
		t2x_report_note(&report, "names",
				"no room for those of all regions that are open: others are 'other names', %" PRIu64
				" times", tracks->frames.others);
	if (tracks->unfinished)
		t2x_report_note(&report, "threads",
				"%" PRIu64 " were idle for long and had not ended: "
				"no room to follow more than %u at once",
				tracks->unfinished, (unsigned)T2X_TRACKS_MAX);
}

/* ---- the end ------------------------------------------------------------------------------------ */

void t2x_tracks_free(struct t2x_tracks *tracks)
{
	for (uint32_t i = 0; i < t2x_map_slots(&tracks->processes); i++) {
		struct t2x_track_process *process = process_at(tracks, i);

		for (uint32_t j = 0; process && j < t2x_map_slots(&process->threads); j++) {
			struct t2x_track *track = t2x_map_at(&process->threads, j);
			if (track)
				free_track(track);
		}
		if (!process)
			continue;
		if (tracks->forget_process)
			tracks->forget_process(tracks->printer, process);
		t2x_map_free(&process->threads);
		free(process->name);
		free(process);
	}
	t2x_map_free(&tracks->processes);
	t2x_map_free(&tracks->pids);
	t2x_map_free(&tracks->sids);
	t2x_frames_free(&tracks->frames);
}
