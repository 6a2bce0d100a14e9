/* SPDX-License-Identifier: MIT */
/*
 * test_resync.c - a reader that joins a stream anywhere in a cycle is right from the next cycle on, and
 * before it shows nothing wrong: a checkpoint is unresolved, or it is what it is.
 *
 * usage: test_resync [FILE]        FILE: a plain .tlg of one process with three cycles or more
 */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "tlgmake.h"

enum { CYCLES = 4, STEP_STYLE = TLG_STYLE_step, STEP_SCOPE = 9 };

static unsigned char *g_bytes;
static size_t g_n;

/* ---- a made-up stream --------------------------------------------------------------------------- */

/* Definitions go before the first use in the cycle, wherever that is. */
struct posted {
	int threads[4], scopes[STEP_SCOPE + 1];
	int file;
};

static void post(struct tlgmake *make, struct posted *posted, uint32_t tid, uint32_t scope, uint64_t ns)
{
	static const char *const names[4] = { "main", "th01:a", "th02:b", "th03:c" };
	char label[32];

	if (!posted->threads[tid]++) {
		tlgmake_thread(make, names[tid], tid);
		tlgmake_open_region(make, ns - 1, 1);
	}
	if (!posted->file++)
		tlgmake_file(make, 1, "a/source/file/with/a/long/name.c");
	if (posted->scopes[scope]++)
		return;
	snprintf(label, sizeof(label), "label-%u", scope);
	tlgmake_scope(make, scope, scope == STEP_SCOPE ? STEP_STYLE : TLG_STYLE_data, 1,
		      scope == STEP_SCOPE ? "step" : label);
}

static void make_hit(struct tlgmake *make, struct posted *posted, uint32_t tid, unsigned number, uint64_t ns)
{
	uint32_t scope = 1 + number % STEP_SCOPE;

	post(make, posted, tid, scope, ns);
	if (scope == STEP_SCOPE)
		tlgmake_hit(make, 0, scope);
	else
		tlgmake_hit_with(make, ns, scope, "S",
				 scope % 2 ? "a value" : "a longer value, in three events");
}

/* Four threads, blocks of different lengths, in each cycle in another order. */
static void make_stream(struct tlgmake *make)
{
	uint64_t ns = 1000;

	tlgmake_init(make, 0xabcdef01, 1234);
	for (unsigned cycle = 0; cycle < CYCLES; cycle++) {
		struct posted posted = { .file = 0 };
		tlgmake_cycle(make);
		for (unsigned block = 0; block < 12; block++) {
			tlgmake_begin(make, (block + cycle) % 4);
			for (unsigned i = 0; i < 3 + block % 5; i++, ns += 10)
				make_hit(make, &posted, (block + cycle) % 4, i * 7 + block + cycle, ns);
			tlgmake_seal(make);
			if (block % 4 == 3)
				tlgmake_mark(make, ns);
		}
	}
	tlgmake_end(make);
}

/* ---- comparing ---------------------------------------------------------------------------------- */

/* Offsets of the first three blocks that open cycles; the latest time before the third. */
static unsigned find_cycles(size_t cycles[3], int64_t *latest_ns)
{
	struct t2x_clock clock;
	uint64_t latest = 0;
	unsigned n = 0;

	t2x_clock_fallback(&clock);
	for (size_t at = 0, block = 0; at + TLG_EVENT_SIZE <= g_n && n < 3; at += TLG_EVENT_SIZE) {
		struct tlg_event event;
		memcpy(&event, g_bytes + at, sizeof(event));
		if (tlg_event_type(&event) == TLG_BLOCK)
			block = at;
		else if (tlg_event_type(&event) == TLG_CYCLE)
			cycles[n++] = block;
		else if (tlg_event_type(&event) == TLG_TIMETYPE)
			t2x_clock_set_rate(&clock, event.u.timetype.tdiv);
		else if (tlg_event_type(&event) == TLG_TIMEINFO)
			t2x_clock_set_pair(&clock, event.u.timeinfo.start_hires, event.u.timeinfo.start);
		else if (tlg_event_type(&event) == TLG_HIT && event.u.hit.when &&
			 t2x_clock_ns(&clock, event.u.hit.when) > latest)
			latest = t2x_clock_ns(&clock, event.u.hit.when);
	}
	*latest_ns = (int64_t)(latest - (uint64_t)TLGMAKE_SECOND * UINT64_C(1000000000));
	return n;
}

struct line {
	const char *name;         /* behind "hit " */
	const char *rest;         /* " NS LABEL..." */
	int64_t ns;
	const char *label;
	size_t n;                 /* of rest, the line's end excluded */
};

/* The next line about a checkpoint. */
static int next_line(const char **at, struct line *line)
{
	const char *hit = strncmp(*at, "hit ", 4) ? strstr(*at, "\nhit ") : *at - 1;
	char *end;

	if (!hit)
		return 0;
	line->name = hit + 5;
	line->rest = strchr(line->name, ' ');
	line->ns = strtoll(line->rest, &end, 10);
	line->label = end + 1;
	line->n = strcspn(line->rest, "\n");
	*at = line->rest + line->n;
	return 1;
}

/* Times are not compared: a reader that joined late has a later pair of the clock and the calendar. */
static int by_label(const void *a, const void *b)
{
	const struct line *la = a, *lb = b;
	size_t na = la->n - (size_t)(la->label - la->rest), nb = lb->n - (size_t)(lb->label - lb->rest);
	int order = memcmp(la->label, lb->label, na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

/* All lines about checkpoints, sorted. */
static struct line *sort_lines(const char *text, size_t *n)
{
	struct line *lines = malloc((strlen(text) / 8 + 1) * sizeof(*lines));
	const char *at = text;

	assert_non_null(lines);
	for (*n = 0; next_line(&at, &lines[*n]); ++*n)
		;
	qsort(lines, *n, sizeof(*lines), by_label);
	return lines;
}

static int is_step(const struct line *line)
{
	return !strncmp(line->label, "step", 4);
}

/* What is younger than ns; steps have the time of what came before them. */
static int next_younger(const char **at, struct line *line, int64_t ns)
{
	while (next_line(at, line))
		if (line->ns > ns && !is_step(line))
			return 1;
	return 0;
}

/* Both texts say the same about what is younger than ns.  Return  the number of checkpoints */
static unsigned check_younger(const char *cut, const char *whole, int64_t ns)
{
	struct line line, expected;
	unsigned n = 0;

	for (; next_younger(&whole, &expected, ns); n++) {
		assert_true(next_younger(&cut, &line, ns));
		assert_int_equal(line.n, expected.n);
		assert_memory_equal(line.name, expected.name,
				    (size_t)(expected.rest - expected.name) + expected.n);
	}
	assert_false(next_younger(&cut, &line, ns));
	return n;
}

static void check_cut(const struct record *whole, const struct line *lines, size_t nlines, size_t cut,
		      int64_t ns)
{
	struct record record = { .text = NULL };
	struct line line;
	const char *at;

	record_bytes(&record, g_bytes + cut, g_n - cut);
	for (at = record.text; next_line(&at, &line) && line.ns <= ns;) {
		int is_known_name = line.name[0] != '?';
		if (line.label[0] == '?')
			continue;
		assert_non_null(bsearch(&line, lines, nlines, sizeof(line), by_label));
		assert_true(is_known_name || line.name[1] == ' ');
	}
	assert_true(check_younger(record.text, whole->text, ns) > 10);
	record_free(&record);
}

static void test_resync_any_cut_is_right_from_the_next_cycle_on(void **state)
{
	struct record whole = { .text = NULL };
	struct line *lines;
	size_t cycles[3], nlines;
	int64_t ns;

	(void)state;
	assert_int_equal(find_cycles(cycles, &ns), 3);
	record_bytes(&whole, g_bytes, g_n);
	lines = sort_lines(whole.text, &nlines);
	for (size_t cut = cycles[1]; cut < cycles[2]; cut += TLG_EVENT_SIZE)
		check_cut(&whole, lines, nlines, cut, ns);
	free(lines);
	record_free(&whole);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resync_any_cut_is_right_from_the_next_cycle_on),
	};
	struct tlgmake make;
	FILE *file;

	make_stream(&make);
	if (argc > 1) {
		tlgmake_free(&make);
		file = fopen(argv[1], "r");
		make.bytes = malloc(64 << 20);
		if (!file || !make.bytes)
			return 2;
		make.n = fread(make.bytes, 1, 64 << 20, file);
		fclose(file);
	}
	g_bytes = make.bytes;
	g_n = make.n;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
