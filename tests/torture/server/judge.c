/* SPDX-License-Identifier: MIT */
/*
 * judge.c - compares the trace of a server with what its processes have counted.  t2expand reads the trace, as text,
 * together with the ring files of the processes that were killed.
 */
#include "server.h"

#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LOOKED_INTO = 12,         /* ring files of one server */
	OF_LIBRARY = 16,          /* checkpoints that the library makes by itself in a process, at most */
};

/* What one text shows. */
struct text {
	unsigned char *found[MOST_SLOTS][KINDS];
	uint64_t stored, twice, invented, dropped;
};
static struct text text;

static void text_begin(void)
{
	memset(&text, 0, sizeof(text));
	for (unsigned i = 0; i < LOAD(shared->used); i++)
		for (int kind = 0; kind < KINDS; kind++)
			text.found[i][kind] = calloc(LOAD(shared->slot[i].begun[kind]) + 1, 1);
}

static void text_end(void)
{
	for (unsigned i = 0; i < MOST_SLOTS; i++)
		for (int kind = 0; kind < KINDS; kind++)
			free(text.found[i][kind]);
}

static void count(uint64_t slot, enum kind kind, uint64_t n)
{
	if (slot >= LOAD(shared->used) || n >= LOAD(shared->slot[slot].begun[kind])) {
		text.invented++;
		return;
	}
	text.twice += text.found[slot][kind][n];
	text.stored += !text.found[slot][kind][n];
	text.found[slot][kind][n] = 1;
}

/* Behind the word are slot and number, as one number or with a dot between them.  Return  0: it is not there */
static int count_word(const char *column, const char *word, enum kind kind)
{
	const char *at = strstr(column, word);
	uint64_t first;
	char *end;

	if (!at)
		return 0;
	first = strtoull(at + strlen(word), &end, 10);
	if (*end == '.')
		count(first, kind, strtoull(end + 1, NULL, 10));
	else
		count(first >> 32, kind, first & UINT32_MAX);
	return 1;
}

/* A line of git's performance format. */
static void read_line(const char *line)
{
	const char *column = strrchr(line, '|'), *lost, *value;

	if (!column)
		return;
	lost = strstr(column, "name:lost-");
	value = lost ? strstr(lost, "value:") : NULL;
	if (value)
		text.dropped += strtoull(value + 6, NULL, 10);
	else if (!count_word(column, "number:", NUMBER) && !count_word(column, "handled:", HANDLED) &&
		 !count_word(column, "text:", TEXT) && !count_word(column, "message ", MESSAGE))
		count_word(column, "label:region ", strstr(line, "| region_enter") ? ENTER : LEAVE);
}

static int read_text(FILE *in)
{
	char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0)
		read_line(line);
	free(line);
	return in != NULL;
}

/* Return  its exit status */
static int read_trace(const char *command)
{
	FILE *in = popen(command, "r");
	int status;

	if (!read_text(in))
		return -1;
	status = pclose(in);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *expander(void)
{
	const char *path = getenv("T2EXPAND");

	return path ? path : "build/t2expand";
}

/* ---- while they live ----------------------------------------------------------------------------- */

int judge_idle(const struct place *place)
{
	char command[512];
	int is_there = 1;

	snprintf(command, sizeof(command), "%s --quiet --format=perf %s 2>/dev/null", expander(), place->trace);
	text_begin();
	read_trace(command);
	for (unsigned i = 0; i < LOAD(shared->used); i++) {
		struct slot *slot = &shared->slot[i];
		if (LOAD(slot->idles) == LOAD(shared->idle) && !LOAD(slot->is_over))
			is_there &= text.found[i][NUMBER][LOAD(slot->mark)];
	}
	text_end();
	return is_there;
}

/* ---- behind their ends --------------------------------------------------------------------------- */

static int may_end(const struct slot *slot)
{
	for (unsigned i = 0; i < MOST_ENDS; i++)
		if (slot->may_end[i] == slot->status + 1)
			return 1;
	return 0;
}

static void count_end(int status, struct counts *sum)
{
	sum->killed += status == SIGKILL;
	sum->crashed += status == SIGSEGV;
	sum->ended += status == SIGTERM || status == EXIT_TERM << 8;
	sum->by_themselves += WIFEXITED(status) && status != EXIT_TERM << 8;
}

static unsigned judge_statuses(struct counts *sum)
{
	unsigned wrong = LOAD(shared->wrong);

	if (wrong)
		printf("FAIL %u calls of the server's own failed\n", wrong);
	for (unsigned i = 0; i < LOAD(shared->used); i++) {
		const struct slot *slot = &shared->slot[i];
		if (slot->is_over)
			count_end(slot->status, sum);
		if (!slot->is_over || may_end(slot))
			continue;
		printf("FAIL process %u: status %x, not %x\n", slot->pid, (unsigned)slot->status,
		       (unsigned)slot->may_end[0] - 1);
		wrong++;
	}
	return wrong;
}

static void find_rings(const struct place *place, glob_t *found)
{
	char pattern[256];

	snprintf(pattern, sizeof(pattern), "%s/trace2-*.ring", place->rings);
	if (glob(pattern, 0, NULL, found))
		*found = (glob_t){ .gl_pathc = 0 };
}

/* What t2expand reports about a ring file: checkpoints recovered, raw events in flight, calls that were dropped. */
static uint64_t weigh(const char *path)
{
	char command[512], *line = NULL;
	uint64_t sum = 0, recovered, flying;
	size_t room = 0;
	FILE *in;

	snprintf(command, sizeof(command), "%s --recover=%s --format=perf -o /dev/null 2>&1", expander(), path);
	in = popen(command, "r");
	while (in && getline(&line, &room, in) > 0) {
		const char *at = strstr(line, ": process ");
		if (at && sscanf(at, ": process %*u: %" SCNu64 " checkpoints recovered, %" SCNu64, &recovered,
				 &flying) == 2)
			sum += recovered + flying;
		sum += strstr(line, "lost by the program") != NULL;
	}
	free(line);
	if (in)
		pclose(in);
	return sum;
}

/* Return  1: the process called exit() or trace2_finish(), and never exec() */
static int has_ended_well(const struct slot *slot)
{
	return slot->is_over && (!slot->status || slot->status == EXIT_OLD << 8);
}

/* The process that made the ring file has ended its trace.  Its name has the id. */
static int is_of_ended(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned pid;

	if (!name || sscanf(name, "/trace2-%x-", &pid) != 1)
		return 0;
	for (unsigned i = 0; i < LOAD(shared->used); i++)
		if (shared->slot[i].pid == pid)
			return has_ended_well(&shared->slot[i]);
	return 0;
}

/* Check that ring files that stay have unwritten events. */
static unsigned judge_leftovers(const glob_t *rings)
{
	unsigned wrong = 0, step = (unsigned)(rings->gl_pathc / LOOKED_INTO) + 1;

	for (unsigned i = 0; i < rings->gl_pathc; i++) {
		int is_ended = is_of_ended(rings->gl_pathv[i]);
		if (is_ended)
			printf("FAIL %s stays, though its process has ended its trace\n", rings->gl_pathv[i]);
		wrong += (unsigned)is_ended;
		if (is_ended || i % step || weigh(rings->gl_pathv[i]))
			continue;
		printf("FAIL %s stays, and nothing is left in it\n", rings->gl_pathv[i]);
		wrong++;
	}
	return wrong;
}

/* Count the calls that have not returned, because the process was killed, or a handler jumped out of them. */
static uint64_t count_in_flight(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < LOAD(shared->used); i++)
		for (int kind = 0; kind < KINDS; kind++)
			n += shared->slot[i].begun[kind] - shared->slot[i].returned[kind];
	return n;
}

/* Judge the messages of t2expand.  has_gaps: raw events may be missing.  No message may say that anything else is. */
static unsigned judge_messages(const char *path, int has_gaps, struct counts *sum)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	unsigned wrong = 0;
	uint64_t n;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0) {
		const char *at = strstr(line, " process");
		if (at && (sscanf(at, " process %*u: %" SCNu64 " checkpoints recovered", &n) == 1 ||
			   sscanf(at, " processes: %" SCNu64 " checkpoints recovered", &n) == 1))
			sum->recovered += n;
		if (!strstr(line, "missing") || (has_gaps && strstr(line, "raw events missing in")))
			continue;
		printf("FAIL it says: %s", line);
		wrong++;
	}
	free(line);
	if (in)
		fclose(in);
	return wrong;
}

static unsigned recover(const struct place *place, const glob_t *rings, struct counts *sum)
{
	static char command[1 << 17];
	char said[256];
	size_t at;
	int status;

	snprintf(said, sizeof(said), "%s/said", place->rings);
	at = (size_t)snprintf(command, sizeof(command), "%s %s --format=perf", expander(),
			      rings->gl_pathc ? "--delete" : "");
	for (size_t i = 0; i < rings->gl_pathc && at + 512 < sizeof(command); i++)
		at += (size_t)snprintf(command + at, sizeof(command) - at, " --recover=%s", rings->gl_pathv[i]);
	snprintf(command + at, sizeof(command) - at, " %s 2>%s", place->trace, said);
	status = read_trace(command);
	/* 3: the last write of a killed process was incomplete; t2expand used the events of the ring instead */
	if (status != 0 && status != 3)
		printf("FAIL t2expand: status %d, see %s\n", status, said);
	return judge_messages(said, place->drops || count_in_flight(), sum) + (status != 0 && status != 3);
}

/* Count the calls that have returned but are missing.  is_text: a live text, which has all of processes that ended */
static uint64_t count_missing(int is_text, int kinds)
{
	uint64_t missing = 0;

	for (unsigned i = 0; i < LOAD(shared->used); i++) {
		const struct slot *slot = &shared->slot[i];
		if (is_text && !has_ended_well(slot))
			continue;
		for (int kind = 0; kind < kinds; kind++)
			for (uint64_t n = 0; n < slot->returned[kind]; n++)
				missing += !text.found[i][kind][n];
	}
	return missing;
}

static void show_first(int is_text)
{
	static const char *const names[KINDS] = { "number", "text", "message", "enter", "leave", "handled" };

	for (unsigned i = 0; i < LOAD(shared->used); i++) {
		const struct slot *slot = &shared->slot[i];
		for (int kind = 0; kind < KINDS && (!is_text || has_ended_well(slot)); kind++) {
			const uint64_t n = slot->returned[kind];
			const unsigned char *gap = memchr(text.found[i][kind], 0, n);
			if (!gap)
				continue;
			printf("FAIL the first is %s %td of %" PRIu64 ", of process %u, status %x\n", names[kind],
			       gap - text.found[i][kind], n, slot->pid, (unsigned)slot->status);
			return;
		}
	}
}

/* Check that missing calls are counted as dropped, and no others, except checkpoints of the library. */
static unsigned judge_text(const char *what, int is_text, int drops, struct counts *sum)
{
	uint64_t in_flight = count_in_flight(), missing = count_missing(is_text, KINDS);
	uint64_t most = missing + in_flight + (drops ? OF_LIBRARY * LOAD(shared->used) : 0);

	if (!is_text) {
		sum->stored += text.stored;
		sum->missing += missing;
		sum->in_flight += in_flight;
		sum->dropped += text.dropped;
	}
	sum->twice += text.twice;
	sum->invented += text.invented;
	if (missing <= text.dropped && (is_text || text.dropped <= most) && (drops || !text.dropped) && !text.twice &&
	    !text.invented)
		return 0;
	printf("FAIL %s: %" PRIu64 " missing, %" PRIu64 " dropped, %" PRIu64 " in flight, %" PRIu64 " twice, %" PRIu64
	       " made up\n", what, missing, text.dropped, in_flight, text.twice, text.invented);
	show_first(is_text);
	return 1;
}

/* Check that only calls of handlers were dropped: all others wait until there is space. */
static int judge_waits(void)
{
	uint64_t missing = count_missing(0, HANDLED);

	if (missing)
		printf("FAIL %" PRIu64 " calls were dropped that were to wait\n", missing);
	return missing != 0;
}

static unsigned judge_live_text(const struct place *place, struct counts *sum)
{
	FILE *in = fopen(place->text, "r");
	unsigned wrong;

	text_begin();
	read_text(in);
	wrong = judge_text(place->text, 1, 1, sum);
	text_end();
	if (in)
		fclose(in);
	return wrong;
}

unsigned judge_end(const struct place *place, struct counts *sum)
{
	unsigned wrong = judge_statuses(sum);
	glob_t rings;

	sum->slots += LOAD(shared->used);
	for (unsigned i = 0; i < LOAD(shared->used); i++)
		for (int kind = 0; kind < KINDS; kind++)
			sum->calls += LOAD(shared->slot[i].returned[kind]);
	if (!place->trace)
		return wrong;
	find_rings(place, &rings);
	sum->files += rings.gl_pathc;
	wrong += judge_leftovers(&rings);
	text_begin();
	wrong += recover(place, &rings, sum);
	wrong += judge_text(place->trace, 0, place->drops, sum);
	wrong += place->waits && judge_waits();
	text_end();
	globfree(&rings);
	if (place->text)
		wrong += judge_live_text(place, sum);
	find_rings(place, &rings);
	if (rings.gl_pathc)
		printf("FAIL %zu ring files stay behind recovery, such as %s\n", rings.gl_pathc, rings.gl_pathv[0]);
	wrong += rings.gl_pathc != 0;
	globfree(&rings);
	return wrong;
}
