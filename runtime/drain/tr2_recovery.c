/* SPDX-License-Identifier: MIT */
/* tr2_recovery.c - states and tails: filled in where nobody looks, then made valid by one store. */
#include "tr2_recovery.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tr2_blocks.h"
#include "tr2_cycle.h"
#include "tr2_overwrite.h"
#include "base/tr2_clock.h"
#include "base/tr2_sys.h"
#include "output/tr2_sink.h"

static struct tlg_ring_state g_target;    /* stream, device, inode, path of the present stream */

/* ---- the stream --------------------------------------------------------------------------------- */

static void store_state(uint64_t write)
{
	struct tlg_ring_state *state = &tr2_g_shm.head->states[write & 1];
	struct tr2_anchor now;

	if (state->stream != g_target.stream)
		*state = g_target;
	now = tr2_clock_anchor();
	state->raw = now.raw;
	state->ns = now.ns;
	state->blocks = tr2_blocks_count();
	state->cycle = tr2_cycle_number();
	state->stored = tr2_cycle_stored();
	state->write = write;
}

/* ---- rings -------------------------------------------------------------------------------------- */

static struct tr2_thread *g_noted;        /* those whose tails may have changed since the last write */
static struct tr2_thread *g_latest;       /* the one that is being read: it goes on behind a write */

void tr2_recovery_note(struct tr2_thread *thread)
{
	g_latest = thread;
	if (thread->reader.is_noted)
		return;
	thread->reader.is_noted = 1;
	thread->reader.next_noted = g_noted;
	g_noted = thread;
}

void tr2_recovery_reset(void)
{
	g_noted = g_latest = NULL;
}

static int is_stored(const struct tlg_ring_tail *tail, const struct tr2_reader *reader, const struct tr2_track *track)
{
	return tail->write && tail->chunk == reader->number &&
	       tail->event == reader->event && tail->tid == track->tid && tail->start == track->start &&
	       tail->position == track->position && tail->nabandoned == reader->nabandoned &&
	       tail->seen_events == reader->seen_events;
}

static void fill_tail(struct tlg_ring_tail *tail, const struct tr2_reader *reader, const struct tr2_track *track)
{
	tail->chunk = reader->number;
	tail->event = reader->event;
	tail->tid = track->tid;
	tail->ostid = track->ostid;
	tail->start = track->start;
	tail->position = track->position;
	tail->seen_events = reader->seen_events;
	memcpy(tail->name, track->name, sizeof(tail->name));
	tail->nabandoned = reader->nabandoned;
	for (uint32_t i = 0; i < reader->nabandoned; i++)
		tail->abandoned[i] = (struct tlg_ring_abandoned){
			tr2_shm_chunk(reader->abandoned[i].chunk)->number, reader->abandoned[i].event,
			reader->abandoned[i].end
		};
}

void tr2_recovery_see(struct tr2_thread *thread)
{
	if (thread->reader.track)
		fill_tail(&thread->reader.seen, &thread->reader, thread->reader.track);
}

/* The older of a ring's two tails becomes the newer, if anything has changed. */
static void store_tail(struct tr2_thread *thread, uint64_t write)
{
	struct tlg_ring_tail *tails = thread->ring.head->tails;
	unsigned older = tails[1].write < tails[0].write;

	if (!thread->reader.track)
		return;
	if (!tr2_overwrite_hold(thread)) {
		tails[older] = thread->reader.seen;   /* its owner has gone on since, and will say so by itself */
	} else {
		if (is_stored(&tails[!older], &thread->reader, thread->reader.track))
			older = 2;
		else
			fill_tail(&tails[older], &thread->reader, thread->reader.track);
		tr2_overwrite_release(thread);
	}
	if (older < 2)
		tails[older].write = write;
}

static void store_tails(uint64_t write)
{
	for (struct tr2_thread *thread = g_noted; thread; thread = thread->reader.next_noted) {
		store_tail(thread, write);
		thread->reader.is_noted = 0;   /* its link stays until it is noted again */
	}
	g_noted = NULL;
	if (g_latest)
		tr2_recovery_note(g_latest);
}

void tr2_recovery_written(void)
{
	uint64_t *written = &tr2_g_shm.head->written;
	/* [M8] acquire: what the last one left.  Pairs with the store below */
	uint64_t write = tr2_load_acq(written) + 1;

	store_tails(write);
	store_state(write);
	tr2_store_rel(written, write); /* [M8] release: state and tails.  Pairs with the readers of the ring file */
}

void tr2_recovery_begin(void)
{
	struct tlg_ring_file *head = tr2_g_shm.head;

	strncpy(head->sid, tr2_cycle_process(&head->utcoff), sizeof(head->sid) - 1);
	memset(&g_target, 0, sizeof(g_target));
	g_target.stream = tr2_cycle_stream();
	tr2_sink_file(g_target.path, sizeof(g_target.path), &g_target.device, &g_target.inode);
	tr2_recovery_written();
}

int tr2_recovery_has_file(void)
{
	struct stat st;

	return g_target.path[0] && !tr2_sys_stat(g_target.path, &st) && S_ISREG(st.st_mode);
}

/* ---- the machine -------------------------------------------------------------------------------- */

/* By stat(), which takes no descriptor: that could be one on which the program counts. */
void tr2_recovery_pid_space(void)
{
	struct stat st;
	int saved = errno;

	/* relaxed: a number by itself; 0 until then */
	if (!tr2_load_rlx(&tr2_g_shm.head->pid_space) && !tr2_sys_stat("/proc/self/ns/pid", &st))
		tr2_store_rlx(&tr2_g_shm.head->pid_space, st.st_ino); /* relaxed: as above */
	errno = saved;
}
