/* SPDX-License-Identifier: MIT */
/* t2x_behind.c - see t2x_behind.h. */
#include "t2x_behind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_ready(const struct t2x_duty *duty)
{
	return ((const struct t2x_behind *)duty)->nfull > 0;
}

/* The duty: write the oldest full buffer.  After a failed write the rest is dropped. */
static void write_one(struct t2x_duty *duty)
{
	struct t2x_behind *behind = (struct t2x_behind *)duty;
	struct t2x_full full = behind->full[0];
	int error = behind->error;

	if (!error) {
		t2x_crew_unlock(behind->crew);
		error = t2x_out_write(behind->fd, full.buf, full.n);
		t2x_crew_lock(behind->crew);
	}
	behind->error = error;
	memmove(behind->full, behind->full + 1, --behind->nfull * sizeof(behind->full[0]));
	behind->spare[behind->nspare++] = full.buf;
}

/* The t2x_pass_fn. */
static char *pass(void *target, char *buf, size_t n)
{
	struct t2x_behind *behind = target;
	char *next;

	t2x_crew_lock(behind->crew);
	behind->full[behind->nfull++] = (struct t2x_full){ buf, n };
	t2x_crew_changed(behind->crew);
	while (!behind->nspare)
		t2x_crew_wait(behind->crew);
	next = behind->spare[--behind->nspare];
	t2x_crew_unlock(behind->crew);
	return next;
}

static void free_spare(struct t2x_behind *behind)
{
	while (behind->nspare)
		free(behind->spare[--behind->nspare]);
}

int t2x_behind_start(struct t2x_behind *behind, struct t2x_crew *crew, struct t2x_out *out, int fd)
{
	*behind = (struct t2x_behind){
		.duty = { .is_ready = is_ready, .work = write_one }, .crew = crew, .fd = fd,
	};
	for (; behind->nspare < T2X_BEHIND_BUFFERS - 1; behind->nspare++) {
		behind->spare[behind->nspare] = malloc(T2X_OUT_BYTES);
		if (!behind->spare[behind->nspare]) {
			free_spare(behind);
			return -ENOMEM;
		}
	}
	t2x_out_pass_on(out, pass, behind);
	t2x_crew_lock(crew);
	t2x_crew_add(crew, &behind->duty);
	t2x_crew_unlock(crew);
	return 0;
}

int t2x_behind_finish(struct t2x_behind *behind)
{
	t2x_crew_lock(behind->crew);
	while (behind->nfull)
		t2x_crew_wait(behind->crew);
	t2x_crew_remove(behind->crew, &behind->duty);
	t2x_crew_unlock(behind->crew);
	free_spare(behind);
	return behind->error;
}
