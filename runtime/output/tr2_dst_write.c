/* SPDX-License-Identifier: MIT */
/* tr2_dst_write.c - writing to destinations, and what becomes of a write that fails. */
#include "tr2_dst.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/tr2_mask.h"
#include "base/tr2_progress.h"
#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "settings/tr2_env.h"

enum {
	PAUSE_US = 2000,          /* where there is nothing to poll */
	DISK_TRIES = 5,           /* with a disk that is full */
	SLICE_MS = 50,            /* of waiting for a peer */
	PEER_US = 1000000,        /* that a peer may take nothing from anybody */
	RACE_PAUSE_US = 100,      /* when other senders were faster */
	RACES = 600000,           /* lost in a row: a minute, and no sender is that unlucky */
};

/* What a write has waited since its last progress. */
struct wait {
	unsigned idle_us;         /* while the peer took nothing */
	unsigned races;
};

static int is_socket(const struct tr2_dst *dst)
{
	return dst->kind == TR2_DST_STREAM || dst->kind == TR2_DST_DGRAM;
}

static ssize_t write_some(const struct tr2_dst *dst, const char *data, size_t bytes)
{
	if (is_socket(dst))
		return tr2_sys_send(dst->fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	return tr2_sys_write(dst->fd, data, bytes);
}

static void sleep_us(unsigned us)
{
	tr2_sys_sleep((long)us * 1000);
}

static int is_writable(const struct tr2_dst *dst, int ms)
{
	struct pollfd poll_fd = { .fd = dst->fd, .events = POLLOUT };

	return tr2_sys_poll(&poll_fd, 1, ms) > 0;
}

int tr2_dst_takes_now(const struct tr2_dst *dst)
{
	int saved = errno, is = dst->kind == TR2_DST_OFF || is_writable(dst, 0);

	errno = saved;
	return is;
}

/*
 * Room for one datagram wakes all senders.  A sender that comes too late goes on waiting, for the peer reads.
 * Return  0: it has taken nothing for too long
 */
static int wait_for_peer(const struct tr2_dst *dst, struct wait *wait)
{
	if (!is_writable(dst, SLICE_MS)) {
		wait->idle_us += SLICE_MS * 1000;
		return wait->idle_us < PEER_US;
	}
	wait->idle_us = 0;
	if (wait->races++)
		sleep_us(RACE_PAUSE_US);
	return wait->races < RACES;
}

/* Wait a moment and try again, if the error may pass.  0: it will not, or not soon */
static int wait_and_retry(const struct tr2_dst *dst, int error, struct wait *wait)
{
	switch (error) {
	case EAGAIN:
		return wait_for_peer(dst, wait);
	case ENOBUFS:
		wait->idle_us += PAUSE_US;
		break;
	case ENOSPC:
	case EDQUOT:
	case EIO:
		wait->idle_us += PEER_US / DISK_TRIES;
		break;
	default:
		return 0;
	}
	if (wait->idle_us >= PEER_US)
		return 0;
	sleep_us(PAUSE_US);
	return 1;
}

/* Return  0 or -errno    *done: bytes that were written */
static int write_all(struct tr2_dst *dst, const char *data, size_t bytes, size_t *done)
{
	struct wait wait = { 0 };
	sigset_t pending;

	tr2_sys_sigpending(&pending);
	for (*done = 0; *done < bytes;) {
		ssize_t n = write_some(dst, data + *done, bytes - *done);
		int error = n < 0 ? errno : EIO;
		tr2_progress_made();
		if (n > 0) {
			*done += (size_t)n;
			wait = (struct wait){ 0 };
			continue;
		}
		if (error == EINTR)
			continue;
		tr2_mask_take_back(error, &pending);
		if (dst->is_stuck || !wait_and_retry(dst, error, &wait))
			return -error;
	}
	return 0;
}

/*
 * Truncate what a failed write has left behind the last whole frame, so many bytes, if the file has grown by nothing
 * else since it was opened.  Else others write to it, too, and what is at its end may be theirs.  There, and where
 * truncating fails, readers step over the torn frame.
 * Return  bytes that are left
 */
static size_t cut_back(struct tr2_dst *dst, size_t bytes)
{
	struct stat st;

	if (!dst->is_alone)
		return bytes;
	if (tr2_fd_is(dst->fd, &dst->identity) && !tr2_sys_fstat(dst->fd, &st) &&
	    st.st_size == dst->good + (off_t)bytes && (!bytes || !tr2_sys_ftruncate(dst->fd, dst->good)))
		return 0;
	dst->is_alone = 0;
	return bytes;
}

/* The program may have closed what it gave, or our copy. */
static int hold_on_to_given(struct tr2_dst *dst)
{
	if (dst->given == STDERR_FILENO)
		return 1;   /* whatever the program has made of it */
	if (!tr2_fd_is(dst->fd, &dst->identity))
		dst->fd = dst->given;
	return tr2_fd_is(dst->given, &dst->identity);
}

/* Not inline: the path takes half of the stack that a signal handler may have.  Return  0: see errno */
static __attribute__((noinline)) int open_again(struct tr2_dst *dst)
{
	char path[sizeof(dst->path)];
	uint64_t device, inode;
	int fd;

	dst->fd = -1;
	errno = ENOENT;   /* or another file is there */
	if (tr2_dst_file(dst, path, sizeof(path), &device, &inode))
		return 0;
	fd = tr2_fd_append(path, 0);
	if (fd < 0)
		return 0;
	if (!tr2_fd_is(fd, &dst->identity)) {
		tr2_sys_close(fd);
		errno = ENOENT;
		return 0;
	}
	dst->fd = fd;
	return 1;
}

/* The program may have opened something else in its place.  Return  0: what was opened is gone for us */
static int hold_on(struct tr2_dst *dst)
{
	if (dst->kind == TR2_DST_FD)
		return hold_on_to_given(dst);
	return tr2_fd_is(dst->fd, &dst->identity) || (tr2_fd_may_open() && open_again(dst));
}

int tr2_dst_lacks_file(const struct tr2_dst *dst)
{
	return (dst->kind == TR2_DST_FILE || dst->kind == TR2_DST_DIRECTORY) && !dst->is_gone &&
	       !tr2_fd_is(dst->fd, &dst->identity);
}

void tr2_dst_open_again(struct tr2_dst *dst)
{
	int saved = errno;

	dst->is_missing = 0;
	if (tr2_dst_lacks_file(dst) && !open_again(dst)) {
		dst->is_missing = dst->is_regular && errno != ENOENT && errno != ENOTDIR;
		dst->is_gone = !dst->is_missing;
	}
	errno = saved;
}

off_t tr2_dst_find_limit(void)
{
	struct rlimit limit;

	if (tr2_sys_getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	return (off_t)limit.rlim_cur;
}

/*
 * A limit of the file's size is known, and the write would go beyond it, or leave too little room.  The program may
 * have changed the limit: it is looked at again where it matters.  One that is new is learnt from the write that it
 * stops.
 */
static int is_beyond(struct tr2_dst *dst, size_t bytes)
{
	struct stat st;

	if (!dst->limit || tr2_sys_fstat(dst->fd, &st) || st.st_size + (off_t)bytes <= dst->limit)
		return 0;
	dst->limit = tr2_dst_find_limit();
	return dst->limit && st.st_size + (off_t)bytes > dst->limit;
}

/* Return  0 or -errno    *done: bytes that were written */
static int try_write(struct tr2_dst *dst, const char *data, size_t bytes, size_t *done)
{
	int error;

	if (dst->kind == TR2_DST_OFF || !hold_on(dst))
		return -EBADF;
	if (is_beyond(dst, bytes + dst->room))
		return -EFBIG;
	error = write_all(dst, data, bytes, done);
	if (error == -EFBIG)
		dst->limit = tr2_dst_find_limit();
	return error;
}

int tr2_dst_write(struct tr2_dst *dst, const void *data, size_t bytes, size_t *stored)
{
	int saved = errno;
	size_t done = 0;
	int error = try_write(dst, data, bytes, &done);

	if (!error)
		dst->good += (off_t)bytes;
	else
		done = cut_back(dst, done);
	if (stored)
		*stored = done;
	if (error && *dst->variable)
		tr2_warning_without_name("unable to write trace to '", dst->variable, "': ", tr2_text_error(-error));
	if (error)
		dst->variable[0] = '\0';
	dst->is_stuck = error != 0;
	errno = saved;
	return error;
}
