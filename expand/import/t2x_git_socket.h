/* SPDX-License-Identifier: MIT */
/*
 * t2x_git_socket.h - listens on a Unix socket to which git processes write their events (af_unix:, see git's manual).
 *
 * git waits while the socket is full.  So a thread of its own reads everything at once, whatever the import does
 * meanwhile.  If more than T2X_SOCKET_BYTES wait for the import, the thread drops what comes and counts it.
 */
#ifndef T2X_GIT_SOCKET_H
#define T2X_GIT_SOCKET_H

#include "t2x_import.h"

enum {
	T2X_SOCKET_BYTES = 64 * 1024 * 1024,
	T2X_SOCKET_CONNECTIONS = 1000,            /* at once; others wait to be accepted */
};

struct t2x_git_socket;

/* Return  1: the text is that of a socket, af_unix:[stream:|dgram:]PATH */
int t2x_git_socket_is(const char *target);

/*
 * Make the socket and listen.  A socket in the way that nobody listens to is replaced.
 * Return  NULL, and *why
 */
struct t2x_git_socket *t2x_git_socket_open(const char *target, const char **why);

/*
 * Import what comes until SIGINT, SIGTERM, or so many seconds are over (0: no limit), then what has come already.
 * Processes that have ended are written at once.  Return  0 or -errno
 */
int t2x_git_socket_import(struct t2x_git_socket *socket, struct t2x_import *import, unsigned seconds);

/* Bytes that were dropped. */
uint64_t t2x_git_socket_dropped(const struct t2x_git_socket *socket);

/* Close and remove the socket. */
void t2x_git_socket_close(struct t2x_git_socket *socket);

#endif
