/* SPDX-License-Identifier: MIT */
/*
 * t2x_profiles.h - /pid/N/debug/pprof/: what fetchers of Go's net/http/pprof ask for, of a process that runs.
 */
#ifndef T2X_PROFILES_H
#define T2X_PROFILES_H

#include "t2x_server.h"

/* A profile: of the next seconds, or of all so far. */
void t2x_profiles_answer(const struct t2x_server *server, const struct t2x_http_call *call,
			 const struct t2x_traced *traced, struct t2x_reply *reply);

/* What is recorded in the next seconds. */
void t2x_profiles_trace(const struct t2x_server *server, const struct t2x_http_call *call,
			const struct t2x_traced *traced, struct t2x_reply *reply);

/* The list, as Go's. */
void t2x_profiles_list(const struct t2x_traced *traced, struct t2x_reply *reply);

/* The command line: arguments with a NUL between them. */
void t2x_profiles_cmdline(const struct t2x_traced *traced, struct t2x_reply *reply);

/* The page of what a process has recorded up to now. */
void t2x_profiles_view(const struct t2x_server *server, const struct t2x_http_call *call,
		       const struct t2x_traced *traced, struct t2x_reply *reply);

/* Run a worker; its output is the answer, of this type, or what went wrong. */
void t2x_profiles_read(const struct t2x_server *server, const struct t2x_http_call *call, const char *const *arguments,
		       int input, const char *type, struct t2x_reply *reply);

#endif
