/* SPDX-License-Identifier: MIT */
/* t2x_follow.c - see t2x_follow.h. */
#include "t2x_follow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "t2x_followed.h"

#define WRITTEN_LATE_NS UINT64_C(1100000000)  /* a process writes once in a second, unless it is told otherwise */

enum { SID_BYTES = 1024, BUFFER_EVENTS = TLG_BLOCK_LIMIT + 1, QUIET_ROUNDS = 10 };

struct t2x_follow {
	struct t2x_blocks blocks;         /* first: its address is the source's */
	struct t2x_follow_settings settings;
	struct t2x_found found;
	struct t2x_followed_table table;
	enum { LOOK, FILES, RINGS, MARKS, ENDS, WAIT, OVER } stage;
	struct t2x_found_tail *tail;      /* being read */
	int is_reading;                   /* a round of it has begun */
	struct t2x_tap *tap;
	struct t2x_followed *process;     /* that gets the next MARK, or its end */
	uint64_t first_ns, round_ns;      /* CLOCK_REALTIME when it began; when the round did */
	int has_stranger;                 /* the latest block is of a process that is not known */
	int has_read;                     /* this round has found something in a file */
	int has_ended;                    /* the end of a process was delivered */
	unsigned quiet;                   /* rounds in which nobody was there */
	int is_last;                      /* nobody is alive: one more round reads what was written at the end */
	struct tlg_event *events;         /* of the block that is delivered */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * T2X_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Of a process that was named there has to be a ring file.  Return  NULL, or why it cannot be followed */
static const char *find_first(struct t2x_found *found)
{
	if (t2x_found_look(found))
		return strerror(ENOMEM);
	if (t2x_found_is_alive(found))
		return NULL;
	return found->is_forbidden ? "has a ring file of another user: only root may look at it" :
	       "records nothing: it has no ring file in XDG_RUNTIME_DIR or /dev/shm";
}

struct t2x_follow *t2x_follow_new(const struct t2x_follow_settings *settings, const char **why)
{
	struct t2x_follow *follow = calloc(1, sizeof(*follow));

	*why = strerror(ENOMEM);
	if (!follow)
		return NULL;
	follow->settings = *settings;
	follow->found.watch = -1;
	follow->events = calloc(BUFFER_EVENTS, sizeof(*follow->events));
	follow->first_ns = now_ns();
	if (follow->events)
		*why = t2x_found_init(&follow->found, &settings->target);
	if (!*why && settings->target.kind == T2X_FOLLOW_PROCESS)
		*why = find_first(&follow->found);
	if (*why) {
		t2x_follow_free(follow);
		return NULL;
	}
	return follow;
}

void t2x_follow_free(struct t2x_follow *follow)
{
	if (!follow)
		return;
	t2x_found_free(&follow->found);
	t2x_followed_free(&follow->table);
	free(follow->events);
	free(follow);
}

struct t2x_blocks *t2x_follow_blocks(struct t2x_follow *follow)
{
	return &follow->blocks;
}

/* ---- files -------------------------------------------------------------------------------------- */

/*
 * The process of a block in a file; of a stream that is not known yet, by its PROCINFO.
 * Return  NULL: nobody follows it
 */
static struct t2x_followed *find_process(struct t2x_follow *follow, const struct t2x_block *block, int is_guess)
{
	struct t2x_followed *process = t2x_followed_get(&follow->table, block->stream);
	char sid[SID_BYTES + TLG_TEXT_SIZE];
	uint64_t start;
	uint32_t pid;

	if (process || block->tid != TLG_NO_THREAD || !t2x_followed_read(block, &pid, &start, sid, sizeof(sid)))
		return process;
	if (is_guess && !t2x_followed_is_known(&follow->table, pid, start, sid)) {
		follow->has_stranger = 1;
		return NULL;
	}
	return t2x_followed_add(&follow->table, block->stream, pid, start, sid);
}

/* A file has streams that have not begun where it is read: they may have begun before the moment, and wrote later. */
static int has_others(const struct t2x_follow *follow)
{
	unsigned streams = 0;

	for (const struct t2x_found_tail *tail = follow->found.tails; tail; tail = tail->next)
		streams += tail->streams;
	return streams > follow->table.streams.count;
}

/* All processes have come past the moment that is of interest. */
static int is_past(const struct t2x_follow *follow)
{
	const struct t2x_followed *process = follow->table.all;
	uint64_t until_ns = follow->settings.until_ns;

	if (!until_ns || !process || process->pace.ns <= until_ns)
		return 0;
	until_ns += has_others(follow) ? WRITTEN_LATE_NS : 0;
	while (process && (process->end_ns || process->pace.ns > until_ns))
		process = process->next;
	return !process;
}

/* A file of somebody else.  If he turns out to be one of those who are followed, it is read from its beginning. */
static void give_up(struct t2x_follow *follow, struct t2x_found_tail *tail)
{
	follow->tail = tail->next;
	follow->is_reading = 0;
	t2x_found_drop(&follow->found, tail);
}

/* Deliver the next block of the files.  Return  0: all that is in them has been read */
static int next_of_files(struct t2x_follow *follow, struct t2x_block *block)
{
	while (follow->tail) {
		struct t2x_found_tail *tail = follow->tail;
		struct t2x_followed *process;

		if (!follow->is_reading && !t2x_tail_begin(&tail->tail, follow->settings.report)) {
			follow->tail = tail->next;
			continue;
		}
		follow->is_reading = follow->has_read = 1;
		tail->idle = 0;
		if (is_past(follow)) {
			follow->tail = NULL;
			return 0;
		}
		if (!t2x_tail_next(&tail->tail, block)) {
			follow->is_reading = 0;
			/* A round that was bounded goes on. */
			follow->tail = tail->tail.round_bytes ? tail : tail->next;
			continue;
		}
		follow->has_stranger = 0;
		process = find_process(follow, block, tail->is_guess);
		tail->has_known |= process != NULL;
		if (follow->has_stranger && !tail->has_known && !tail->is_sure) {
			give_up(follow, tail);
			continue;
		}
		if (process && t2x_followed_filter(process, block, follow->events, 0, now_ns()) > 0)
			return 1;
	}
	return 0;
}

/* ---- rings -------------------------------------------------------------------------------------- */

static struct t2x_followed *process_of(struct t2x_follow *follow, const struct t2x_tap *tap)
{
	return t2x_followed_add(&follow->table, tap->file.stream, tap->head.pid, tap->head.start, tap->head.sid);
}

/* Copy the rings of all processes. */
static void begin_rings(struct t2x_follow *follow)
{
	for (struct t2x_tap *tap = follow->found.taps; tap; tap = tap->next)
		if (tap->is_wanted && tap->state != T2X_TAP_OVER && process_of(follow, tap))
			t2x_tap_begin(tap);
}

/* Deliver the next block of the copies.  Return  0: there is none */
static int next_of_rings(struct t2x_follow *follow, struct t2x_block *block)
{
	while (follow->tap) {
		struct t2x_followed *process = follow->tap->salvage ? process_of(follow, follow->tap) : NULL;

		while (process && t2x_salvage_next(follow->tap->salvage, block))
			if (t2x_followed_filter(process, block, follow->events, 1, now_ns()) > 0)
				return 1;
		follow->tap = follow->tap->next;
	}
	return 0;
}

/* Events that the ring had released before they were copied, and that came from no file either. */
static void count_missed(struct t2x_followed *process, const struct t2x_tap *tap)
{
	struct tlg_ring_tail tail;
	struct tlg_ring head;
	struct t2x_ring ring = { .fd = tap->fd, .head = tap->head };

	process->missed = 0;
	for (unsigned i = 0; !process->has_file && i < tap->head.rings_used && i < TLG_MAX_RINGS; i++) {
		int32_t missed = 0;

		if (t2x_ring_get(&ring, i, &head, &tail) && tail.write)
			missed = (int32_t)(tail.position + 1 - t2x_seen_next(&process->seen, tail.tid));
		process->missed += missed > 0 ? (uint64_t)missed : 0;
	}
}

/* The copies have been read.  Whoever was dead when his was made leaves nothing else. */
static void end_rings(struct t2x_follow *follow)
{
	for (struct t2x_tap *tap = follow->found.taps; tap; tap = tap->next) {
		int was_killed = tap->state == T2X_TAP_DEAD && tap->salvage;
		int is_due = tap->is_wanted && !tap->is_done;
		struct t2x_followed *process = is_due ? process_of(follow, tap) : NULL;

		t2x_tap_end(tap);
		if (!process || tap->state != T2X_TAP_OVER)
			continue;
		tap->is_done = 1;
		if (!process->end_ns)
			count_missed(process, tap);
		/* Without a file nobody brings its END; with one it was read behind the copy, or will be. */
		if (was_killed || !tap->file.path[0])
			t2x_followed_kill(process, now_ns());
	}
}

static uint64_t mark_ns(const struct t2x_follow *follow)
{
	return follow->round_ns - T2X_FOLLOW_MARGIN_MS * UINT64_C(1000000);
}

/* Deliver the next end.  Return  0: there is none */
static int next_of_ends(struct t2x_follow *follow, struct t2x_block *block)
{
	while (follow->process) {
		struct t2x_followed *process = follow->process;

		follow->process = process->next;
		if (!t2x_followed_end(process, mark_ns(follow), block, follow->events))
			continue;
		follow->has_ended = 1;
		return 1;
	}
	return 0;
}

/* Deliver the next MARK.  Return  0: all processes have theirs */
static int next_of_marks(struct t2x_follow *follow, struct t2x_block *block)
{
	while (follow->process) {
		struct t2x_followed *process = follow->process;

		follow->process = process->next;
		if (t2x_followed_mark(process, mark_ns(follow), block, follow->events))
			return 1;
	}
	return 0;
}

/* ---- rounds ------------------------------------------------------------------------------------- */

/* Of processes that have ended. */
static void report_missed(const struct t2x_follow *follow)
{
	char name[32];

	for (const struct t2x_followed *process = follow->table.all; process; process = process->next) {
		if (!process->missed || !process->is_ended)
			continue;
		snprintf(name, sizeof(name), "process %u", (unsigned)process->pid);
		t2x_report_note(follow->settings.report, name,
				"%" PRIu64 " raw events were written elsewhere before they could be read",
				process->missed);
	}
}

/* A process that had written the file, and writes the next one by now: the file has its streams, not its name. */
static void want_rotated(struct t2x_follow *follow)
{
	for (struct t2x_tap *tap = follow->found.taps; tap; tap = tap->next) {
		const struct t2x_followed *process = follow->table.all;

		if (follow->settings.target.kind != T2X_FOLLOW_FILE || tap->state != T2X_TAP_ALIVE)
			continue;
		while (process && (process->pid != tap->head.pid || process->start != tap->head.start))
			process = process->next;
		tap->is_wanted |= process != NULL;
	}
}

static void look(struct t2x_follow *follow)
{
	follow->round_ns = now_ns();
	follow->has_read = 0;
	/* Its file has to be found before its ring is copied. */
	want_rotated(follow);
	t2x_found_look(&follow->found);
	report_missed(follow);
	t2x_followed_forget(&follow->table);
	begin_rings(follow);
	follow->tail = follow->found.tails;
	follow->tap = follow->found.taps;
	follow->stage = FILES;
}

/* A file or a process ends; in a directory new processes may appear for ever. */
static int has_end(const struct t2x_follow *follow)
{
	return follow->settings.target.kind == T2X_FOLLOW_FILE || follow->settings.target.kind == T2X_FOLLOW_PROCESS;
}

static int has_waiting_end(const struct t2x_follow *follow)
{
	const struct t2x_followed *process = follow->table.all;

	while (process && (!process->end_ns || process->is_ended))
		process = process->next;
	return process != NULL;
}

/*
 * Nobody lives who is followed, and all has been read.  A file may be there a little before the ring file of its
 * process is complete, so a file without an end is given some rounds.
 */
static int is_quiet(struct t2x_follow *follow)
{
	const struct t2x_followed *process = follow->table.all;

	if (follow->has_read || t2x_found_is_alive(&follow->found) || has_waiting_end(follow)) {
		follow->quiet = 0;
		return 0;
	}
	while (process && process->is_ended)
		process = process->next;
	return (follow->has_ended && !process) || ++follow->quiet > QUIET_ROUNDS;
}

/* The round is complete: wait for the next one, or end. */
static void finish_round(struct t2x_follow *follow)
{
	const struct t2x_follow_settings *settings = &follow->settings;
	int is_over = settings->is_once || *settings->stop || follow->is_last;

	is_over |= settings->seconds_ns && follow->round_ns - follow->first_ns >= settings->seconds_ns;
	if (settings->round && settings->round(settings->owner, follow->round_ns))
		is_over = 1;
	follow->stage = is_over ? OVER : LOOK;
	if (is_over)
		return;
	if (has_end(follow) && is_quiet(follow)) {
		follow->is_last = 1;
		return;
	}
	if (!follow->found.has_event)
		t2x_found_wait(&follow->found, T2X_FOLLOW_PAUSE_MS);
}

/* Return  1: a block is delivered; 0: the stage is over, and the next one was set */
static int next_of_stage(struct t2x_follow *follow, struct t2x_block *block)
{
	switch (follow->stage) {
	case LOOK:
		look(follow);
		return 0;
	case FILES:
		if (next_of_files(follow, block))
			return 1;
		follow->stage = RINGS;
		return 0;
	case RINGS:
		if (next_of_rings(follow, block))
			return 1;
		end_rings(follow);
		follow->process = follow->table.all;
		follow->stage = MARKS;
		return 0;
	case MARKS:
		if (next_of_marks(follow, block))
			return 1;
		follow->process = follow->table.all;
		follow->stage = ENDS;
		return 0;
	case ENDS:
		if (next_of_ends(follow, block))
			return 1;
		follow->stage = WAIT;
		return 0;
	case WAIT:
	default:
		finish_round(follow);
		return 0;
	}
}

int t2x_follow_next(struct t2x_blocks *blocks, struct t2x_block *block)
{
	struct t2x_follow *follow = (struct t2x_follow *)blocks;

	while (follow->stage != OVER) {
		/* Whoever stops it does not wait for the rest of a large file. */
		if (*follow->settings.stop)
			follow->stage = OVER;
		else if (next_of_stage(follow, block))
			return 1;
	}
	return 0;
}

int t2x_follow_is_alive(const void *owner, uint32_t pid, uint64_t start_ticks)
{
	const struct t2x_follow *follow = owner;

	for (const struct t2x_tap *tap = follow->found.taps; tap; tap = tap->next)
		if (tap->state == T2X_TAP_ALIVE && tap->head.pid == pid && tap->head.start == start_ticks)
			return 1;
	return 0;
}
