/* SPDX-License-Identifier: MIT */
/* t2x_tap.c - see t2x_tap.h. */
#include "t2x_tap.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recover/t2x_alive.h"

enum { EVERY = 20 };                      /* so many checks ask the kernel once who has the file mapped */

struct t2x_tap *t2x_tap_open(const char *path)
{
	struct t2x_tap *tap = calloc(1, sizeof(*tap));
	struct stat st;

	if (!tap)
		return NULL;
	tap->pidfd = tap->ring.fd = -1;
	tap->path = strdup(path);
	tap->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (!tap->path || tap->fd < 0 || fstat(tap->fd, &st) || !S_ISREG(st.st_mode)) {
		t2x_tap_close(tap);
		return NULL;
	}
	tap->device = st.st_dev;
	tap->inode = st.st_ino;
	return tap;
}

void t2x_tap_close(struct t2x_tap *tap)
{
	t2x_tap_end(tap);
	if (tap->fd >= 0)
		close(tap->fd);
	if (tap->pidfd >= 0)
		close(tap->pidfd);
	free(tap->path);
	free(tap);
}

/* ---- is it alive -------------------------------------------------------------------------------- */

/* The ring file as it is, not a copy.  Return  0: it has no valid head */
static int open_itself(struct t2x_tap *tap, struct t2x_ring *ring)
{
	return !t2x_ring_adopt(ring, fcntl(tap->fd, F_DUPFD_CLOEXEC, 0), tap->path, 0);
}

/* The id is of our PID namespace if this process has the file mapped, which t2x_alive() has just found. */
static void open_process(struct t2x_tap *tap)
{
#ifdef SYS_pidfd_open
	tap->pidfd = (int)syscall(SYS_pidfd_open, (int)tap->head.pid, 0);
#endif
}

int t2x_tap_has_process(const struct t2x_tap *tap)
{
	struct pollfd end = { .fd = tap->pidfd, .events = POLLIN };

	return tap->pidfd >= 0 && !poll(&end, 1, 0);
}

static enum t2x_tap_state find_state(struct t2x_tap *tap, const struct t2x_ring *ring)
{
	int is_first = tap->state == T2X_TAP_NEW;
	enum t2x_alive alive;

	if (ring->head.is_over)
		return T2X_TAP_OVER;
	if (!is_first && t2x_tap_has_process(tap) && tap->checks % EVERY)
		return T2X_TAP_ALIVE;
	alive = t2x_alive(ring);
	if (is_first && alive == T2X_ALIVE)
		open_process(tap);
	return alive == T2X_DEAD ? T2X_TAP_DEAD : T2X_TAP_ALIVE;
}

void t2x_tap_check(struct t2x_tap *tap)
{
	struct t2x_ring ring;

	if (tap->state != T2X_TAP_NEW && tap->state != T2X_TAP_ALIVE)
		return;
	if (!open_itself(tap, &ring)) {
		struct stat st;

		/* The process is just making it, or went in that instant. */
		if (!fstat(tap->fd, &st) && !st.st_nlink)
			tap->state = T2X_TAP_OVER;
		return;
	}
	tap->head = ring.head;
	tap->file = ring.state;
	tap->state = find_state(tap, &ring);
	tap->checks++;
	t2x_ring_close(&ring);
}

/* ---- rounds ------------------------------------------------------------------------------------- */

int t2x_tap_begin(struct t2x_tap *tap)
{
	int fd = tap->state == T2X_TAP_ALIVE || tap->state == T2X_TAP_DEAD ? fcntl(tap->fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (fd < 0)
		return 0;
	tap->why = t2x_ring_adopt(&tap->ring, fd, tap->path, tap->state == T2X_TAP_ALIVE);
	if (tap->why)
		return 0;
	tap->file = tap->ring.state;
	tap->salvage = t2x_salvage_new(&tap->ring);
	return tap->salvage != NULL;
}

void t2x_tap_end(struct t2x_tap *tap)
{
	if (tap->state == T2X_TAP_DEAD && tap->salvage)
		tap->state = T2X_TAP_OVER;
	t2x_salvage_free(tap->salvage);
	tap->salvage = NULL;
	t2x_ring_close(&tap->ring);
}
