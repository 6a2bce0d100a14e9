/* SPDX-License-Identifier: MIT */
/*
 * t2x_http.h - HTTP for `t2 serve', by libmicrohttpd: who may ask is checked here, what the answer is elsewhere.
 *
 * libmicrohttpd is loaded when the server starts: no other command needs it.  It has a thread for each connection.
 * Connections, the bytes of a request, and the time for which a client may do nothing are limited.  A client that sends
 * its request slowly, byte by byte, or reads the answer slowly, is cut off.
 */
#ifndef T2X_HTTP_H
#define T2X_HTTP_H

#include <stddef.h>

#include "t2x_metrics.h"
#include "t2x_reply.h"
#include "t2x_request.h"

enum {
	T2X_HTTP_CONNECTIONS = 32,
	T2X_HTTP_BODY = 65536,            /* bytes of a POST */
	T2X_HTTP_IDLE_S = 20,             /* until a request is complete */
	T2X_HTTP_SEND_S = 300,            /* until an answer has been sent */
};

struct t2x_http_call {
	struct t2x_request request;
	const char *body;                 /* of a POST */
	int client;                       /* the connection's socket */
};

/* Make the answer.  In a thread of its own for each connection */
typedef void t2x_http_answer_fn(void *owner, const struct t2x_http_call *call, struct t2x_reply *reply);

struct t2x_http_settings {
	int fd;                           /* listens */
	int is_local;                     /* it is a Unix socket: the kernel says who the client is */
	unsigned port;                    /* on which Host is checked; 0: it is not */
	const char *token;                /* NULL: none is needed */
	const char *tls_cert, *tls_key;   /* in PEM; NULL: no TLS */
	t2x_http_answer_fn *answer;
	void *owner;
};

struct t2x_http;

/* Return  NULL, and *why in words */
struct t2x_http *t2x_http_start(const struct t2x_http_settings *settings, const char **why);

/* Once a second: cut off who is too slow. */
void t2x_http_watch(struct t2x_http *http);

/* Answer what was asked, and end.  The caller has seen to it that answers come to an end */
void t2x_http_stop(struct t2x_http *http);

void t2x_http_count(struct t2x_http *http, struct t2x_counts *counts);

#endif
