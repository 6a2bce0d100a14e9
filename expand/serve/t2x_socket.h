/* SPDX-License-Identifier: MIT */
/*
 * t2x_socket.h - where `t2 serve' listens: a Unix socket, a TCP port, or a socket that systemd has opened.
 */
#ifndef T2X_SOCKET_H
#define T2X_SOCKET_H

#include <sys/types.h>

struct t2x_socket {
	int fd;
	int is_local;                     /* a Unix socket */
	int is_loopback;                  /* TCP, on an address of this machine alone */
	unsigned port;                    /* of TCP */
	const char *path;                 /* of a Unix socket that we have made, to be removed; NULL: none */
	dev_t device;
	ino_t inode;
};

/*
 * A Unix socket that only this user can open.  One that nobody serves any more is replaced.
 * Return  NULL, or why not, in words
 */
const char *t2x_socket_local(struct t2x_socket *sock, const char *path);

/* TCP.  address  "127.0.0.1:PORT", "[::1]:PORT"; port 0: any.  Return  as above */
const char *t2x_socket_tcp(struct t2x_socket *sock, const char *address);

/* What systemd hands over, see sd_listen_fds(3).  Return  1: sock has it; 0: there is none; -1: it is not one socket */
int t2x_socket_inherit(struct t2x_socket *sock);

void t2x_socket_close(struct t2x_socket *sock);

#endif
