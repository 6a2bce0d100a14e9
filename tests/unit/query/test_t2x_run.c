/* SPDX-License-Identifier: MIT */
/* Runs: the totals of a stream are the same whether its checkpoints are added up as they lie or one by one. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expanding.h"
#include "model/t2x_run.h"
#include "query/t2x_summary.h"
#include "query/t2x_summary_export.h"
#include "text/t2x_formats.h"
#include "tlgmake.h"

static unsigned taken;            /* checkpoints of runs, of the latest run */

static void add(struct t2x_printer *printer, struct t2x_run *run)
{
	t2x_totals_add_run(printer, run);
	taken += run->hits;
}

static void show(struct t2x_printer *printer)
{
	t2x_summary_json(printer->own, 0, printer->out);
	t2x_totals_free(printer->own);
	printer->own = NULL;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Rows come in an order that depends on which thread is first of two at one time: the lines get one that does not. */
static void sort_lines(char *text)
{
	char *copy = strdup(text), *lines[64], *to = text, *state = NULL;
	unsigned n = 0;

	for (char *line = strtok_r(copy, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		assert_true(n < sizeof(lines) / sizeof(lines[0]));
		line[strcspn(line, "}")] = '\0';   /* a comma behind it depends on the order */
		lines[n++] = line;
	}
	qsort(lines, n, sizeof(lines[0]), compare_lines);
	for (unsigned i = 0; i < n; i++)
		to += sprintf(to, "%s\n", lines[i]);
	*to = '\0';
	free(copy);
}

/* The summary of the stream.  add_fn  NULL: one by one.  Return  to be freed */
static char *summarize(const struct tlgmake *make, t2x_add_fn *add_fn)
{
	struct t2x_writer writer = t2x_writer_summary;
	int fd = memfd_create("summary", 0);
	struct t2x_out out;
	off_t n;
	char *text;

	writer.add = add_fn;
	writer.finish = show;
	assert_int_equal(t2x_out_init(&out, fd), 0);
	expanding_run(make->bytes, make->n, NULL, &writer, &out);
	t2x_out_free(&out);
	n = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)n + 1);
	assert_true(text && n > 0 && pread(fd, text, (size_t)n, 0) == n);
	close(fd);
	sort_lines(text);
	return text;
}

/* Scope numbers: two regions, what is no region, and one that is not defined. */
enum { ENTER_A = 1, ENTER_B, LEAVE_A, LEAVE_B, STEP, INTEGER, TEXT, JSON, COUNTER, ERROR, UNKNOWN };
static const unsigned styles[] = {
	[ENTER_A] = TLG_STYLE_region_enter, [ENTER_B] = TLG_STYLE_region_enter,
	[LEAVE_A] = TLG_STYLE_region_leave, [LEAVE_B] = TLG_STYLE_region_leave, [STEP] = TLG_STYLE_step,
	[INTEGER] = TLG_STYLE_data_intmax, [TEXT] = TLG_STYLE_data, [JSON] = TLG_STYLE_data_json,
	[COUNTER] = TLG_STYLE_counter, [ERROR] = TLG_STYLE_error,
};

/* A stream, with the block of its main thread open, whose scopes are defined. */
static void begin(struct tlgmake *make)
{
	tlgmake_init(make, 77, 1234);
	tlgmake_cycle(make);
	tlgmake_begin(make, 0);
	tlgmake_thread(make, "main", 1);
	for (unsigned scope = ENTER_A; scope < UNKNOWN; scope++)
		tlgmake_scope(make, scope, styles[scope], 0, scope == ENTER_B || scope == LEAVE_B ? "b" : "a");
}

/* End the stream: so many of its checkpoints are taken from runs, and that changes nothing. */
static unsigned compare(struct tlgmake *make)
{
	char *runs, *alone;

	tlgmake_seal(make);
	tlgmake_end(make);
	alone = summarize(make, NULL);
	taken = 0;
	runs = summarize(make, add);
	assert_string_equal(runs, alone);
	free(runs);
	free(alone);
	tlgmake_free(make);
	return taken;
}

/* ---- what is usual ------------------------------------------------------------------------------ */

enum { SEEN = 4 };                /* checkpoints of a round, each of which has been seen then */

static void add_round(struct tlgmake *make, uint64_t ns)
{
	tlgmake_hit(make, ns, ENTER_A);
	tlgmake_hit(make, ns + 10, LEAVE_A);
	tlgmake_hit_with(make, ns + 20, INTEGER, "i", INT64_C(-5));
	tlgmake_hit_with(make, ns + 30, TEXT, "S", "a text that takes more than one event");
}

static void test_run_takes_all_that_was_seen_before(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	for (unsigned i = 0; i < 100; i++)
		add_round(&make, 100 + 100 * i);
	assert_int_equal(compare(&make), 99 * SEEN);
}

/* A second begins: the clock has another rate in it. */
static void test_run_goes_on_in_another_second(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	for (unsigned i = 0; i < 10; i++)
		add_round(&make, 100 + i * UINT64_C(700000000));
	assert_int_equal(compare(&make), 9 * SEEN);
}

static void test_run_takes_messages_and_steps(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	tlgmake_hit(&make, 90, STEP);
	add_round(&make, 100);
	tlgmake_hit_with(&make, 200, ENTER_A, "iu", INT64_C(1), UINT64_C(2));
	tlgmake_hit(&make, 0, STEP);
	tlgmake_hit_with(&make, 210, LEAVE_A, "sS", "one", "another");
	assert_int_equal(compare(&make), 3);
}

/* ---- what is not -------------------------------------------------------------------------------- */

/* Between rounds: one goes the long way, and the round in front and so many behind it are a run. */
static void expect_alone(void (*add_unusual)(struct tlgmake *make, uint64_t ns), unsigned behind)
{
	struct tlgmake make;

	begin(&make);
	add_round(&make, 100);
	add_round(&make, 200);
	add_unusual(&make, 300);
	add_round(&make, 400);
	assert_int_equal(compare(&make), SEEN + behind);
}

static void add_rendered(struct tlgmake *make, uint64_t ns)
{
	unsigned at = make->count;

	tlgmake_hit_with(make, ns, ENTER_A, "S", "rendered");
	make->block[at + 1].flags |= TLG_RENDERED;   /* behind BLOCK */
}

static void add_text_as_integer(struct tlgmake *make, uint64_t ns)
{
	tlgmake_hit_with(make, ns, INTEGER, "s", "5");
}

static void add_integer_without_value(struct tlgmake *make, uint64_t ns)
{
	tlgmake_hit(make, ns, INTEGER);
}

static void add_two_integers(struct tlgmake *make, uint64_t ns)
{
	tlgmake_hit_with(make, ns, INTEGER, "ii", INT64_C(1), INT64_C(2));
}

static void add_step_with_argument(struct tlgmake *make, uint64_t ns)
{
	tlgmake_hit_with(make, ns, STEP, "i", INT64_C(1));
}

static void add_other_kind(struct tlgmake *make, uint64_t ns)
{
	tlgmake_hit_with(make, ns, ERROR, "S", "an error");
}

static void add_unknown(struct tlgmake *make, uint64_t ns)
{
	tlgmake_hit(make, ns, UNKNOWN);
}

static void test_run_leaves_what_is_no_such_checkpoint(void **state)
{
	(void)state;
	expect_alone(add_rendered, SEEN);
	expect_alone(add_text_as_integer, SEEN);
	expect_alone(add_integer_without_value, SEEN);
	expect_alone(add_two_integers, SEEN);
	expect_alone(add_step_with_argument, SEEN);
	expect_alone(add_other_kind, SEEN);
	expect_alone(add_unknown, 1);   /* it may have been a leave: certain is only what is entered behind it */
}

static void test_run_ends_where_events_are_missing(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	add_round(&make, 100);
	tlgmake_hit(&make, 200, ENTER_A);
	tlgmake_lose(&make, 0, 3);
	tlgmake_hit(&make, 210, ENTER_A);
	tlgmake_hit(&make, 220, LEAVE_A);
	tlgmake_hit(&make, 230, LEAVE_A);
	/* the enter in front; the enter behind goes the long way, then a region is certain until it is left */
	assert_int_equal(compare(&make), 1 + 1);
}

static void test_run_leaves_what_is_older(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	add_round(&make, 100);
	tlgmake_hit(&make, 300, ENTER_A);
	tlgmake_hit(&make, 200, LEAVE_A);
	tlgmake_hit(&make, 250, ENTER_A);
	tlgmake_hit(&make, 310, LEAVE_A);
	assert_int_equal(compare(&make), 2);
}

/* What was open is repeated behind a checkpoint that nobody knows: so the outer region is known again. */
static void test_run_begins_behind_regions_that_are_repeated(void **state)
{
	struct tlgmake make;

	(void)state;
	begin(&make);
	add_round(&make, 100);
	tlgmake_hit(&make, 200, ENTER_A);
	tlgmake_hit(&make, 210, UNKNOWN);
	tlgmake_hit(&make, 220, ENTER_B);
	tlgmake_thread(&make, "main", 1);
	tlgmake_open_region(&make, 200, ENTER_A);
	tlgmake_open_region(&make, 220, ENTER_B);
	tlgmake_hit_with(&make, 230, INTEGER, "i", INT64_C(3));
	tlgmake_hit(&make, 240, LEAVE_B);
	tlgmake_hit(&make, 250, LEAVE_A);
	/* the first enter, the last leave; of LEAVE_B it is the first */
	assert_int_equal(compare(&make), 1 + 1);
}

static void test_run_ends_where_regions_are_too_deep(void **state)
{
	struct tlgmake make;
	unsigned depth = 3000;

	(void)state;
	begin(&make);
	add_round(&make, 100);
	for (unsigned i = 0; i < depth; i++) {
		tlgmake_hit(&make, 200 + i, ENTER_B);
		if (i % 500 == 499) {
			tlgmake_seal(&make);
			tlgmake_begin(&make, 0);
		}
	}
	for (unsigned i = 0; i <= depth; i++) {
		tlgmake_hit(&make, 9000 + i, LEAVE_B);
		if (i % 500 == 499) {
			tlgmake_seal(&make);
			tlgmake_begin(&make, 0);
		}
	}
	/* all but those at which memory grows, and the first ones of their kinds */
	assert_in_range(compare(&make), 2 * depth - 40, 2 * depth);
}

/* ---- anything ----------------------------------------------------------------------------------- */

static uint64_t seed;

/* 0 to n - 1 */
static unsigned any(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % n;
}

/* Something is wrong with the latest checkpoint, which begins at this event of the block. */
static void spoil(struct tlgmake *make, unsigned at)
{
	static const uint16_t flags[] = { TLG_HAS_INFO, TLG_INFO_END, TLG_HAS_MORE, TLG_RENDERED };
	unsigned last = make->count;

	switch (any(6)) {
	case 0:
		make->block[at].flags ^= flags[any(4)];
		break;
	case 1:
		make->block[last].flags ^= flags[any(4)];
		break;
	case 2:
		tlgmake_lose(make, make->tid, 1 + any(3));
		break;
	case 3:
		make->block[last].sequence += any(3) - 1;
		break;
	case 4:
		if (tlg_event_type(&make->block[last]) == TLG_VALUE)
			make->block[last].u.value.argtype = any(8);
		break;
	default:
		make->block[at].u.hit.when -= any(5000);
		break;
	}
}

static void add_any(struct tlgmake *make, uint64_t ns, unsigned *open)
{
	unsigned at = make->count + 1, scope = 1 + any(UNKNOWN);

	if (any(4))   /* mostly regions that are entered, and left by the same names */
		scope = *open && (*open > 30 || any(2)) ? LEAVE_A + *open % 2 : ENTER_A + (*open + 1) % 2;
	*open += scope == ENTER_A || scope == ENTER_B;
	*open -= *open && (scope == LEAVE_A || scope == LEAVE_B);
	if (scope == STEP)
		tlgmake_hit(make, any(5) ? 0 : ns, STEP);
	else if (scope == INTEGER || scope == COUNTER)
		tlgmake_hit_with(make, ns, scope, "i", (int64_t)any(1000) - 500);
	else if (scope >= TEXT)
		tlgmake_hit_with(make, ns, scope, "S", &"some text, then more of it"[any(26)]);
	else if (any(8))
		tlgmake_hit(make, ns, scope);
	else
		tlgmake_hit_with(make, ns, scope, any(2) ? "i" : "sS", INT64_C(0), "text");
	if (!any(60))
		spoil(make, at);
}

/* Two threads at once: each may run until the other one is younger. */
static void test_run_of_anything_adds_up_as_its_checkpoints_do_alone(void **state)
{
	unsigned all = 0, of = 0;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		uint64_t now[2] = { 1000, 1000 };
		unsigned open[2] = { 0, 0 };
		struct tlgmake make;

		seed = round;
		begin(&make);
		for (unsigned block = 0; block < 8; block++) {
			if (block) {
				tlgmake_seal(&make);
				tlgmake_begin(&make, block % 2);
			}
			for (unsigned i = 0; i < 100; i++, of++) {
				now[block % 2] += any(100) ? any(400) : any(3) * UINT64_C(600000000);
				add_any(&make, now[block % 2], &open[block % 2]);
			}
		}
		all += compare(&make);
	}
	assert_in_range(all, of / 4, of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_takes_all_that_was_seen_before),
		cmocka_unit_test(test_run_goes_on_in_another_second),
		cmocka_unit_test(test_run_takes_messages_and_steps),
		cmocka_unit_test(test_run_leaves_what_is_no_such_checkpoint),
		cmocka_unit_test(test_run_ends_where_events_are_missing),
		cmocka_unit_test(test_run_leaves_what_is_older),
		cmocka_unit_test(test_run_begins_behind_regions_that_are_repeated),
		cmocka_unit_test(test_run_ends_where_regions_are_too_deep),
		cmocka_unit_test(test_run_of_anything_adds_up_as_its_checkpoints_do_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
