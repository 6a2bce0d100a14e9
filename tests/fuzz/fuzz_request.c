/* SPDX-License-Identifier: MIT */
/*
 * fuzz_request - the input is what a client sends to `t2 serve', in lines: method, target, Host, Authorization; and
 * behind them what a process answers of itself.  Nothing that is read leads elsewhere: a name is one component of a
 * path, and a token that differs lets nobody in.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "serve/t2x_answered.h"
#include "serve/t2x_guard.h"
#include "serve/t2x_request.h"

static const char token[] = "0123456789abcdef-token";

/* The next line, ended by a NUL there. */
static char *next_line(char **rest)
{
	char *line = *rest, *end = strchr(line, '\n');

	if (end)
		*end = '\0';
	*rest = end ? end + 1 : line + strlen(line);
	return line;
}

static void judge(const struct t2x_request *request, const char *target)
{
	const char *wrong = NULL;

	if (request->page == T2X_PAGE_NONE ? request->status < 400 || request->status > 499 || !request->why
					   : request->status != 0)
		wrong = "neither a page nor an error";
	if ((request->page == T2X_PAGE_FILE || request->page == T2X_PAGE_RING) &&
	    (!*request->name || *request->name == '.' || strchr(request->name, '/')))
		wrong = "a name that leads elsewhere";
	if (request->page >= T2X_PAGE_VIEW && request->page != T2X_PAGE_FILE && request->page != T2X_PAGE_RING &&
	    (!request->pid || request->pid > INT32_MAX))
		wrong = "a process without an id";
	if (request->pprof.ms > T2X_PPROF_MAX_MS || request->pprof.debug > 2 ||
	    (request->page != T2X_PAGE_NONE && request->pprof.ms && request->pprof.debug))
		wrong = "a query out of bounds";
	if (wrong)
		fuzz_fail(wrong, request->name, target, strlen(target));
}

static void judge_answer(const char *text)
{
	struct t2x_answered answered;

	t2x_answered_parse(&answered, text);
	if (answered.nlost > T2X_ANSWERED_REASONS || (answered.file[0] && answered.file[0] != '/') ||
	    strlen(answered.file) >= sizeof(answered.file) || strlen(answered.profiles) >= sizeof(answered.profiles))
		fuzz_fail("an answer out of bounds", answered.file, text, strlen(text));
	t2x_answered_has(&answered, "cpu");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1), *rest = text, *method, *target, *host, *authorization;
	struct t2x_request request;
	const char *addresses;
	uint64_t address;

	fuzz_begin();
	if (!text)
		abort();
	memcpy(text, bytes, n);
	text[n] = '\0';
	method = next_line(&rest);
	target = next_line(&rest);
	host = next_line(&rest);
	authorization = next_line(&rest);
	t2x_request_parse(&request, method, target);
	judge(&request, target);
	addresses = request.symbols;
	for (unsigned i = 0; i < T2X_REQUEST_TARGET && t2x_pprof_address(&addresses, &address); i++)
		continue;
	if (t2x_guard_host(host, 7070) && !strstr(host, "7070"))
		fuzz_fail("a Host with another port", "", host, strlen(host));
	/* In base64 it is a third longer: so no shorter text has it. */
	if (t2x_guard_token(authorization, token) &&
	    (strlen(authorization) < sizeof(token) ||
	     (!strstr(authorization, token) && !strcasestr(authorization, "basic"))))
		fuzz_fail("a token that is none", "", authorization, strlen(authorization));
	judge_answer(rest);
	free(text);
	return 0;
}
