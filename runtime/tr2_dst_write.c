/* SPDX-License-Identifier: MIT */
/* tr2_dst_write.c - writing to destinations, and what becomes of a write that fails. */
#include "tr2_dst.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tr2_env.h"
#include "tr2_text.h"

enum {
	WRITE_TRIES = 5,          /* in a row without progress */
	DISK_PAUSE_MS = 2,
	SOCKET_WAIT_MS = 20,
	PIPE_WAIT_MS = 200,
	LONGEST_MS = 1000,        /* of one write, whatever progress it makes */
};

static int is_socket(const struct tr2_dst *dst)
{
	return dst->kind == TR2_DST_STREAM || dst->kind == TR2_DST_DGRAM;
}

static ssize_t write_some(const struct tr2_dst *dst, const char *data, size_t bytes)
{
	if (is_socket(dst))
		return send(dst->fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(dst->fd, data, bytes);
}

/*
 * A write that fails raises SIGPIPE or SIGXFSZ in its thread, where all signals are blocked: take it back.
 * pending  before the write: not ours
 */
static void take_back_signal(int error, const sigset_t *pending)
{
	const struct timespec now = { 0, 0 };
	sigset_t set;
	int signal = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;

	if (!signal || sigismember(pending, signal))
		return;
	sigemptyset(&set);
	sigaddset(&set, signal);
	while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
		;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Wait a moment for what may pass.  0: this error will not. */
static int wait_and_retry(const struct tr2_dst *dst, int error)
{
	const struct timespec pause = { 0, DISK_PAUSE_MS * 1000000 };
	struct pollfd poll_fd = { .fd = dst->fd, .events = POLLOUT };

	if (error == EAGAIN)
		return poll(&poll_fd, 1, is_socket(dst) ? SOCKET_WAIT_MS : PIPE_WAIT_MS) >= 0;
	if (error == ENOSPC || error == EDQUOT || error == EIO || error == ENOBUFS)
		return !nanosleep(&pause, NULL);
	return 0;
}

/* Patience is for the first trouble: while nothing gets through, nobody is waited for again. */
static int may_retry(const struct tr2_dst *dst, int error, int tries, uint64_t *until)
{
	uint64_t now = now_ms();

	if (!*until)
		*until = now + LONGEST_MS;
	return !dst->is_stuck && tries < WRITE_TRIES && now < *until && wait_and_retry(dst, error);
}

/* Return  0 or -errno    *done: bytes that were written */
static int write_all(struct tr2_dst *dst, const char *data, size_t bytes, size_t *done)
{
	int tries = 0;
	uint64_t until = 0;
	sigset_t pending;

	sigpending(&pending);
	for (*done = 0; *done < bytes;) {
		ssize_t n = write_some(dst, data + *done, bytes - *done);
		int error = n < 0 ? errno : EIO;
		if (n > 0) {
			*done += (size_t)n;
			tries = 0;
			continue;
		}
		if (error == EINTR)
			continue;
		take_back_signal(error, &pending);
		if (!may_retry(dst, error, ++tries, &until))
			return -error;
	}
	return 0;
}

/*
 * Drop what a failed write has left behind the last whole frame, so many bytes.  Where that cannot be done a reader
 * will find its way around what is there; where a forked child writes too, it must not be done.
 * Return  bytes that are left
 */
static size_t cut_back(struct tr2_dst *dst, size_t bytes)
{
	struct stat st;

	if (!dst->own)
		return bytes;
	if (tr2_fd_is(dst->fd, &dst->identity) && !fstat(dst->fd, &st) &&
	    st.st_size == dst->good + (off_t)bytes && !ftruncate(dst->fd, dst->good))
		return 0;
	dst->own = 0;
	return bytes;
}

/* The program may have closed what it gave, or our copy. */
static int hold_on_to_given(struct tr2_dst *dst)
{
	if (dst->given == STDERR_FILENO)
		return 1;   /* is what it is to the program */
	if (!tr2_fd_is(dst->fd, &dst->identity))
		dst->fd = dst->given;
	return tr2_fd_is(dst->given, &dst->identity);
}

/* Apart, for the path takes half of the stack that a signal handler may have.  Return  0: it is not there any more */
static __attribute__((noinline)) int open_again(struct tr2_dst *dst)
{
	char path[sizeof(dst->path)];
	uint64_t device, inode;
	int fd;

	if (tr2_dst_file(dst, path, sizeof(path), &device, &inode))
		return 0;
	dst->fd = -1;
	fd = tr2_fd_append(path, 0);
	if (fd < 0)
		return 0;
	if (!tr2_fd_is(fd, &dst->identity)) {
		close(fd);
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

	if (tr2_dst_lacks_file(dst))
		dst->is_gone = !open_again(dst);
	errno = saved;
}

int tr2_dst_write(struct tr2_dst *dst, const void *data, size_t bytes, size_t *stored)
{
	int saved = errno;
	size_t done = 0;
	int error = dst->kind == TR2_DST_OFF || !hold_on(dst) ? -EBADF : write_all(dst, data, bytes, &done);

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
