/* SPDX-License-Identifier: MIT */
/* t2x_tracks_names.c - what processes are called: see t2x_tracks.h. */
#include "t2x_tracks.h"

#include <stdlib.h>
#include <string.h>

#include "text/t2x_utf8.h"

/* Who had this session id first. */
static struct t2x_track_process *find_sid(const struct t2x_tracks *tracks, uint64_t sid)
{
	struct t2x_track_process *first = sid ? t2x_map_get(&tracks->sids, (uint32_t)sid) : NULL;

	return first && first->sid == sid ? first : NULL;
}

/* Whether a process goes on from another one: only a forked child counts its time from the start of its parent. */
static int is_fork_of(const struct t2x_track_process *other, const struct t2x_process *process)
{
	return process->start_ticks && other->start_ticks == process->start_ticks && other->pid != process->pid;
}

void t2x_tracks_inherit_name(struct t2x_tracks *tracks, struct t2x_track_process *known,
			     const struct t2x_process *process)
{
	struct t2x_track_process *from = find_sid(tracks, known->sid);

	if (!from) {
		if (known->sid)
			t2x_map_put(&tracks->sids, (uint32_t)known->sid, known);
		from = find_sid(tracks, known->parent);
		if (!from || !is_fork_of(from, process))
			return;
	}
	if (from == known)
		return;
	known->is_fork = from->is_fork || from->pid != process->pid;
	if (!known->name && from->name)
		known->name = strdup(from->name);
}

int t2x_tracks_name(struct t2x_track_process *process, const struct t2x_event *ev)
{
	const struct t2x_arg *name = ev->style == TLG_STYLE_start && ev->nargs ? &ev->args[0] :
				     ev->style == TLG_STYLE_cmd_name ? &ev->args[T2X_NAME_OWN] : NULL;
	size_t at = name && name->text ? name->length : 0;
	char *copy;

	while (at && name->text[at - 1] != '/')
		at--;
	copy = name && name->text && at < name->length ? strndup(name->text + at, name->length - at) : NULL;
	if (!copy)
		return 0;
	free(process->name);
	process->name = copy;
	return 1;
}

void t2x_tracks_print_name(struct t2x_out *out, const struct t2x_track_process *process)
{
	static const char mark[] = " [fork]";
	const char *name = process->name ? process->name : "";
	size_t n = strlen(name);
	char *marked = process->is_fork && process->name ? malloc(n + sizeof(mark)) : NULL;

	if (!marked) {
		t2x_utf8_json(out, name, n);
		return;
	}
	memcpy(marked, name, n);
	memcpy(marked + n, mark, sizeof(mark));
	t2x_utf8_json(out, marked, n + sizeof(mark) - 1);
	free(marked);
}
