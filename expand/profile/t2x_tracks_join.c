/* SPDX-License-Identifier: MIT */
/* t2x_tracks_join.c - what is open at the end of a part behind: see t2x_tracks.h. */
#include "t2x_tracks.h"

#include <stdlib.h>

#include "t2x_tracks_private.h"

/* Spans that were entered in the part lie in those that were open in front of it. */
static int join_spans(struct t2x_tracks *to, struct t2x_track *ours, const struct t2x_track *theirs,
		      const struct t2x_frame *find_frame(struct t2x_frames *frames, const struct t2x_frame *other))
{
	for (uint32_t i = 0; i < theirs->open; i++) {
		struct t2x_span span = theirs->spans[i];

		if (!i || !span.frame) {
			if (i >= ours->open)
				return 0;
			ours->spans[i].inner_ns += span.inner_ns;
			continue;
		}
		span.frame = find_frame(&to->frames, span.frame);
		span.node = 0;
		if (ours->open != i || !span.frame || !t2x_tracks_make_room(ours, i + 1))
			return 0;
		ours->spans[ours->open++] = span;
	}
	if (theirs->last_ns > ours->last_ns)
		ours->last_ns = theirs->last_ns;
	return 1;
}

/* A thread, or process, of which there was none yet. */
static struct t2x_track *copy_track(struct t2x_tracks *tracks, struct t2x_track_process *process,
				    const struct t2x_track *theirs)
{
	struct t2x_span own = theirs->spans[0];

	own.node = 0;
	own.inner_ns = 0;
	return t2x_tracks_new_track(tracks, process, theirs->tid, theirs->name, &own);
}

static struct t2x_track_process *new_process(struct t2x_tracks *to, const struct t2x_track_process *theirs)
{
	struct t2x_track_process *process;

	/* which of two has the number of the other one depends on who comes first */
	if (theirs->pid >= T2X_TRACKS_FREE_PID || t2x_map_get(&to->pids, theirs->pid))
		return NULL;
	process = malloc(sizeof(*process));
	if (!process)
		return NULL;
	*process = *theirs;
	process->threads = (struct t2x_map){ .slots = NULL };
	process->name = NULL;
	process->order = ++to->count;
	if (t2x_map_put(&to->processes, process->stream, process)) {
		free(process);
		return NULL;
	}
	return t2x_map_put(&to->pids, process->pid, process) ? NULL : process;
}

int t2x_tracks_join(struct t2x_tracks *to, struct t2x_tracks *from,
		    const struct t2x_frame *find_frame(struct t2x_frames *frames, const struct t2x_frame *other))
{
	if (to->forgotten || from->forgotten || to->nthreads + from->nthreads > T2X_TRACKS_MAX)
		return 0;               /* who is forgotten when depends on all that comes in front */
	for (uint32_t i = 0; i < t2x_map_slots(&from->processes); i++) {
		const struct t2x_track_process *theirs = t2x_map_at(&from->processes, i);
		struct t2x_track_process *ours = theirs ? t2x_map_get(&to->processes, theirs->stream) : NULL;

		if (theirs && !ours)
			ours = new_process(to, theirs);
		if (theirs && (!ours || ours->pid != theirs->pid))
			return 0;
		if (theirs)
			ours->is_over |= theirs->is_over;
		for (uint32_t j = 0; theirs && j < t2x_map_slots(&theirs->threads); j++) {
			const struct t2x_track *track = t2x_map_at(&theirs->threads, j);
			struct t2x_track *known = track ? t2x_map_get(&ours->threads, track->tid) : NULL;

			if (track && !known)
				known = copy_track(to, ours, track);
			if (track && (!known || !join_spans(to, known, track, find_frame)))
				return 0;
		}
	}
	return 1;
}
