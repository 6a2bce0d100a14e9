/* SPDX-License-Identifier: MIT */
/* numbered.c - see numbered.h. */
#include "numbered.h"

#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t2test.h"
#include "collect.h"
#include "trace2.h"
#include "traced.h"

enum { MAX = 1 << 16, FIRST = 1000000 };   /* no other event has values that large */

int numbered_next;

static unsigned char g_seen[MAX];

int numbered_setup(void **state)
{
	int error = traced_setup(state);

	if (!error)
		error = setenv("XDG_RUNTIME_DIR", t.dir, 1);
	return error;
}

void numbered_record(int n)
{
	for (int i = 0; i < n; i++)
		trace2_data_intmax("t", NULL, "n", FIRST + numbered_next++);
}

size_t numbered_ring_files(void)
{
	char pattern[160];
	glob_t found;
	size_t n;

	snprintf(pattern, sizeof(pattern), "%s/trace2-*.ring", t.dir);
	n = glob(pattern, 0, NULL, &found) ? 0 : found.gl_pathc;
	globfree(&found);
	return n;
}

static void note_block(void *unused, const struct t2x_block *block)
{
	(void)unused;
	for (unsigned i = 0; i < block->count; i++) {
		const struct tlg_event *event = &block->events[i];
		if (tlg_event_type(event) == TLG_VALUE && event->u.value.value >= FIRST &&
		    event->u.value.value < FIRST + MAX)
			g_seen[event->u.value.value - FIRST]++;
	}
}

static void assert_seen(unsigned n, unsigned max)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(g_seen[i], 1);
	for (unsigned i = n; i < max; i++)
		assert_in_range(g_seen[i], 0, 1);
	for (unsigned i = max; i < MAX; i++)
		assert_int_equal(g_seen[i], 0);
}

static int read_trace(void)
{
	memset(g_seen, 0, sizeof(g_seen));
	return collect_file(t.raw, note_block, NULL);
}

/* Return  0: the file has nothing in it */
static int read_ring(const char *ring)
{
	int is_read;

	memset(g_seen, 0, sizeof(g_seen));
	is_read = collect(ring, 0, note_block, NULL).hits != UINT64_MAX;
	unlink(ring);
	return is_read;
}

void numbered_assert_written(unsigned n)
{
	assert_int_equal(numbered_ring_files(), 0);
	assert_int_equal(read_trace(), 1);
	assert_seen(n, n);
}

void numbered_assert_recovered(unsigned n)
{
	char ring[256];

	assert_true(WIFSIGNALED(t.status) && WTERMSIG(t.status) == SIGKILL);
	assert_int_equal(collect_find(0, ring, sizeof(ring)), 1);
	assert_true(read_ring(ring));
	assert_seen(n, n);
}

void numbered_assert_left(unsigned n, unsigned max)
{
	char ring[256];

	if (!collect_find(0, ring, sizeof(ring)) || !read_ring(ring))
		assert_int_equal(read_trace(), 1);
	assert_seen(n, max);
}
