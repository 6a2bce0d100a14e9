/* SPDX-License-Identifier: MIT */
/*
 * t2x_server.h - `t2 serve': the traced processes of this user, their profiles and their traces, by HTTP.
 */
#ifndef T2X_SERVER_H
#define T2X_SERVER_H

#include "t2x_files.h"
#include "t2x_http.h"
#include "t2x_socket.h"
#include "t2x_steering.h"
#include "t2x_worker.h"

struct t2x_server_settings {
	struct t2x_socket sock;           /* listens */
	const char *token;                /* NULL: none is needed */
	const char *tls_cert, *tls_key;   /* in PEM; NULL: no TLS */
	const char *directory;            /* of this user alone: answers under way, traces of dormant processes */
	struct t2x_files files;
};

/* While it runs. */
struct t2x_server {
	const struct t2x_server_settings *what;
	struct t2x_http *http;
	struct t2x_steering *steering;
	int stop;                         /* an eventfd, readable when the server ends */
};

/* Serve until SIGTERM or SIGINT.  Return  NULL, or why not, in words */
const char *t2x_server_run(const struct t2x_server_settings *settings);

/*
 * Make the directory, if it is not there; remove what earlier servers have left of processes that have ended: what is
 * old, and the oldest beyond the quota.
 * Return  NULL, or why it cannot be used, in words
 */
const char *t2x_server_directory(const char *path);
enum { T2X_SERVER_DAYS = 1, T2X_SERVER_QUOTA_MB = 1024 };

/* A t2x_http_answer_fn; owner  a struct t2x_server */
void t2x_server_answer(void *owner, const struct t2x_http_call *call, struct t2x_reply *reply);

#endif
