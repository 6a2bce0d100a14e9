/* SPDX-License-Identifier: MIT */
/* tr2_keep.c - states and tails: filled in where nobody looks, then made valid by one store. */
#include "tr2_keep.h"

#include <string.h>
#include <sys/stat.h>

#include "tr2_clock.h"
#include "tr2_overwrite.h"
#include "tr2_post.h"
#include "tr2_sink.h"

static struct tlg_ring_state g_target;    /* stream, device, inode, path of the present stream */

/* ---- the stream --------------------------------------------------------------------------------- */

static void keep_state(uint64_t write)
{
	struct tlg_ring_state *state = &tr2_g_shm.head->states[write & 1];
	struct tr2_anchor now;

	if (state->stream != g_target.stream)
		*state = g_target;
	now = tr2_clock_anchor();
	state->raw = now.raw;
	state->ns = now.ns;
	state->blocks = tr2_post_blocks(&state->cycle);
	state->stored = tr2_post_stored();
	state->write = write;
}

/* ---- rings -------------------------------------------------------------------------------------- */

static uint32_t number_of(uint32_t chunk)
{
	return tr2_shm_chunk(chunk)->number;
}

static int is_kept(const struct tlg_ring_tail *tail, const struct tr2_ring *ring, const struct tr2_post_thread *post)
{
	return tail->write && ring->rd_chunk && tail->chunk == number_of(ring->rd_chunk - 1) &&
	       tail->event == ring->rd_event && tail->tid == post->tid && tail->start == post->start &&
	       tail->position == post->position && tail->nholes == ring->nholes &&
	       tail->seen_events == ring->seen_events;
}

static void fill_tail(struct tlg_ring_tail *tail, const struct tr2_ring *ring, const struct tr2_post_thread *post)
{
	tail->chunk = ring->rd_chunk ? number_of(ring->rd_chunk - 1) : 0;
	tail->event = ring->rd_event;
	tail->tid = post->tid;
	tail->ostid = post->ostid;
	tail->start = post->start;
	tail->position = post->position;
	tail->seen_events = ring->seen_events;
	memcpy(tail->name, post->name, sizeof(tail->name));
	tail->nholes = ring->nholes;
	for (uint32_t i = 0; i < ring->nholes; i++)
		tail->holes[i] = (struct tlg_ring_hole){
			number_of(ring->holes[i].chunk), ring->holes[i].event, ring->holes[i].end
		};
}

/* The older of a ring's two tails becomes the newer, if anything has changed. */
static void keep_tail(const struct tr2_thread *thread, uint64_t write)
{
	const struct tr2_post_thread *post = thread->post;
	struct tlg_ring_tail *tails = thread->ring.head->tails;
	unsigned older = tails[1].write < tails[0].write;

	if (!post || is_kept(&tails[!older], &thread->ring, post))
		return;
	fill_tail(&tails[older], &thread->ring, post);
	tails[older].write = write;
}

void tr2_keep_written(void)
{
	uint64_t *written = &tr2_g_shm.head->written;
	/* [M8] acquire: what the last one left.  Pairs with the store below */
	uint64_t write = tr2_load_acq(written) + 1;

	for (struct tr2_thread *thread = tr2_thread_first(); thread; thread = tr2_thread_next(thread)) {
		tr2_overwrite_hold(thread);
		keep_tail(thread, write);
		tr2_overwrite_let_go(thread);
	}
	keep_state(write);
	tr2_store_rel(written, write); /* [M8] release: state and tails.  Pairs with the readers of the ring file */
}

void tr2_keep_begin(void)
{
	struct tlg_ring_file *head = tr2_g_shm.head;

	strncpy(head->sid, tr2_post_process(&head->utcoff), sizeof(head->sid) - 1);
	memset(&g_target, 0, sizeof(g_target));
	g_target.stream = tr2_post_stream();
	tr2_sink_file(g_target.path, sizeof(g_target.path), &g_target.device, &g_target.inode);
	tr2_keep_written();
}

int tr2_keep_has_file(void)
{
	struct stat st;

	return g_target.path[0] && !stat(g_target.path, &st) && S_ISREG(st.st_mode);
}

/* ---- the machine -------------------------------------------------------------------------------- */

/* By stat(), which takes no descriptor: that could be one on which the program counts. */
void tr2_keep_pid_space(void)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st))
		tr2_store_rlx(&tr2_g_shm.head->pid_space, st.st_ino); /* relaxed: a number by itself; 0 until then */
}
