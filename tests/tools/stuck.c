/* SPDX-License-Identifier: MIT */
/* stuck.c - see stuck.h. */
#include "t2test.h"

#include <stdlib.h>
#include <unistd.h>

#include "stuck.h"

static int finished[2];           /* a pipe that has ended when the slow reader has */
static int go[2];

int stuck_setup(void **state)
{
	return traced_setup(state) || pipe(finished);
}

/* A test that was skipped has not waited: descriptor 9 has to stay free. */
int stuck_teardown(void **state)
{
	close(finished[0]);
	if (finished[1] >= 0)
		close(finished[1]);
	return traced_teardown(state);
}

int stuck_await(void)
{
	char none;

	close(finished[1]);
	finished[1] = -1;
	return read(finished[0], &none, 1) ? -1 : 0;
}

/* In the process that reads. */
static void wait_once(void *data)
{
	int *is_going = data;
	char none;

	if (*is_going)
		return;
	close(go[1]);
	if (read(go[0], &none, 1) != 1)
		abort();
	*is_going = 1;
}

void stuck_begin(void)
{
	int is_going = 0;

	if (pipe(go))
		abort();
	traced_slow_target(wait_once, &is_going);
}

void stuck_release(void)
{
	if (write(go[1], "", 1) != 1)
		abort();
}
