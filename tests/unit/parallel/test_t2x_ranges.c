/* SPDX-License-Identifier: MIT */
/*
 * Ranges: what is read apart and joined is what one reader has, to the byte; and what cannot be joined is not.
 *
 * The traces are made up at random: threads whose regions span cycles, times that overlap between threads where a cycle
 * begins, steps, data, timers, children that one thread starts and another one ends, threads that end.
 */
#include "t2test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tlgmake.h"
#include "cli/t2x_expand.h"
#include "parallel/t2x_ranges.h"

enum {
	THREADS = 4, DEPTH = 6, ROUNDS = 500, HITS = 20, ROUNDS_OF_A_CYCLE = 12,
	ENTER = 1, LEAVE = ENTER + DEPTH, DATA = LEAVE + DEPTH, STEP, TIMER, COUNTER, TEXT, START, EXIT, END_THREAD,
	OTHER,                    /* enters the same regions, elsewhere: those of every other thread */
	FRAME_BYTES = 16 * 1024, CHILDREN = 16,
};

/* The stream that is being made. */
struct maker {
	struct tlgmake make;
	uint64_t random;
	struct { unsigned open; uint64_t entered[DEPTH]; int is_posted, is_over; } threads[THREADS];
	struct { uint64_t ns; unsigned round; } children[CHILDREN];      /* that run */
	unsigned round, nchildren, next_child;
	/* what is to be wrong in the middle */
	int forgets_region, renames, redefines, goes_back;
	int has_places;           /* some threads enter regions elsewhere */
	int has_steps;            /* each thread begins each cycle with one, in a block by itself */
};

static unsigned pick(struct maker *maker, unsigned n)
{
	maker->random = maker->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(maker->random >> 33) % n;
}

static int is_middle(const struct maker *maker)
{
	return maker->round > ROUNDS / 2;
}

static void define_scopes(struct maker *maker)
{
	struct tlgmake *make = &maker->make;
	char name[] = "r0";

	for (unsigned i = 0; i < DEPTH; i++) {
		name[1] = (char)('0' + i);
		tlgmake_scope(make, ENTER + i, TLG_STYLE_region_enter, 0, name);
		tlgmake_scope(make, OTHER + i, TLG_STYLE_region_enter, 0, name);
		tlgmake_scope(make, LEAVE + i, TLG_STYLE_region_leave, 0, name);
	}
	tlgmake_scope(make, DATA, TLG_STYLE_data_intmax, 0, maker->redefines && is_middle(maker) ? "other" : "data");
	tlgmake_scope(make, STEP, TLG_STYLE_step, 0, "step");
	tlgmake_scope(make, TIMER, TLG_STYLE_timer, 0, "timer");
	tlgmake_scope(make, COUNTER, TLG_STYLE_counter, 0, "counter");
	tlgmake_scope(make, TEXT, TLG_STYLE_data, 0, "text");
	tlgmake_scope(make, START, TLG_STYLE_child_start, 0, "");
	tlgmake_scope(make, EXIT, TLG_STYLE_child_exit, 0, "");
	tlgmake_scope(make, END_THREAD, TLG_STYLE_thread_exit, 0, "");
}

static unsigned enter_of(const struct maker *maker, unsigned tid)
{
	return maker->has_places && tid % 2 ? OTHER : ENTER;
}

/* What the thread's first event in a cycle needs. */
static void post(struct maker *maker, unsigned tid)
{
	struct tlgmake *make = &maker->make;
	char name[] = "t0";

	name[1] = (char)('0' + tid);
	if (maker->renames && is_middle(maker))
		name[0] = 'u';
	define_scopes(maker);
	tlgmake_thread(make, name, 1);
	for (unsigned i = 0; i < maker->threads[tid].open; i++)
		if (!(maker->forgets_region && is_middle(maker) && !i))
			tlgmake_open_region(make, maker->threads[tid].entered[i], enter_of(maker, tid) + i);
	maker->threads[tid].is_posted = 1;
}

static void add_child(struct maker *maker, uint64_t ns)
{
	unsigned oldest = maker->next_child - maker->nchildren;

	if (maker->nchildren < CHILDREN && pick(maker, 2)) {
		maker->children[maker->next_child % CHILDREN].ns = ns;
		maker->children[maker->next_child % CHILDREN].round = maker->round;
		maker->nchildren++;
		tlgmake_hit_with(&maker->make, ns, START, "iissss", (int64_t)maker->next_child++, (int64_t)0, "class",
				 NULL, NULL, pick(maker, 2) ? "/bin/a" : "b");
	} else if (maker->nchildren && maker->children[oldest % CHILDREN].round < maker->round) {
		maker->nchildren--;
		tlgmake_hit_with(&maker->make, ns, EXIT, "iiit", (int64_t)oldest, (int64_t)99, (int64_t)pick(maker, 2),
				 maker->children[oldest % CHILDREN].ns);
	}
}

/* All regions are left by these. */
static void add_total(struct maker *maker, unsigned tid, uint64_t ns)
{
	unsigned value = pick(maker, 1000);

	maker->threads[tid].open = 0;
	if (pick(maker, 2))
		tlgmake_hit_with(&maker->make, ns, COUNTER, "u", (uint64_t)value);
	else
		tlgmake_hit_with(&maker->make, ns, TIMER, "uuuu", (uint64_t)pick(maker, 3), (uint64_t)value,
				 (uint64_t)1, (uint64_t)value);
}

static void add_value(struct maker *maker, unsigned tid, uint64_t ns)
{
	struct tlgmake *make = &maker->make;
	unsigned value = pick(maker, 1000);

	switch (pick(maker, 400)) {
	case 0: case 1: case 2: case 3: case 4: case 5:
		add_child(maker, ns);
		break;
	case 6:
		add_total(maker, tid, ns);
		break;
	case 7: case 8: case 9:
		tlgmake_hit_with(make, ns, TEXT, "S", "text");
		break;
	case 10: case 11: case 12: case 13: case 14: case 15: case 16: case 17: case 18: case 19:
		tlgmake_hit(make, 0, STEP);
		break;
	default:
		tlgmake_hit_with(make, ns, DATA, "i", (int64_t)value - 500);
		break;
	}
}

static void add_hit(struct maker *maker, unsigned tid, uint64_t ns)
{
	unsigned *open = &maker->threads[tid].open;
	unsigned what = pick(maker, 10);

	if (what < 4 && *open < DEPTH) {
		maker->threads[tid].entered[*open] = ns;
		tlgmake_hit(&maker->make, ns, enter_of(maker, tid) + (*open)++);
	} else if (what < 8 && *open > 1 + tid % 2) {   /* some span the whole */
		tlgmake_hit(&maker->make, ns, LEAVE + --*open);
	} else {
		add_value(maker, tid, ns);
	}
}

static void add_step(struct maker *maker, unsigned tid)
{
	if (!maker->has_steps)
		return;
	tlgmake_hit(&maker->make, 0, STEP);
	tlgmake_seal(&maker->make);
	tlgmake_begin(&maker->make, tid);
}

static void begin_cycle(struct maker *maker, uint64_t ns)
{
	maker->make.cycle_ns = ns;
	tlgmake_cycle(&maker->make);
	for (unsigned tid = 0; tid < THREADS; tid++)
		maker->threads[tid].is_posted = 0;
}

/* The threads' events of the same time; a cycle may begin in between. */
static void add_round(struct maker *maker)
{
	const uint64_t begin = 1000 + maker->round * 10000ull, end = begin + 10000;
	unsigned cycle_at = maker->round % ROUNDS_OF_A_CYCLE ? THREADS : pick(maker, THREADS);

	for (unsigned tid = 0; tid < THREADS; tid++) {
		uint64_t ns = begin;
		if (tid == cycle_at)
			begin_cycle(maker, end);
		if (maker->threads[tid].is_over || (tid == 3 && maker->round % 50))
			continue;
		if (maker->goes_back && is_middle(maker) && !maker->threads[tid].is_posted)
			ns -= 9000;
		tlgmake_begin(&maker->make, tid);
		if (!maker->threads[tid].is_posted) {
			post(maker, tid);
			add_step(maker, tid);
		}
		for (unsigned i = 0; i < HITS; i++)
			add_hit(maker, tid, ns += pick(maker, 450));
		maker->threads[tid].is_over = tid == 2 && maker->round > 300;
		if (maker->threads[tid].is_over)
			tlgmake_hit(&maker->make, ns, END_THREAD);
		tlgmake_seal(&maker->make);
	}
	tlgmake_mark(&maker->make, end);
}

static void make_trace(struct maker *maker, uint32_t stream)
{
	tlgmake_init(&maker->make, stream, 40 + stream % 9);
	maker->make.sid = "sid";
	maker->make.hierarchy = "";
	maker->random = stream;
	begin_cycle(maker, 1);
	for (maker->round = 1; maker->round <= ROUNDS; maker->round++)
		add_round(maker);
}

/* Its bytes behind those in the file. */
static void append(struct maker *maker, unsigned char **bytes, size_t *n)
{
	size_t more;
	unsigned char *frames = tlgmake_lz4(&maker->make, FRAME_BYTES, &more);

	*bytes = realloc(*bytes, *n + more);
	assert_non_null(*bytes);
	memcpy(*bytes + *n, frames, more);
	*n += more;
	free(frames);
	tlgmake_free(&maker->make);
}

/* ---- expanding it ------------------------------------------------------------------------------- */

struct result {
	char text[1 << 17];
	size_t n;
	int was_cut;
	uint64_t damages;
};

/* What adds up. */
static const char *const forms[][2] = {
	{ "--summary=json", "--by=thread" }, { "--format=folded", "--brief" }, { "--format=pprof", "--brief" },
};

static void expand(struct result *result, const char *const form[2], char *const *paths, unsigned jobs)
{
	static char program[] = "t2expand";
	char *argv[8] = { program, (char *)(uintptr_t)form[0], (char *)(uintptr_t)form[1] };
	int argc = 3, fd = memfd_create("text", 0);
	struct t2x_report report = { .to = NULL };
	struct t2x_settings settings;
	struct t2x_inputs inputs = { .settings = &settings, .report = &report };
	struct t2x_output output = { .fd = fd, .is_new = 1 };
	struct t2x_ranges found;
	struct t2x_ranges_task task;
	struct t2x_expansion x = { .settings = &settings, .report = &report, .inputs = &inputs, .output = &output };

	while (*paths)
		argv[argc++] = *paths++;
	optind = 0;   /* getopt(3) begins anew */
	t2x_options_read(&settings, argc, argv);
	settings.jobs = jobs;
	x.pool = jobs > 1 ? t2x_pool_new(jobs - 1) : NULL;
	assert_int_equal(t2x_out_init(&output.out, fd), 0);
	assert_int_equal(t2x_inputs_find(&inputs, 0), 0);
	task = (struct t2x_ranges_task){
		.pool = x.pool, .jobs = jobs, .options = &settings.options, .out = &output.out,
		.adder = t2x_adder_find(settings.format->writer, &settings.options),
		.inputs = inputs.items, .n = inputs.n,
	};
	result->was_cut = x.pool && t2x_ranges_expand(&task, &found);
	if (x.pool)
		t2x_ranges_free(&found);
	if (!result->was_cut)
		assert_int_equal(t2x_expand(&x), 0);
	t2x_inputs_judge(&inputs);
	result->damages = report.damages;
	result->n = (size_t)pread(fd, result->text, sizeof(result->text), 0);
	assert_in_range(result->n, 1, sizeof(result->text) - 1);
	result->text[result->n] = '\0';
	t2x_inputs_free(&inputs);
	t2x_filter_free(&settings.filter);
	t2x_out_free(&output.out);
	t2x_pool_free(x.pool);
	close(fd);
}

/* The same text and damage with any number of jobs; is_cut: whether ranges can be joined, -1: it depends. */
static void check_paths(char *const *paths, int is_cut)
{
	static const unsigned jobs[] = { 2, 3, 8 };
	static struct result one, many;

	for (unsigned form = 0; form < sizeof(forms) / sizeof(forms[0]); form++) {
		expand(&one, forms[form], paths, 1);
		assert_false(one.was_cut);
		for (unsigned i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
			expand(&many, forms[form], paths, jobs[i]);
			if (is_cut >= 0)
				assert_int_equal(many.was_cut, is_cut);
			assert_int_equal(many.damages, one.damages);
			assert_int_equal(many.n, one.n);
			assert_memory_equal(many.text, one.text, one.n);
		}
	}
}

static void check_bytes(const void *bytes, size_t n, int is_cut)
{
	char *paths[] = { (char *)(uintptr_t)tlgmake_path(bytes, n), NULL };

	check_paths(paths, is_cut);
	tlgmake_close(paths[0]);
}

static void check(struct maker *maker, int is_cut)
{
	unsigned char *bytes = NULL;
	size_t n = 0;

	make_trace(maker, 0x1234);
	append(maker, &bytes, &n);
	check_bytes(bytes, n, is_cut);
	free(bytes);
}

/* ---- tests -------------------------------------------------------------------------------------- */

static void test_ranges_joined_are_the_whole(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 3; seed++) {
		struct maker maker = { .has_places = seed > 1 };
		unsigned char *bytes = NULL;
		size_t n = 0;

		make_trace(&maker, seed * 0x1111);
		if (seed % 2)
			tlgmake_end(&maker.make);
		append(&maker, &bytes, &n);
		check_bytes(bytes, n, 1);
		free(bytes);
	}
}

/* A clock that is known better later: the reader of the whole does not let time go back. */
static void test_ranges_in_which_time_goes_back_are_read_again(void **state)
{
	struct maker maker = { .goes_back = 1 };

	(void)state;
	check(&maker, 1);
}

static void test_ranges_that_begin_with_steps_are_read_again(void **state)
{
	struct maker maker = { .has_steps = 1 };

	(void)state;
	check(&maker, 1);
}

static void test_ranges_of_several_streams_in_a_file_are_joined(void **state)
{
	unsigned char *bytes = NULL;
	size_t n = 0;

	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		struct maker maker = { .round = 0 };
		make_trace(&maker, i * 0x101);
		append(&maker, &bytes, &n);
	}
	check_bytes(bytes, n, 1);
	free(bytes);
}

/* Which place of a region came first is not known to a profile of parts. */
static void test_ranges_of_streams_with_several_places_are_the_whole(void **state)
{
	unsigned char *bytes = NULL;
	size_t n = 0;

	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		struct maker maker = { .has_places = 1 };
		make_trace(&maker, i * 0x101);
		append(&maker, &bytes, &n);
	}
	check_bytes(bytes, n, -1);
	free(bytes);
}

static void test_ranges_of_several_files_are_joined(void **state)
{
	char *paths[4] = { NULL };

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct maker maker = { .round = 0 };
		unsigned char *bytes = NULL;
		size_t n = 0;
		make_trace(&maker, 0x77 + i);
		append(&maker, &bytes, &n);
		paths[i] = strdup(tlgmake_path(bytes, n));
		free(bytes);
	}
	check_paths(paths, 1);
	for (unsigned i = 0; i < 3; i++) {
		tlgmake_close(paths[i]);
		free(paths[i]);
	}
}

static void test_ranges_of_one_stream_in_two_files_are_not_joined(void **state)
{
	struct maker maker = { .round = 0 };
	unsigned char *bytes = NULL;
	char *paths[3] = { NULL };
	size_t n = 0;

	(void)state;
	make_trace(&maker, 0x77);
	append(&maker, &bytes, &n);
	paths[0] = strdup(tlgmake_path(bytes, n));
	paths[1] = strdup(tlgmake_path(bytes, n));
	check_paths(paths, 0);
	for (unsigned i = 0; i < 2; i++) {
		tlgmake_close(paths[i]);
		free(paths[i]);
	}
	free(bytes);
}

/* A cycle that says something else than what was. */
static void test_ranges_that_contradict_each_other_are_not_joined(void **state)
{
	struct maker forgets = { .forgets_region = 1 }, renames = { .renames = 1 }, redefines = { .redefines = 1 };

	(void)state;
	check(&forgets, 0);
	check(&renames, 0);
	check(&redefines, 0);
}

static void test_ranges_of_a_damaged_file_are_not_joined(void **state)
{
	struct maker maker = { .round = 0 };
	unsigned char *bytes = NULL;
	size_t n = 0;

	(void)state;
	make_trace(&maker, 0x4711);
	append(&maker, &bytes, &n);
	bytes[n / 3] ^= 0x55;
	check_bytes(bytes, n, 0);
	bytes[n / 3] ^= 0x55;
	check_bytes(bytes, n - 100, 0);
	check_bytes(bytes, n, 1);
	free(bytes);
}

static void test_ranges_with_lost_events_are_not_joined(void **state)
{
	struct maker maker = { .round = 0 };
	unsigned char *bytes = NULL;
	size_t n = 0;

	(void)state;
	make_trace(&maker, 0x4712);
	tlgmake_lose(&maker.make, 1, 5);
	add_round(&maker);
	append(&maker, &bytes, &n);
	check_bytes(bytes, n, 0);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_joined_are_the_whole),
		cmocka_unit_test(test_ranges_in_which_time_goes_back_are_read_again),
		cmocka_unit_test(test_ranges_that_begin_with_steps_are_read_again),
		cmocka_unit_test(test_ranges_of_several_streams_in_a_file_are_joined),
		cmocka_unit_test(test_ranges_of_streams_with_several_places_are_the_whole),
		cmocka_unit_test(test_ranges_of_several_files_are_joined),
		cmocka_unit_test(test_ranges_of_one_stream_in_two_files_are_not_joined),
		cmocka_unit_test(test_ranges_that_contradict_each_other_are_not_joined),
		cmocka_unit_test(test_ranges_of_a_damaged_file_are_not_joined),
		cmocka_unit_test(test_ranges_with_lost_events_are_not_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
