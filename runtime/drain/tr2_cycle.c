/* SPDX-License-Identifier: MIT */
/* tr2_cycle.c - see tr2_cycle.h. */
#include "tr2_cycle.h"

#include <string.h>

#include "tr2_blocks.h"
#include "base/tr2_clock.h"
#include "ring/tr2_losses.h"
#include "ring/tr2_shm.h"
#include "settings/tr2_env.h"

static struct cycle {
	uint32_t stream, number;
	int is_due;                       /* the next event begins a new one */
	int32_t utcoff;
	size_t bytes;                     /* of threads' events in it */
	uint64_t stored;                  /* HITs in the stream */
	uint64_t timebase_at;             /* raw clock when TIMEINFO was last appended */
	char sid[1024];
} g_cycle;

void tr2_cycle_new_stream(uint32_t stream)
{
	tr2_blocks_begin();
	g_cycle.stream = stream;
	g_cycle.stored = 0;
	g_cycle.is_due = 1;
}

void tr2_cycle_set_process(const char *sid, int32_t utcoff)
{
	strncpy(g_cycle.sid, sid, sizeof(g_cycle.sid) - 1);
	g_cycle.utcoff = utcoff;
}

const char *tr2_cycle_process(int32_t *utcoff)
{
	*utcoff = g_cycle.utcoff;
	return g_cycle.sid;
}

void tr2_cycle_next(void)
{
	g_cycle.is_due = 1;
}

uint32_t tr2_cycle_number(void)
{
	return g_cycle.number;
}

uint32_t tr2_cycle_stream(void)
{
	return g_cycle.stream;
}

uint64_t tr2_cycle_stored(void)
{
	return g_cycle.stored;
}

/* ---- the prologue ------------------------------------------------------------------------------- */

static void append_timebase(void)
{
	struct tr2_timebase base;

	tr2_clock_timebase(&base);
	tr2_blocks_append(TLG_TIMETYPE, 0)->u.timetype = (struct tlg_timetype){
		.tdiv = base.ticks_per_s, .timetype = (uint16_t)tr2_clock_type(), .utcoff = g_cycle.utcoff
	};
	tr2_blocks_append(TLG_TIMEINFO, 0)->u.timeinfo = (struct tlg_timeinfo){ base.raw, base.sec };
	g_cycle.timebase_at = tr2_clock_raw();
}

static void append_procinfo(void)
{
	tr2_blocks_append(TLG_PROCINFO | TLG_HAS_INFO, 0)->u.procinfo = (struct tlg_procinfo){
		tr2_g_shm.head->pid, g_cycle.number, tr2_clock_start()
	};
	tr2_blocks_append_text(g_cycle.sid, strlen(g_cycle.sid) + 1, 0);
}

static void append_totals(unsigned n)
{
	struct tlg_loss loss;

	tr2_losses_begin(n);
	for (unsigned i = 0; i < n; i++)
		if (tr2_losses_get(i, &loss))
			tr2_blocks_append(TLG_LOSS, 0)->u.loss = loss;
}

/* If the write that makes room fails, the buffer is empty, and there are more dropped events to report. */
static void open_prologue(unsigned *drops)
{
	unsigned events = 5 + tr2_blocks_text_events(strlen(g_cycle.sid) + 1);

	do
		*drops = tr2_losses_bound();
	while (!tr2_blocks_open(TLG_NO_THREAD, events + *drops));
}

static void begin(void)
{
	unsigned drops;

	open_prologue(&drops);
	tr2_blocks_set_cycle(++g_cycle.number);
	g_cycle.is_due = 0;
	g_cycle.bytes = 0;
	tr2_blocks_append(TLG_PROLOGUE, 0)->u.prologue = (struct tlg_prologue){
		TLG_MAGIC, TLG_VERSION, TLG_TEXT_SIZE, TLG_EVENT_SIZE, offsetof(struct tlg_event, u), 0,
		TLG_LAYOUT
	};
	append_procinfo();
	append_timebase();
	tr2_blocks_append(TLG_CYCLE, 0)->u.cycle = (struct tlg_cycle){
		g_cycle.stream, g_cycle.number, tr2_clock_raw()
	};
	append_totals(drops);
	tr2_blocks_seal();
}

void tr2_cycle_begin(void)
{
	if (g_cycle.is_due || g_cycle.bytes >= tr2_g_settings.cycle_bytes)
		begin();
}

int tr2_cycle_open_block(uint32_t tid, unsigned events)
{
	int is_open = 0;

	/* the second time behind a write that failed: in a new cycle */
	for (int tries = 0; tries < 2 && !is_open; tries++) {
		tr2_cycle_begin();
		is_open = tr2_blocks_open(tid, events);
	}
	return is_open;
}

/* ---- events of threads -------------------------------------------------------------------------- */

unsigned tr2_cycle_room(unsigned events)
{
	size_t limit = tr2_g_settings.cycle_bytes, left;

	if (g_cycle.is_due || g_cycle.bytes >= limit)
		return 0;
	left = (limit - g_cycle.bytes) / TLG_EVENT_SIZE;
	return events < left ? events : (unsigned)left;
}

void tr2_cycle_appended(unsigned events, unsigned hits)
{
	g_cycle.bytes += (size_t)events * TLG_EVENT_SIZE;
	g_cycle.stored += hits;
}

/* ---- events of the process ---------------------------------------------------------------------- */

/* The clock's rate is known the better the longer the process lives: say it each time that has doubled. */
static void refresh_timebase(void)
{
	uint64_t now = tr2_clock_raw(), start = tr2_clock_start();

	if (now - g_cycle.timebase_at < g_cycle.timebase_at - start || !tr2_cycle_open_block(TLG_NO_THREAD, 2))
		return;
	append_timebase();
	tr2_blocks_seal();
}

void tr2_cycle_append_dropped(void)
{
	unsigned n = tr2_losses_bound();

	if (!tr2_losses_changed() || !tr2_cycle_open_block(TLG_NO_THREAD, n))
		return;
	append_totals(n);
	tr2_blocks_seal();
}

void tr2_cycle_append_mark(uint64_t when)
{
	tr2_cycle_begin();
	refresh_timebase();
	if (!tr2_cycle_open_block(TLG_NO_THREAD, 1))
		return;
	tr2_blocks_append(TLG_MARK, 0)->u.mark = (struct tlg_mark){ when, g_cycle.stored };
	tr2_blocks_seal();
}

void tr2_cycle_append_end(unsigned reason)
{
	if (!tr2_cycle_open_block(TLG_NO_THREAD, 3))
		return;
	append_timebase();
	tr2_blocks_append(TLG_END, 0)->u.end = (struct tlg_end){
		g_cycle.stored, g_cycle.number, (uint16_t)reason, 0
	};
	tr2_blocks_seal();
}

/* ---- a write that failed ------------------------------------------------------------------------ */

void tr2_cycle_write_failed(size_t written)
{
	uint32_t tid = TLG_NO_THREAD;
	size_t bytes;
	const struct tlg_event *buffer = tr2_blocks_buffer(&bytes), *end = buffer + bytes / sizeof(*buffer);

	for (const struct tlg_event *event = buffer + written / sizeof(*buffer); event < end; event++) {
		if (tlg_event_type(event) == TLG_BLOCK)
			tid = event->u.block.tid;
		if (tlg_event_type(event) != TLG_HIT)
			continue;
		tr2_losses_add(tid, TLG_LOSS_WRITE, 1);
		g_cycle.stored--;
	}
	tr2_blocks_clear();
	g_cycle.is_due = 1;
}
