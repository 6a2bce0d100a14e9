/* SPDX-License-Identifier: MIT */
/* tr2_dst.c - opening and writing destinations. */
#include "tr2_dst.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/tr2_sys.h"
#include "base/tr2_text.h"
#include "settings/tr2_env.h"

static const char suffix[] = ".tlg";
static const char sentinel[] = "git-trace2-discard";

/* 1: say why a destination stays off.  A terminal that has been stopped would stop the program, too. */
static int is_asked_why(const struct tr2_dst_rules *rules)
{
	struct pollfd terminal = { .fd = STDERR_FILENO, .events = POLLOUT };
	int saved = errno, is_asked = rules->debug;

	if (!is_asked && rules->is_for_terminal)
		is_asked = tr2_sys_isatty(STDERR_FILENO) && tr2_sys_poll(&terminal, 1, 0) > 0 &&
			   terminal.revents & POLLOUT;
	errno = saved;
	return is_asked;
}

/* ---- files -------------------------------------------------------------------------------------- */

/* Insert ".N" before ".tlg", or append it.  0: the name becomes too long. */
static int number_name(char *to, size_t size, const char *path, unsigned number)
{
	struct tr2_text name = tr2_text_begin(to, size);
	size_t length = strlen(path), stem = length;
	const size_t tail = sizeof(suffix) - 1;

	if (length > tail && !strcmp(path + length - tail, suffix))
		stem = length - tail;
	if (length + sizeof(".4294967295") > size)
		return 0;
	memcpy(to, path, stem);
	name.at += stem;
	tr2_text_add(&name, ".");
	tr2_text_decimal(&name, number, 1);
	tr2_text_add(&name, path + stem);
	return 1;
}

static int open_new(const char *path)
{
	return tr2_fd_move_away(tr2_sys_open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

/* 0: the path becomes too long. */
static int join_name(char *to, size_t size, const char *directory, const char *name)
{
	size_t length = strlen(directory), bytes = strlen(name);

	if (length + bytes + 2 > size) {
		errno = ENAMETOOLONG;
		return 0;
	}
	memcpy(to, directory, length);
	to[length++] = '/';
	memcpy(to + length, name, bytes + 1);
	return 1;
}

/* A new file for this process in a directory: its name, else with ".1" to ".9". */
static int open_in_directory(struct tr2_dst *dst, const char *directory, const char *name)
{
	char first[sizeof(dst->path)];

	if (!join_name(first, sizeof(first), directory, name))
		return -1;
	strcpy(dst->path, first);
	for (unsigned i = 1; (dst->fd = open_new(dst->path)) < 0 && i < 10; i++)
		if (!number_name(dst->path, sizeof(dst->path), first, i))
			break;
	if (dst->fd < 0)
		strcpy(dst->path, first);   /* what could not be opened, for the message */
	dst->own = dst->is_alone = dst->is_regular = 1;
	return dst->fd;
}

/*
 * The entries of a directory, "." and ".." too, at most limit.  Not by readdir(3): opendir(3) allocates, and a
 * forked child may not.
 */
static unsigned count_entries(const char *directory, unsigned limit)
{
	union {
		struct dirent64 first;
		char bytes[2048];
	} entries;
	unsigned count = 0;
	ssize_t bytes;
	int fd = tr2_sys_open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	while (fd >= 0 && count < limit && (bytes = tr2_sys_getdents(fd, &entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < bytes && count < limit; count++)
			at += ((const struct dirent64 *)(const void *)(entries.bytes + at))->d_reclen;
	if (fd >= 0)
		tr2_sys_close(fd);
	return count;
}

/*
 * With so many files in a directory no more are wanted: the process that finds that out says so in the sentinel.
 * 0: there is room, or no limit; else dst is the sentinel, open only if this process has made it.
 */
static int open_sentinel(struct tr2_dst *dst, const char *directory, unsigned max_files)
{
	struct stat st;

	if (!max_files || !join_name(dst->path, sizeof(dst->path), directory, sentinel))
		return 0;
	if (tr2_sys_stat(dst->path, &st) && count_entries(directory, max_files) < max_files)
		return 0;
	dst->is_sentinel = 1;
	dst->own = dst->is_alone = 1;
	dst->fd = open_new(dst->path);
	return 1;
}

static int open_target(struct tr2_dst *dst, const char *path, const char *name, unsigned max_files)
{
	struct stat st;
	int is_there = !tr2_sys_stat(path, &st), is_other = is_there && !S_ISREG(st.st_mode);

	if (is_other && S_ISDIR(st.st_mode)) {
		dst->kind = TR2_DST_DIRECTORY;
		return open_sentinel(dst, path, max_files) ? dst->fd : open_in_directory(dst, path, name);
	}
	dst->kind = TR2_DST_FILE;
	if (strlen(path) >= sizeof(dst->path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(dst->path, path);
	dst->fd = is_other ? tr2_fd_append(path, O_CREAT) : tr2_fd_append_file(path, &st);
	if (dst->fd >= 0 && !is_other && S_ISREG(st.st_mode)) {
		dst->identity = (struct tr2_fd_identity){ st.st_dev, st.st_ino };
		dst->good = st.st_size;
		dst->is_alone = dst->is_regular = 1;
	}
	return dst->fd;
}

/* ---- sockets ------------------------------------------------------------------------------------ */

static int connect_socket(const char *path, int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, saved;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	fd = tr2_fd_move_away(tr2_sys_socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK));
	if (fd < 0 || !tr2_sys_connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	saved = errno;
	tr2_sys_close(fd);
	errno = saved;
	return -1;
}

/* PATH is absolute; without a type stream is tried first, as git does. */
static int open_socket(struct tr2_dst *dst, const char *path, int stream, int dgram)
{
	dst->fd = -1;
	if (stream) {
		dst->kind = TR2_DST_STREAM;
		dst->fd = connect_socket(path, SOCK_STREAM);
	}
	if (dst->fd < 0 && dgram && (!stream || errno == EPROTOTYPE)) {
		dst->kind = TR2_DST_DGRAM;
		dst->fd = connect_socket(path, SOCK_DGRAM);
	}
	return dst->fd;
}

static int open_af_unix(struct tr2_dst *dst, const char *variable, const char *value,
			const struct tr2_dst_rules *rules)
{
	const char *path = value + strlen("af_unix:");
	int stream = 1, dgram = 1;

	if (!strncmp(path, "stream:", 7)) {
		path += 7;
		dgram = 0;
	} else if (!strncmp(path, "dgram:", 6)) {
		path += 6;
		stream = 0;
	}
	if (*path != '/' || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
		if (is_asked_why(rules))
			tr2_warning("invalid AF_UNIX path '", path, "' for '", variable, "' tracing");
		return -1;
	}
	strcpy(dst->path, path);
	if (open_socket(dst, path, stream, dgram) >= 0)
		return 0;
	if (is_asked_why(rules))
		tr2_warning("could not connect to socket '", path, "' for '", variable, "' tracing: ",
			    tr2_text_error(errno));
	return -1;
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* The file or directory that value names. */
static int open_named(struct tr2_dst *dst, const char *variable, const char *value, const char *name,
		      const struct tr2_dst_rules *rules)
{
	if (open_target(dst, value, name, rules->max_files) >= 0)
		return 0;
	if (dst->is_sentinel && errno == EEXIST) {
		if (rules->debug)   /* as somebody has asked for: nothing is wrong */
			tr2_warning("not opening ", variable,
				    " trace file due to too many files in target directory ", value);
	} else if (is_asked_why(rules)) {
		tr2_warning("could not open '", *dst->path ? dst->path : value, "' for '", variable, "' tracing: ",
			    tr2_text_error(errno));
	}
	return -1;
}

/*
 * A descriptor that is not open now stays off, as with git, whose first write is now: what the program opens under
 * its number later is the program's.
 */
static int open_descriptor(struct tr2_dst *dst, const char *variable, int fd, const struct tr2_dst_rules *rules)
{
	dst->kind = TR2_DST_FD;
	dst->fd = dst->given = fd;
	if (tr2_fd_identify(fd).inode) {
		dst->fd = fd == STDERR_FILENO ? fd : tr2_fd_copy_of_file(fd);
		return 0;
	}
	if (is_asked_why(rules))
		tr2_warning_without_name("unable to write trace to '", variable, "': ", tr2_text_error(EBADF));
	return -1;
}

int tr2_dst_is_off(const char *value)
{
	return !value || !*value || !strcmp(value, "0") || tr2_text_is(value, "false");
}

static int open_value(struct tr2_dst *dst, const char *variable, const char *value, const char *name,
		      const struct tr2_dst_rules *rules)
{
	if (tr2_dst_is_off(value))
		return -1;
	if (!strcmp(value, "1") || tr2_text_is(value, "true"))
		value = "2";
	if (*value >= '2' && *value <= '9' && !value[1])
		return open_descriptor(dst, variable, *value - '0', rules);
	if (!strncmp(value, "af_unix:", 8))
		return open_af_unix(dst, variable, value, rules);
	if (*value == '/')
		return open_named(dst, variable, value, name, rules);
	if (rules->is_git_s)
		tr2_warning("unknown value for '", variable, "': '", value, "'");
	else if (is_asked_why(rules))
		tr2_warning("could not open '", value, "' for '", variable, "' tracing: must be an absolute path");
	return -1;
}

int tr2_dst_open(struct tr2_dst *dst, const char *variable, const char *value, const char *name,
		 const struct tr2_dst_rules *rules)
{
	int saved = errno, result;

	memset(dst, 0, offsetof(struct tr2_dst, path) + 1);   /* of the path, a page, only the first byte */
	dst->fd = -1;
	result = open_value(dst, variable, value, name, rules);
	if (result) {
		dst->kind = TR2_DST_OFF;
		dst->is_sentinel = 0;
	} else if (rules->debug) {
		strncpy(dst->variable, variable, sizeof(dst->variable) - 1);
	}
	if (!dst->identity.inode)
		dst->identity = tr2_fd_identify(dst->fd);
	dst->limit = dst->is_alone ? tr2_dst_find_limit() : 0;
	errno = saved;
	return result;
}

/* Close what we have opened, if it is still that. */
static void close_fd(const struct tr2_dst *dst)
{
	int is_theirs = dst->kind == TR2_DST_FD && dst->fd == dst->given;

	if (!is_theirs && dst->kind != TR2_DST_OFF && tr2_fd_is(dst->fd, &dst->identity))
		tr2_sys_close(dst->fd);
}

int tr2_dst_inherit(struct tr2_dst *dst)
{
	int saved = errno;

	dst->own = dst->is_alone = 0;
	if (dst->kind == TR2_DST_STREAM) {
		close_fd(dst);
		dst->fd = connect_socket(dst->path, SOCK_STREAM);
		dst->identity = tr2_fd_identify(dst->fd);
		if (dst->fd < 0)
			dst->kind = TR2_DST_OFF;
	}
	errno = saved;
	return dst->kind == TR2_DST_OFF ? -1 : 0;
}

int tr2_dst_open_next(const struct tr2_dst *dst, struct tr2_dst *next)
{
	char path[sizeof(dst->path)];

	*next = *dst;
	next->is_gone = next->is_missing = 0;
	if (dst->kind != TR2_DST_FILE && dst->kind != TR2_DST_DIRECTORY)
		return 0;
	if (dst->is_sentinel)
		return -EEXIST;
	/* a name that is taken belongs to another process, or an earlier run: go on to the next number */
	for (int tries = 0; tries < 1000; tries++) {
		next->rotation++;
		if (!number_name(path, sizeof(path), dst->path, next->rotation))
			return -ENAMETOOLONG;
		next->fd = open_new(path);
		if (next->fd < 0 && errno == EEXIST)
			continue;
		next->own = next->is_alone = 1;
		next->good = 0;
		next->identity = tr2_fd_identify(next->fd);
		next->limit = tr2_dst_find_limit();
		return next->fd < 0 ? -errno : 0;
	}
	return -EEXIST;
}

static int is_file(const struct tr2_dst *dst)
{
	return dst->kind == TR2_DST_FILE || dst->kind == TR2_DST_DIRECTORY;
}

int tr2_dst_file(const struct tr2_dst *dst, char *path, size_t size, uint64_t *device, uint64_t *inode)
{
	if (!is_file(dst) || !dst->identity.inode)
		return -EBADF;
	*device = dst->identity.device;
	*inode = dst->identity.inode;
	if (dst->rotation)
		return number_name(path, size, dst->path, dst->rotation) ? 0 : -ENAMETOOLONG;
	if (strlen(dst->path) >= size)
		return -ENAMETOOLONG;
	strcpy(path, dst->path);
	return 0;
}

void tr2_dst_close(struct tr2_dst *dst)
{
	close_fd(dst);
	dst->fd = -1;
	dst->kind = TR2_DST_OFF;
}
