/* SPDX-License-Identifier: MIT */
/* tr2_post.c - the stream: its cycles and the blocks of the process. */
#include "tr2_post.h"

#include <errno.h>
#include <string.h>

#include "tr2_stream.h"
#include "base/tr2_clock.h"
#include "base/tr2_memory.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_shm.h"
#include "settings/tr2_env.h"

int tr2_post_init(void)
{
	const size_t buffer = TR2_STREAM_EVENTS * sizeof(struct tlg_event);
	const size_t posted = TLG_MAX_SCOPES * sizeof(struct tr2_posted);
	unsigned char *memory = (unsigned char *)tr2_g_stream.buffer;

	static_assert(TLG_MAX_SOURCES <= TLG_MAX_SCOPES, "both are indices of posted[]");
	if (!memory) {
		memory = tr2_memory_take(buffer + posted);
		if (!memory)
			return -errno;
	}
	tr2_g_stream.buffer = (struct tlg_event *)(void *)memory;
	tr2_g_stream.posted = (struct tr2_posted *)(void *)(memory + buffer);
	tr2_g_stream.posted[0].cycle = 0;   /* a page that is read before it is written is faulted in twice */
	tr2_losses_reset();
	return 0;
}

void tr2_post_new_stream(uint32_t stream)
{
	tr2_g_stream.id = stream;
	tr2_g_stream.blocks = 0;
	tr2_g_stream.stored = 0;
	tr2_g_stream.used = tr2_g_stream.in_block = tr2_g_stream.room = 0;
	tr2_g_stream.cycle_due = 1;
}

void tr2_post_set_process(const char *sid, int32_t utcoff)
{
	strncpy(tr2_g_stream.sid, sid, sizeof(tr2_g_stream.sid) - 1);
	tr2_g_stream.utcoff = utcoff;
}

const char *tr2_post_process(int32_t *utcoff)
{
	*utcoff = tr2_g_stream.utcoff;
	return tr2_g_stream.sid;
}

void tr2_post_next_cycle(void)
{
	tr2_g_stream.cycle_due = 1;
	tr2_g_stream.room = 0;
}

void tr2_post_thread(struct tr2_post_thread *thread, uint32_t tid, uint32_t ostid, uint64_t start, const char *name)
{
	thread->tid = tid;
	thread->ostid = ostid;
	thread->start = thread->last_when = start;
	thread->position = 0;
	thread->cycle = 0;
	thread->depth = thread->is_below_root = thread->missing = thread->doubt = 0;
	strncpy(thread->name, name, sizeof(thread->name) - 1);
}

void tr2_post_gap(struct tr2_post_thread *thread, uint64_t events)
{
	thread->position += (uint32_t)events;
	thread->missing += (uint32_t)events;
}

void tr2_post_loss(uint32_t tid, unsigned reason, uint64_t count)
{
	tr2_losses_add(tid, reason, count);
}

/* ---- process blocks ----------------------------------------------------------------------------- */

static void append_timebase(void)
{
	struct tr2_timebase base;

	tr2_clock_timebase(&base);
	tr2_stream_append(TLG_TIMETYPE, 0)->u.timetype = (struct tlg_timetype){
		.tdiv = base.ticks_per_s, .timetype = (uint16_t)tr2_clock_type(), .utcoff = tr2_g_stream.utcoff
	};
	tr2_stream_append(TLG_TIMEINFO, 0)->u.timeinfo = (struct tlg_timeinfo){ base.raw, base.sec };
	tr2_g_stream.timebase_at = tr2_clock_raw();
}

static void append_procinfo(void)
{
	tr2_stream_append(TLG_PROCINFO | TLG_HAS_INFO, 0)->u.procinfo = (struct tlg_procinfo){
		tr2_g_shm.head->pid, tr2_g_stream.cycle, tr2_clock_start()
	};
	tr2_stream_append_text(tr2_g_stream.sid, strlen(tr2_g_stream.sid) + 1, 0);
}

static void append_losses(unsigned n)
{
	struct tlg_loss loss;

	tr2_losses_begin(n);
	for (unsigned i = 0; i < n; i++)
		if (tr2_losses_get(i, &loss))
			tr2_stream_append(TLG_LOSS, 0)->u.loss = loss;
}

/* The prologue group, by which a reader can begin here. */
static int open_cycle(void)
{
	unsigned losses = tr2_losses_bound();

	if (!tr2_stream_open(TLG_NO_THREAD, 5 + tr2_stream_text_events(strlen(tr2_g_stream.sid) + 1) + losses))
		return 0;
	tr2_g_stream.cycle++;
	tr2_g_stream.cycle_due = 0;
	tr2_g_stream.cycle_bytes = 0;
	tr2_stream_append(TLG_PROLOGUE, 0)->u.prologue = (struct tlg_prologue){
		TLG_MAGIC, TLG_VERSION, TLG_TEXT_SIZE, TLG_EVENT_SIZE, offsetof(struct tlg_event, u), 0,
		TLG_LAYOUT
	};
	append_procinfo();
	append_timebase();
	tr2_stream_append(TLG_CYCLE, 0)->u.cycle = (struct tlg_cycle){
		tr2_g_stream.id, tr2_g_stream.cycle, tr2_clock_raw()
	};
	append_losses(losses);
	tr2_stream_seal();
	return 1;
}

/* The rate of the clock is the better known the longer the process lives: say so each time that has doubled. */
static int refresh_timebase(void)
{
	uint64_t now = tr2_clock_raw(), start = tr2_clock_start();

	if (now - tr2_g_stream.timebase_at < tr2_g_stream.timebase_at - start)
		return 1;
	if (!tr2_stream_open(TLG_NO_THREAD, 2))
		return 0;
	append_timebase();
	tr2_stream_seal();
	return 1;
}

int tr2_post_begin(void)
{
	if (tr2_g_stream.cycle_due || tr2_g_stream.cycle_bytes >= tr2_g_settings.cycle_bytes)
		return open_cycle();
	return 1;
}

int tr2_post_losses(void)
{
	unsigned n = tr2_losses_bound();

	if (!tr2_losses_changed())
		return 1;
	if (!tr2_post_begin() || !tr2_stream_open(TLG_NO_THREAD, n))
		return 0;
	append_losses(n);
	tr2_stream_seal();
	return 1;
}

int tr2_post_mark(uint64_t when)
{
	if (!tr2_post_begin() || !refresh_timebase() || !tr2_stream_open(TLG_NO_THREAD, 1))
		return 0;
	tr2_stream_append(TLG_MARK, 0)->u.mark = (struct tlg_mark){ when, tr2_g_stream.stored };
	tr2_stream_seal();
	return 1;
}

int tr2_post_end(unsigned reason)
{
	if (!tr2_post_begin() || !tr2_stream_open(TLG_NO_THREAD, 3))
		return 0;
	append_timebase();
	tr2_stream_append(TLG_END, 0)->u.end = (struct tlg_end){
		tr2_g_stream.stored, tr2_g_stream.cycle, (uint16_t)reason, 0
	};
	tr2_stream_seal();
	return 1;
}

uint64_t tr2_post_stored(void)
{
	return tr2_g_stream.stored;
}

uint32_t tr2_post_stream(void)
{
	return tr2_g_stream.id;
}

uint32_t tr2_post_blocks(uint32_t *cycle)
{
	*cycle = tr2_g_stream.cycle;
	return tr2_g_stream.blocks;
}

/* ---- the buffer --------------------------------------------------------------------------------- */

struct tlg_event *tr2_post_buffer(size_t *bytes)
{
	tr2_stream_seal();
	*bytes = tr2_g_stream.used * sizeof(*tr2_g_stream.buffer);
	return tr2_g_stream.buffer;
}

void tr2_post_taken(void)
{
	tr2_g_stream.used = 0;
}

void tr2_post_failed(size_t written)
{
	uint32_t tid = TLG_NO_THREAD;

	for (size_t i = written / sizeof(*tr2_g_stream.buffer); i < tr2_g_stream.used; i++) {
		const struct tlg_event *event = &tr2_g_stream.buffer[i];
		if (tlg_event_type(event) == TLG_BLOCK)
			tid = event->u.block.tid;
		if (tlg_event_type(event) != TLG_HIT)
			continue;
		tr2_losses_add(tid, TLG_LOSS_WRITE, 1);
		tr2_g_stream.stored--;
	}
	tr2_g_stream.used = tr2_g_stream.room = 0;
	tr2_g_stream.cycle_due = 1;
}
