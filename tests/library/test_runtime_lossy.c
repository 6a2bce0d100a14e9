/* SPDX-License-Identifier: MIT */
/* A program that records more than its ring takes: what its texts say of regions around the gaps. */
#include "t2test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace2.h"
#include "traced.h"

enum { JOBS = 60, BLOCKS = 3, STEPS = 8000 };

/* Jobs of blocks of steps; every second job is within another region. */
static int run_jobs(void *data)
{
	(void)data;
	trace2_initialize();
	for (int job = 0; job < JOBS; job++) {
		if (job % 2)
			trace2_region_enter("test", "odd", NULL);
		trace2_region_enter_printf("test", "job", NULL, "%d", job);
		for (int block = 0; block < BLOCKS; block++) {
			trace2_region_enter("test", "block", NULL);
			for (int i = 0; i < STEPS; i++)
				trace2_step("test", "step");
			trace2_region_leave("test", "block", NULL);
		}
		usleep(2000);
		trace2_region_leave_printf("test", "job", NULL, "%d", job);
		if (job % 2)
			trace2_region_leave("test", "odd", NULL);
	}
	return 0;
}

/* What the text of a file says of the jobs. */
struct jobs {
	double enter[JOBS];               /* t_abs; 0: not shown */
	double repeated;                  /* the same of one that was repeated, which has no number */
	unsigned leaves, timed, wrong, off;
	unsigned missing;                 /* places where something is */
};

/* "|  0.001234" as a number; 0: blank */
static double read_time(const char *column)
{
	return strtod(column + strspn(column, " "), NULL);
}

static void take_line(struct jobs *jobs, char *line)
{
	char *column[8], *at = line, *name;
	int job, is_leave;
	double since;

	for (int i = 0; i < 8; i++) {
		column[i] = at;
		at = strchr(at, '|');
		if (!at)
			return;
		*at++ = '\0';
	}
	jobs->missing += strstr(at, "lost-events:") != NULL;
	name = strstr(at, "label:job");
	if (name && name[9] == '\n')
		jobs->repeated = read_time(column[5]);
	if (!name || sscanf(name, "label:job %d", &job) != 1 || job < 0 || job >= JOBS)
		return;
	is_leave = strstr(column[3], "region_leave") != NULL;
	jobs->off += (unsigned)(name - at) != 1u + 2u * (unsigned)(job % 2);
	if (!is_leave) {
		jobs->enter[job] = read_time(column[5]);
		return;
	}
	jobs->leaves++;
	if (!column[6][strspn(column[6], " ")])
		return;
	jobs->timed++;
	if (jobs->enter[job] <= 0)
		jobs->enter[job] = jobs->repeated;
	since = read_time(column[5]) - jobs->enter[job] - read_time(column[6]);
	jobs->wrong += jobs->enter[job] <= 0 || since > 0.0000015 || since < -0.0000015 || read_time(column[6]) < 0.002;
}

static struct jobs read_jobs(const char *path)
{
	struct jobs jobs = { .leaves = 0 };
	const char *out = getenv("T2_OUT");
	char command[640], line[1024];
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s/t2expand' '%s' 2>/dev/null", out ? out : "build", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe))
		take_line(&jobs, line);
	pclose(pipe);
	return jobs;
}

/* Places that a GAP explains. */
static unsigned count_gaps(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < file.count; i++)
		n += tlg_event_type(&file.events[i]) == TLG_GAP && file.events[i].u.gap.left != TLG_GAP_UNKNOWN;
	return n;
}

static const char *const small[] = { "TRACE2_RAW_RING=64k", "TRACE2_RAW_CYCLE=64k", "TRACE2_RAW_ENCODING=plain", NULL };

/* A thread that was stopped in the middle of an event leaves an abandoned reservation: nobody knows what it was. */
static void test_lossy_trace_has_correct_times_and_nesting(void **state)
{
	struct jobs jobs;

	(void)state;
	traced_run(&t, run_jobs, NULL, small);
	assert_int_equal(t.status, 0);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_true(file.lost > 0);
	jobs = read_jobs(t.raw);
	assert_int_equal(jobs.wrong, 0);
	assert_true(jobs.missing > 0);
	if (jobs.missing > count_gaps())
		return;
	assert_int_equal(jobs.off, 0);
	assert_true(jobs.timed > 0);
}

/* Return  the path of what the file has from its nth cycle on */
static const char *cut_before_cycle(size_t n)
{
	const char *path = traced_path("tail.tlg");

	assert_int_equal(raw_write_from_cycle(&file, n, path), 0);
	return path;
}

/* The drain's idea of what is open is right, too. */
static void test_lossy_trace_is_correct_for_a_reader_that_joins(void **state)
{
	struct jobs jobs;

	(void)state;
	traced_run(&t, run_jobs, NULL, small);
	assert_int_equal(raw_read(t.raw, &file), 0);
	assert_true(file.cycles > 4);
	for (size_t n = 1; n <= file.cycles; n += 1 + file.cycles / 8) {
		jobs = read_jobs(cut_before_cycle(n));
		assert_int_equal(jobs.wrong, 0);
		if (jobs.missing <= count_gaps())
			assert_int_equal(jobs.off, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED_TEST(test_lossy_trace_has_correct_times_and_nesting),
		TRACED_TEST(test_lossy_trace_is_correct_for_a_reader_that_joins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
