/* SPDX-License-Identifier: MIT */
/* t2x_request.c - see t2x_request.h. */
#include "t2x_request.h"

#include <string.h>

static void refuse(struct t2x_request *request, unsigned status, const char *why)
{
	request->page = T2X_PAGE_NONE;
	request->status = status;
	request->why = why;
}

/* ---- the path --------------------------------------------------------------------------------------- */

/* A name that is in a directory, whatever a client wants it to be. */
static void take_name(struct t2x_request *request, const char *name, enum t2x_page page)
{
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) >= sizeof(request->name)) {
		refuse(request, 404, "there is no such file");
		return;
	}
	memcpy(request->name, name, strlen(name) + 1);
	request->page = page;
}

static void take_pprof(struct t2x_request *request, const char *path)
{
	static const enum t2x_page pages[] = {
		[T2X_PPROF_LIST] = T2X_PAGE_PPROF, [T2X_PPROF_PROFILE] = T2X_PAGE_PROFILE,
		[T2X_PPROF_TRACE] = T2X_PAGE_TRACE, [T2X_PPROF_CMDLINE] = T2X_PAGE_CMDLINE,
		[T2X_PPROF_SYMBOL] = T2X_PAGE_SYMBOL,
	};

	request->is_pprof = 1;
	t2x_pprof_path(&request->pprof, path);
	request->page = pages[request->pprof.page];
	if (request->page == T2X_PAGE_PROFILE && !request->pprof.is_kind)
		refuse(request, 404, T2X_PPROF_UNKNOWN);
}

/* path  behind "/pid/" */
static void take_process(struct t2x_request *request, const char *path)
{
	static const char pprof[] = "debug/pprof/";
	uint64_t pid = 0;

	request->is_pprof = strstr(path, "debug/pprof") != NULL;
	for (; *path >= '0' && *path <= '9' && pid <= INT32_MAX; path++)
		pid = pid * 10 + (uint64_t)(*path - '0');
	refuse(request, 404, "there is no such page");
	if (!pid || pid > INT32_MAX || (*path && *path != '/')) {
		request->why = "there is no such process";
		return;
	}
	request->pid = (uint32_t)pid;
	path += *path == '/';
	if (!*path)
		request->page = path[-1] == '/' ? T2X_PAGE_VIEW : T2X_PAGE_MOVED;
	else if (!strncmp(path, pprof, sizeof(pprof) - 1))
		take_pprof(request, path + sizeof(pprof) - 1);
	else if (!strncmp(path, pprof, sizeof(pprof) - 2) && !path[sizeof(pprof) - 2])
		request->page = T2X_PAGE_MOVED;
}

static void take_path(struct t2x_request *request, const char *path)
{
	static const struct {
		const char *path;
		enum t2x_page page;
	} pages[] = {
		{ "/", T2X_PAGE_INDEX }, { "/processes.json", T2X_PAGE_PROCESSES }, { "/healthz", T2X_PAGE_HEALTH },
		{ "/metrics", T2X_PAGE_METRICS },
	};

	refuse(request, 404, "there is no such page");
	for (unsigned i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(path, pages[i].path))
			request->page = pages[i].page;
	if (!strncmp(path, "/pid/", 5))
		take_process(request, path + 5);
	else if (!strncmp(path, "/file/", 6))
		take_name(request, path + 6, T2X_PAGE_FILE);
	else if (!strncmp(path, "/ring/", 6))
		take_name(request, path + 6, T2X_PAGE_RING);
}

/* Changes need POST.  None of the pages makes a lasting one; symbol takes a list that may be too long for a path. */
static void check_method(struct t2x_request *request, const char *method)
{
	int is_post = !strcmp(method, "POST");

	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 && !is_post)
		refuse(request, 405, "the method is GET or HEAD");
	else if (is_post && request->page != T2X_PAGE_SYMBOL && request->page != T2X_PAGE_NONE)
		refuse(request, 405, "the method is GET or HEAD");
}

void t2x_request_parse(struct t2x_request *request, const char *method, const char *target)
{
	size_t length = strcspn(target, "?");
	const char *query = target[length] ? target + length + 1 : "";
	char path[T2X_REQUEST_TARGET];

	memset(request, 0, sizeof(*request));
	request->is_head = !strcmp(method, "HEAD");
	if (strlen(target) >= T2X_REQUEST_TARGET) {
		refuse(request, 414, "the request is too long");
		return;
	}
	if (*target != '/' || !t2x_pprof_decode(path, sizeof(path), target, length, 0)) {
		refuse(request, 400, "the path of the request is damaged");
		return;
	}
	take_path(request, path);
	if (request->page == T2X_PAGE_SYMBOL)
		memcpy(request->symbols, query, strlen(query) + 1);
	else if (request->page != T2X_PAGE_NONE)
		t2x_pprof_query(&request->pprof, query);
	if (request->page != T2X_PAGE_NONE && request->pprof.why)
		refuse(request, 400, request->pprof.why);
	check_method(request, method);
	if (request->page != T2X_PAGE_NONE) {
		request->status = 0;
		request->why = NULL;
	}
}
