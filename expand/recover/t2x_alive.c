/* SPDX-License-Identifier: MIT */
/* t2x_alive.c - see t2x_alive.h. */
#include "t2x_alive.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "tlg_lease.h"

/* ---- who has it mapped -------------------------------------------------------------------------- */

enum mapped { NOBODY, SOMEBODY, NOT_KNOWN };

/*
 * While we have the lease, the kernel blocks whoever opens the file for writing and sends us a SIGIO.  So we ignore
 * SIGIO and return the lease at once.
 */
static enum mapped ask_lease(int fd)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before;
	struct statfs system;
	int error = 0;

	if (fstatfs(fd, &system) || !tlg_lease_tells(&system))
		return NOT_KNOWN;
	sigaction(SIGIO, &ignore, &before);
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		error = errno;
	else
		fcntl(fd, F_SETLEASE, F_UNLCK);
	sigaction(SIGIO, &before, NULL);
	return !error ? NOBODY : error == EAGAIN ? SOMEBODY : NOT_KNOWN;
}

/* For a living process, ring->fd is our copy.  So this function opens the ring file again, by its name. */
static enum mapped ask_file(const struct t2x_ring *ring)
{
	int fd = open(ring->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	enum mapped mapped = NOT_KNOWN;
	struct stat st;

	if (fd < 0)
		return NOT_KNOWN;
	if (!fstat(fd, &st) && st.st_dev == ring->device && st.st_ino == ring->inode)
		mapped = ask_lease(fd);
	close(fd);
	return mapped;
}

static enum mapped ask(const struct t2x_ring *ring)
{
	return ring->is_live ? ask_file(ring) : ask_lease(ring->fd);
}

/*
 * A program that reads /proc files of a dying process, such as ps(1), keeps its memory mapped a little longer than the
 * process lives.  So this function asks again for up to 100 ms.
 */
static int is_released_soon(const struct t2x_ring *ring)
{
	const struct timespec pause = { 0, 20000000 };
	enum mapped mapped = SOMEBODY;

	for (int tries = 0; tries < 5 && mapped == SOMEBODY; tries++) {
		nanosleep(&pause, NULL);
		mapped = ask(ring);
	}
	return mapped == NOBODY;
}

/* ---- the process id ----------------------------------------------------------------------------- */

/* Return  1: the process id belongs to our PID namespace */
static int is_here(const struct t2x_ring *ring)
{
	struct stat st;

	return ring->head.pid_space && !stat("/proc/self/ns/pid", &st) && st.st_ino == ring->head.pid_space;
}

/* Return  0: /proc shows the processes of another PID namespace */
static int is_proc_ours(void)
{
	char self[32];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	return atol(self) == (long)getpid();
}

/* Whether the process with this id has mapped the file.  Return  1, 0; -1: we may not look at its maps */
static int has_mapped(const struct t2x_ring *ring)
{
	char path[64], *line = NULL;
	size_t size = 0;
	unsigned long inode;
	int found = 0;
	FILE *maps;

	if (!is_proc_ours())
		return -1;
	snprintf(path, sizeof(path), "/proc/%u/maps", ring->head.pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT && kill((pid_t)ring->head.pid, 0) && errno == ESRCH ? 0 : -1;
	while (!found && getline(&line, &size, maps) > 0)
		found = sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1 && inode == ring->inode;
	free(line);
	fclose(maps);
	return found;
}

/*
 * Return  1: a thread owns its ring's robust mutex, and the kernel has not marked the mutex as that of a dead thread.
 * The kernel marks it whatever kills the thread.  It does not mark it when another thread than the first calls exec().
 */
static int has_owner(const struct t2x_ring *ring)
{
	struct tlg_ring head;
	struct tlg_ring_tail tail;

	for (unsigned i = 0; i < ring->head.rings_used && t2x_ring_get(ring, i, &head, &tail); i++)
		if (head.owner.word && !(head.owner.word & TLG_RING_OWNER_DEAD))
			return 1;
	return 0;
}

enum t2x_alive t2x_alive(const struct t2x_ring *ring)
{
	enum mapped mapped = ask(ring);
	int by_id;

	if (mapped == NOBODY)
		return T2X_DEAD;
	by_id = has_mapped(ring);
	if (by_id == 1)
		return T2X_ALIVE;
	/* The drain writes pid_space in its first millisecond: a process that died before has left 0 there. */
	if (!is_here(ring))
		return !by_id && mapped == SOMEBODY && !ring->head.pid_space && is_released_soon(ring) ?
			       T2X_DEAD : T2X_ALIVE_ELSEWHERE;
	if (!by_id)
		return T2X_DEAD;
	return mapped == SOMEBODY || has_owner(ring) ? T2X_ALIVE : T2X_DEAD;
}
