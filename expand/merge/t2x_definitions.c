/* SPDX-License-Identifier: MIT */
/* t2x_definitions.c - see t2x_definitions.h. */
#include "t2x_definitions.h"

#include "base/t2x_memory.h"

enum { MAX_UNFINISHED = 8 };      /* definitions of a stream whose text is not complete */

/* StackTrack's scopes have other styles, and one name: they are shown as steps. */
static void define_scope(struct t2x_stream *stream, struct tlg_sourceloc place, const char *text, size_t n)
{
	if (t2x_stream_is_stacktrack(stream)) {
		place.style = TLG_STYLE_step;
		place.names = TLG_NAME_LABEL;
	}
	t2x_scope_define(&stream->scopes, &place, text, n);
}

static void define(struct t2x_chain *chain)
{
	const struct tlg_event *head = &chain->head;
	struct t2x_stream *stream = chain->stream;
	const char *text = chain->bytes ? chain->text : "";

	switch (tlg_event_type(head)) {
	case TLG_FLOC:
		t2x_scope_define_file(&stream->scopes, head->u.fileloc.filenum, text, chain->bytes);
		break;
	case TLG_SLOC:
		define_scope(stream, head->u.sourceloc, text, chain->bytes);
		break;
	case TLG_THREAD:
		t2x_stream_define_thread(stream, &head->u.thread, text, chain->bytes);
		break;
	default:
		break;
	}
}

static void drop(struct t2x_definitions *definitions, struct t2x_chain *chain, struct t2x_context *context)
{
	t2x_chains_remove(&definitions->unfinished, chain);
	t2x_chain_free(chain, context);
}

static void begin(struct t2x_definitions *definitions, struct t2x_stream *stream, const struct tlg_event *event)
{
	struct t2x_chains *unfinished = &definitions->unfinished;
	struct t2x_chain whole = { .head = *event, .sequence = event->sequence, .stream = stream }, *chain;

	if (!(event->flags & TLG_HAS_INFO)) {
		define(&whole);
		return;
	}
	if (unfinished->count >= MAX_UNFINISHED)
		drop(definitions, t2x_chains_oldest(unfinished), stream->context);
	chain = t2x_malloc(sizeof(*chain));
	if (!chain)
		return;
	*chain = whole;
	t2x_chains_push(unfinished, chain);
}

static void add_text(struct t2x_definitions *definitions, struct t2x_context *context, const struct tlg_event *event)
{
	struct t2x_chain *chain = definitions->unfinished.newest;

	while (chain && chain->sequence != event->sequence)
		chain = chain->next;
	if (!chain)
		return;
	t2x_chain_add(chain, event);
	if (event->flags & TLG_INFO_END) {
		define(chain);
		drop(definitions, chain, context);
	}
}

static const unsigned char is_definition[TLG_TYPE_MASK + 1] = {
	[TLG_FLOC] = 1, [TLG_SLOC] = 1, [TLG_THREAD] = 1, [TLG_FPROPERTY] = 1,
};

/* Most blocks define nothing: that is found out at three instructions an event. */
static int has_definitions(const struct tlg_event *events, unsigned n)
{
	int found = 0;

	for (unsigned i = 0; i < n; i++)
		found |= is_definition[tlg_event_type(&events[i])];
	return found;
}

void t2x_definitions_read(struct t2x_definitions *definitions, struct t2x_stream *stream,
			  const struct tlg_event *events, unsigned n)
{
	if (!definitions->unfinished.newest && !has_definitions(events, n))
		return;
	for (unsigned i = 0; i < n; i++) {
		switch (tlg_event_type(&events[i])) {
		case TLG_FLOC:
		case TLG_SLOC:
		case TLG_THREAD:
		case TLG_FPROPERTY:
			begin(definitions, stream, &events[i]);
			break;
		case TLG_INFO:
			if (definitions->unfinished.newest)
				add_text(definitions, stream->context, &events[i]);
			break;
		default:
			break;
		}
	}
}

void t2x_definitions_forget(struct t2x_definitions *definitions, struct t2x_context *context)
{
	while (definitions->unfinished.newest)
		drop(definitions, definitions->unfinished.newest, context);
}
