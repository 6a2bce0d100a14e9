/* SPDX-License-Identifier: MIT */
/* t2x_socket.c - see t2x_socket.h. */
#include "t2x_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 16, INHERITED = 3 };

/* What kind it is, from its address.  Return  0: it is no stream socket that we can serve */
static int look_at(struct t2x_socket *sock)
{
	struct sockaddr_storage address = { 0 };
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
	socklen_t size = sizeof(address), type_size = sizeof(int);
	int type = 0;

	if (getsockname(sock->fd, (struct sockaddr *)&address, &size) ||
	    getsockopt(sock->fd, SOL_SOCKET, SO_TYPE, &type, &type_size) || type != SOCK_STREAM)
		return 0;
	sock->is_local = address.ss_family == AF_UNIX;
	if (address.ss_family == AF_INET) {
		sock->is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
		sock->port = ntohs(v4->sin_port);
	} else if (address.ss_family == AF_INET6) {
		sock->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
		sock->port = ntohs(v6->sin6_port);
	}
	return sock->is_local || sock->port;
}

/* ---- a Unix socket ------------------------------------------------------------------------------------- */

static int is_served(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int is_refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
			 errno == ECONNREFUSED;

	if (fd >= 0)
		close(fd);
	return !is_refused;
}

/* One of ours that nobody serves goes.  Return  NULL: the place is free */
static const char *make_place(const struct sockaddr_un *address)
{
	struct stat st;

	if (lstat(address->sun_path, &st))
		return errno == ENOENT ? NULL : strerror(errno);
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return "something else has this name";
	if (is_served(address))
		return "another server has this socket";
	return unlink(address->sun_path) ? strerror(errno) : NULL;
}

const char *t2x_socket_local(struct t2x_socket *sock, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *why;
	struct stat st;
	mode_t mask;

	*sock = (struct t2x_socket){ .fd = -1 };
	if (strlen(path) >= sizeof(address.sun_path))
		return "the path is too long for a socket";
	memcpy(address.sun_path, path, strlen(path) + 1);
	why = make_place(&address);
	if (why)
		return why;
	sock->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mask = umask(0177);
	if (sock->fd < 0 || bind(sock->fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(sock->fd, BACKLOG))
		why = strerror(errno);
	umask(mask);
	if (!why && !lstat(path, &st)) {
		sock->path = path;
		sock->device = st.st_dev;
		sock->inode = st.st_ino;
	}
	sock->is_local = 1;
	if (why)
		t2x_socket_close(sock);
	return why;
}

/* ---- TCP ----------------------------------------------------------------------------------------------- */

/* "ADDRESS:PORT", "[ADDRESS]:PORT".  Return  0: it is neither */
static int split(const char *text, char host[64], char port[8])
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (n > 2 && *text == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	} else if (memchr(text, ':', n)) {
		return 0;
	}
	if (!n || n >= 64 || strlen(colon + 1) >= 6 || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		return 0;
	memcpy(host, text, n);
	host[n] = '\0';
	memcpy(port, colon + 1, strlen(colon + 1) + 1);
	return 1;
}

const char *t2x_socket_tcp(struct t2x_socket *sock, const char *address)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
					.ai_socktype = SOCK_STREAM };
	const int on = 1;
	char host[64], port[8];
	struct addrinfo *found;
	const char *why = NULL;

	*sock = (struct t2x_socket){ .fd = -1 };
	if (!split(address, host, port) || getaddrinfo(host, port, &hints, &found))
		return "is no ADDRESS:PORT, such as 127.0.0.1:7070";
	sock->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock->fd < 0 || setsockopt(sock->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(sock->fd, found->ai_addr, found->ai_addrlen) || listen(sock->fd, BACKLOG))
		why = strerror(errno);
	else if (!look_at(sock))
		why = "it cannot be listened on";
	freeaddrinfo(found);
	if (why)
		t2x_socket_close(sock);
	return why;
}

/* ---- systemd's ----------------------------------------------------------------------------------------- */

int t2x_socket_inherit(struct t2x_socket *sock)
{
	const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
	const int is_ours = pid && n && strtol(pid, NULL, 10) == (long)getpid(), has_one = n && !strcmp(n, "1");

	*sock = (struct t2x_socket){ .fd = -1 };
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (!is_ours)
		return 0;
	sock->fd = INHERITED;
	if (!has_one || !look_at(sock) || fcntl(sock->fd, F_SETFD, FD_CLOEXEC)) {
		sock->fd = -1;
		return -1;
	}
	return 1;
}

void t2x_socket_close(struct t2x_socket *sock)
{
	struct stat st;

	if (sock->path && !lstat(sock->path, &st) && st.st_dev == sock->device && st.st_ino == sock->inode)
		unlink(sock->path);
	if (sock->fd >= 0)
		close(sock->fd);
	sock->fd = -1;
	sock->path = NULL;
}
