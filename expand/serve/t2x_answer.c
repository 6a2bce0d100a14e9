/* SPDX-License-Identifier: MIT */
/* t2x_answer.c - which part of `t2 serve' makes the answer to a request; see t2x_server.h. */
#include "t2x_server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "t2x_metrics.h"
#include "t2x_pages.h"
#include "t2x_profiles.h"
#include "t2x_symbolize.h"

/* The path with a slash at its end: so links in the page lead where they should. */
static void answer_moved(const struct t2x_request *request, struct t2x_reply *reply)
{
	reply->status = 301;
	snprintf(reply->location, sizeof(reply->location), "/pid/%u/%s", (unsigned)request->pid,
		 request->is_pprof ? "debug/pprof/" : "");
}

static void answer_file(const struct t2x_server *server, const struct t2x_http_call *call, struct t2x_reply *reply)
{
	const char *const arguments[] = { "export", "--format=html", "--quiet", "/dev/fd/3", NULL };
	int fd = t2x_files_open(&server->what->files, call->request.name);

	if (fd < 0) {
		t2x_reply_fail(reply, 404, "there is no such file", NULL);
		return;
	}
	t2x_profiles_read(server, call, arguments, fd, T2X_REPLY_HTML, reply);
	close(fd);
}

static void answer_ring(const struct t2x_server *server, const struct t2x_http_call *call,
			const struct t2x_traced_list *list, struct t2x_reply *reply)
{
	const struct t2x_traced *traced = t2x_traced_dead(list, call->request.name);
	const char *const arguments[] = { "recover", "--format=html", "--quiet", traced ? traced->ring : NULL, NULL };

	if (traced)
		t2x_profiles_read(server, call, arguments, -1, T2X_REPLY_HTML, reply);
	else
		t2x_reply_fail(reply, 404, "there is no such file", NULL);
}

static void answer_list(struct t2x_server *server, enum t2x_page page, const struct t2x_traced_list *list,
			struct t2x_reply *reply)
{
	const char *type = page == T2X_PAGE_INDEX     ? T2X_REPLY_HTML :
			   page == T2X_PAGE_PROCESSES ? "application/json" :
							T2X_METRICS_TYPE;
	struct t2x_counts counts = { .started = 0 };
	struct t2x_out out;

	if (t2x_reply_begin(reply, type, &out)) {
		t2x_reply_fail(reply, 503, strerror(ENOMEM), NULL);
		return;
	}
	if (page == T2X_PAGE_INDEX) {
		t2x_pages_index(&out, list, &server->what->files);
	} else if (page == T2X_PAGE_PROCESSES) {
		t2x_pages_json(&out, list, &server->what->files);
	} else {
		t2x_http_count(server->http, &counts);
		t2x_metrics_write(&out, list, &counts);
	}
	t2x_reply_end(reply, &out);
}

static void answer_process(struct t2x_server *server, const struct t2x_http_call *call,
			   const struct t2x_traced *traced, struct t2x_reply *reply)
{
	switch (call->request.page) {
	case T2X_PAGE_VIEW:
		t2x_profiles_view(server, call, traced, reply);
		break;
	case T2X_PAGE_PROFILE:
		t2x_profiles_answer(server, call, traced, reply);
		break;
	case T2X_PAGE_TRACE:
		t2x_profiles_trace(server, call, traced, reply);
		break;
	case T2X_PAGE_CMDLINE:
		t2x_profiles_cmdline(traced, reply);
		break;
	case T2X_PAGE_SYMBOL:
		t2x_symbolize_answer(call, traced, reply);
		break;
	default:
		t2x_profiles_list(traced, reply);
	}
}

/* What asks a process, or reads a trace, is not done for headers alone. */
static int is_costly(enum t2x_page page)
{
	return page == T2X_PAGE_VIEW || page == T2X_PAGE_FILE || page == T2X_PAGE_RING || page == T2X_PAGE_PROFILE ||
	       page == T2X_PAGE_TRACE || page == T2X_PAGE_METRICS;
}

static void answer_of_list(struct t2x_server *server, const struct t2x_http_call *call,
			   const struct t2x_traced_list *list, struct t2x_reply *reply)
{
	const struct t2x_traced *traced = t2x_traced_get(list, call->request.pid);

	if (call->request.page == T2X_PAGE_RING)
		answer_ring(server, call, list, reply);
	else if (!call->request.pid)
		answer_list(server, call->request.page, list, reply);
	else if (!traced)
		t2x_reply_fail(reply, 404, "there is no such traced process of this user", NULL);
	else
		answer_process(server, call, traced, reply);
}

void t2x_server_answer(void *owner, const struct t2x_http_call *call, struct t2x_reply *reply)
{
	struct t2x_server *server = owner;
	struct t2x_traced_list list;

	if (call->request.page == T2X_PAGE_HEALTH) {
		t2x_bytes_put(&reply->body, "ok\n", 3);
		return;
	}
	if (call->request.page == T2X_PAGE_MOVED) {
		answer_moved(&call->request, reply);
		return;
	}
	if (call->request.is_head && is_costly(call->request.page))
		return;
	if (call->request.page == T2X_PAGE_FILE) {
		answer_file(server, call, reply);
		return;
	}
	if (t2x_traced_find(&list))
		t2x_reply_fail(reply, 503, strerror(ENOMEM), NULL);
	else
		answer_of_list(server, call, &list, reply);
	t2x_traced_free(&list);
}
