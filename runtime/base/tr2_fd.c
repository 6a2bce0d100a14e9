/* SPDX-License-Identifier: MIT */
/* tr2_fd.c - see tr2_fd.h. */
#include "tr2_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tr2_sys.h"
#include "tr2_text.h"

/* Below 256, where the kernel's table of a process ends that has opened a little. */
enum { LEAST = 200, LEAST_WITHOUT_ROOM = STDERR_FILENO + 1 };
enum { READING = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

static __thread int g_opens_no_more __attribute__((tls_model("initial-exec")));

void tr2_fd_open_no_more(void)
{
	g_opens_no_more = 1;
}

int tr2_fd_may_open(void)
{
	return !g_opens_no_more;
}

int tr2_fd_move_away(int fd)
{
	int saved = errno, moved;

	if (fd < 0)
		return fd;
	moved = tr2_sys_fcntl(fd, F_DUPFD_CLOEXEC, LEAST);
	if (moved < 0 && fd < LEAST_WITHOUT_ROOM)
		moved = tr2_sys_fcntl(fd, F_DUPFD_CLOEXEC, LEAST_WITHOUT_ROOM);
	if (moved >= 0)
		tr2_sys_close(fd);
	errno = saved;
	return moved >= 0 ? moved : fd;
}

int tr2_fd_copy_of_file(int fd)
{
	struct stat st;
	int saved = errno, copy = -1;

	if (!tr2_sys_fstat(fd, &st) && S_ISREG(st.st_mode))
		copy = tr2_sys_fcntl(fd, F_DUPFD_CLOEXEC, LEAST);
	errno = saved;
	return copy >= 0 ? copy : fd;
}

int tr2_fd_append(const char *path, int create)
{
	int fd = tr2_sys_open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | create, 0666);
	struct stat st;

	if (fd >= 0 && !tr2_sys_fstat(fd, &st) && !S_ISFIFO(st.st_mode))
		tr2_sys_fcntl(fd, F_SETFL, O_APPEND);
	return tr2_fd_move_away(fd);
}

int tr2_fd_append_file(const char *path, struct stat *st)
{
	int fd = tr2_sys_open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_CREAT, 0666);

	if (fd >= 0 && !tr2_sys_fstat(fd, st) && S_ISREG(st->st_mode)) {
		tr2_sys_fcntl(fd, F_SETFL, O_APPEND);
		return tr2_fd_move_away(fd);
	}
	if (fd >= 0)
		tr2_sys_close(fd);
	fd = tr2_fd_append(path, O_CREAT);
	if (fd >= 0 && tr2_sys_fstat(fd, st))
		st->st_mode = 0;
	return fd;
}

struct tr2_fd_identity tr2_fd_identify(int fd)
{
	struct stat st;
	int saved = errno;

	if (tr2_sys_fstat(fd, &st)) {
		errno = saved;
		return (struct tr2_fd_identity){ 0, 0 };
	}
	return (struct tr2_fd_identity){ st.st_dev, st.st_ino };
}

int tr2_fd_is(int fd, const struct tr2_fd_identity *identity)
{
	struct tr2_fd_identity now = tr2_fd_identify(fd);

	return now.inode && now.inode == identity->inode && now.device == identity->device;
}

/* The file of fd, for reading.  /proc leads to it in any case, but its first use costs a process 30 us. */
static int open_again(int fd, const char *path)
{
	const struct tr2_fd_identity identity = tr2_fd_identify(fd);
	char link[32];
	struct tr2_text text = tr2_text_begin(link, sizeof(link));
	int reading = *path ? tr2_sys_open(path, READING, 0) : -1;

	if (reading >= 0 && tr2_fd_is(reading, &identity))
		return reading;
	if (reading >= 0)
		tr2_sys_close(reading);
	tr2_text_add(&text, "/proc/self/fd/");
	tr2_text_decimal(&text, (uint64_t)fd, 1);
	return tr2_sys_open(link, READING, 0);
}

int tr2_fd_begin(int fd, const char *path, unsigned char *bytes, size_t n)
{
	struct stat st;
	int saved = errno, reading = -1, has_all;

	if (tr2_sys_fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)n) {
		errno = saved;
		return 0;
	}
	if (tr2_sys_pread(fd, bytes, n, 0) == (ssize_t)n) {
		errno = saved;
		return 1;
	}
	reading = open_again(fd, path);
	has_all = reading >= 0 && tr2_sys_read(reading, bytes, n) == (ssize_t)n;
	if (reading >= 0)
		tr2_sys_close(reading);
	errno = saved;
	return has_all;
}
