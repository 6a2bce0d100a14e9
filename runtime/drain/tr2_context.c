/* SPDX-License-Identifier: MIT */
/* tr2_context.c - see tr2_context.h. */
#include "tr2_context.h"

#include <errno.h>
#include <string.h>

#include "tlg_ring.h"
#include "tr2_blocks.h"
#include "tr2_cycle.h"
#include "base/tr2_memory.h"
#include "ring/tr2_scope.h"
#include "ring/tr2_shm.h"

static struct tr2_defined_in *g_defined_in;

int tr2_context_init(void)
{
	static_assert(TLG_MAX_SOURCES <= TLG_MAX_SCOPES, "both are indices of the table");
	if (!g_defined_in)
		g_defined_in = tr2_memory_acquire(TLG_MAX_SCOPES * sizeof(*g_defined_in));
	if (!g_defined_in)
		return -errno;
	g_defined_in[0].cycle = 0;   /* a page that is read before it is written is faulted in twice */
	return 0;
}

const struct tr2_defined_in *tr2_context_table(void)
{
	return g_defined_in;
}

/* ---- what is needed ----------------------------------------------------------------------------- */

/* Events that the thread's definition takes, at most. */
static unsigned thread_events(const struct tr2_track *track)
{
	return 1 + tr2_blocks_text_events(strlen(track->name)) + TR2_TRACK_OPENS - TR2_OPEN_REGIONS +
	       tr2_track_known_regions(track);
}

static void find_scope(struct tr2_context *context, const struct tlg_ring_scope *scope, uint32_t index)
{
	if (!scope || g_defined_in[index].cycle == tr2_cycle_number())
		return;
	context->scope = scope;
	context->scope_index = index;
	context->events += 1 + tr2_blocks_text_events(scope->text_bytes);
	if (!scope->filenum || g_defined_in[scope->filenum].file_cycle == tr2_cycle_number())
		return;
	context->file = tr2_scope_file(scope->filenum);
	context->events += context->file ? 1 + tr2_blocks_text_events(strlen(context->file)) : 0;
}

/* ---- definitions -------------------------------------------------------------------------------- */

static void append_file(const struct tlg_ring_scope *scope, const char *file, uint32_t sequence)
{
	tr2_blocks_append(TLG_FLOC | TLG_HAS_INFO, sequence)->u.fileloc = (struct tlg_fileloc){
		scope->filenum, (uint16_t)tr2_cycle_number(), 0
	};
	tr2_blocks_append_text(file, strlen(file), sequence);
	g_defined_in[scope->filenum].file_cycle = tr2_cycle_number();
}

static void append_scope(const struct tr2_context *context, uint32_t sequence)
{
	const struct tlg_ring_scope *scope = context->scope;
	struct tlg_event *sloc;

	if (context->file)
		append_file(scope, context->file, sequence);
	sloc = tr2_blocks_append(TLG_SLOC | (scope->text_bytes ? TLG_HAS_INFO : 0), sequence);
	sloc->u.sourceloc = (struct tlg_sourceloc){
		.scopeIndex = context->scope_index, .linenum = scope->line, .filenum = scope->filenum,
		.writeCount = (uint16_t)tr2_cycle_number(), .repo = scope->repo, .style = scope->style,
		.names = scope->names,
	};
	tr2_blocks_append_text(tr2_shm_text(scope->text), scope->text_bytes, sequence);
	g_defined_in[context->scope_index].cycle = tr2_cycle_number();
	g_defined_in[context->scope_index].style = scope->style;
}

static void append_thread(struct tr2_track *track, uint32_t sequence)
{
	size_t length = strlen(track->name);
	struct tlg_open open;

	tr2_blocks_append(TLG_THREAD | (length ? TLG_HAS_INFO : 0), sequence)->u.thread = (struct tlg_thread){
		track->tid, track->ostid, track->start
	};
	tr2_blocks_append_text(track->name, length, sequence);
	for (unsigned i = 0; tr2_track_open_region(track, i, TR2_TRACK_OPENS, &open); i++)
		tr2_blocks_append(TLG_OPEN, sequence)->u.open = open;
	track->cycle = tr2_cycle_number();
}

/* The names of the open regions, so that a reader that begins here can show them.  Return  0: not now */
static int append_open_scopes(const struct tr2_track *track)
{
	for (unsigned i = 0; i < tr2_track_known_regions(track); i++) {
		struct tr2_context context = { .thread = 0 };
		find_scope(&context, tr2_scope_get(track->open[i].scope), track->open[i].scope);
		if (!context.scope)
			continue;
		if (!tr2_blocks_open(track->tid, context.events))
			return 0;
		append_scope(&context, track->position + 1);
	}
	return 1;
}

int tr2_context_find(struct tr2_context *context, const struct tr2_track *track, const struct tlg_ring_scope *scope,
		     uint32_t scope_index)
{
	*context = (struct tr2_context){ .thread = track->cycle != tr2_cycle_number() };
	if (context->thread && !append_open_scopes(track))
		return 0;
	context->events = context->thread ? thread_events(track) : 0;
	find_scope(context, scope, scope_index);
	return 1;
}

void tr2_context_append(const struct tr2_context *context, struct tr2_track *track)
{
	uint32_t sequence = track->position + 1;

	if (context->thread)
		append_thread(track, sequence);
	if (context->scope)
		append_scope(context, sequence);
}
