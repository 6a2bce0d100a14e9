/* SPDX-License-Identifier: MIT */
/* t2x_http.c - see t2x_http.h. */
#include "t2x_http.h"

#ifdef T2X_HAS_MICROHTTPD

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "t2x_gate.h"
#include "t2x_guard.h"

enum { MEMORY = 24 * 1024, STACK = 1024 * 1024 };

/* What of the library is used, found when it is loaded. */
#define FUNCTIONS(do) \
	do(MHD_start_daemon) do(MHD_stop_daemon) do(MHD_quiesce_daemon) do(MHD_queue_response) \
	do(MHD_create_response_from_buffer) do(MHD_create_response_from_fd64) do(MHD_destroy_response) \
	do(MHD_add_response_header) do(MHD_lookup_connection_value) do(MHD_get_connection_info) \
	do(MHD_is_feature_supported)
static struct {
#define DECLARE(name) __typeof__(&name) name;
	FUNCTIONS(DECLARE)
#undef DECLARE
} library;

enum phase { IDLE, ANSWERING, SENDING };

/* A connection: what the watch has to know. */
struct connection {
	int fd;                           /* a copy of its socket; -1: unused */
	enum phase phase;
	uint64_t since_ms;
};

struct t2x_http {
	struct t2x_http_settings what;
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;             /* of what follows */
	struct connection connections[T2X_HTTP_CONNECTIONS];
	struct t2x_counts counts;
};

/* A request. */
struct call {
	struct t2x_http_call call;
	char target[T2X_REQUEST_TARGET + 1];
	struct t2x_bytes body;
	int is_begun, is_too_large;
};

static int load(void)
{
	void *handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	int is_complete = handle != NULL;

	if (!handle)
		return 0;
#define FIND(name) \
	*(void **)&library.name = dlsym(handle, #name); \
	is_complete &= library.name != NULL;
	FUNCTIONS(FIND)
#undef FIND
	return is_complete;
}

/* ---- connections -------------------------------------------------------------------------------------- */

static void set_phase(struct t2x_http *http, struct connection *connection, enum phase phase)
{
	if (!connection)
		return;
	pthread_mutex_lock(&http->lock);
	connection->phase = phase;
	connection->since_ms = t2x_gate_clock();
	pthread_mutex_unlock(&http->lock);
}

static struct connection *find_connection(struct MHD_Connection *of)
{
	const union MHD_ConnectionInfo *info =
		library.MHD_get_connection_info(of, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int find_socket(struct MHD_Connection *of)
{
	const union MHD_ConnectionInfo *info = library.MHD_get_connection_info(of, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* The socket is copied: so none is shut down that has become another one's. */
static void on_connection(void *owner, struct MHD_Connection *of, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct t2x_http *http = owner;
	struct connection *connection = *context;

	pthread_mutex_lock(&http->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		for (unsigned i = 0; i < T2X_HTTP_CONNECTIONS && !connection; i++)
			if (http->connections[i].fd < 0)
				connection = &http->connections[i];
		*context = connection;
		http->counts.connections++;
		if (connection)
			*connection = (struct connection){
				fcntl(find_socket(of), F_DUPFD_CLOEXEC, 10), IDLE, t2x_gate_clock()
			};
	} else {
		http->counts.connections--;
		if (connection && connection->fd >= 0) {
			close(connection->fd);
			connection->fd = -1;
		}
	}
	pthread_mutex_unlock(&http->lock);
}

void t2x_http_watch(struct t2x_http *http)
{
	const uint64_t now = t2x_gate_clock();

	pthread_mutex_lock(&http->lock);
	for (unsigned i = 0; i < T2X_HTTP_CONNECTIONS; i++) {
		struct connection *connection = &http->connections[i];
		const uint64_t most = connection->phase == IDLE ? T2X_HTTP_IDLE_S : T2X_HTTP_SEND_S;

		if (connection->fd < 0 || connection->phase == ANSWERING ||
		    now - connection->since_ms < most * 1000)
			continue;
		shutdown(connection->fd, SHUT_RDWR);
		connection->since_ms = now;
		http->counts.refused++;
	}
	pthread_mutex_unlock(&http->lock);
}

/* ---- who asks ------------------------------------------------------------------------------------------ */

static int is_my_user(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && (peer.uid == geteuid() || !peer.uid);
}

/* Return  0: the reply says why not */
static int may_ask(const struct t2x_http *http, struct MHD_Connection *of, const struct call *call,
		   struct t2x_reply *reply)
{
	const char *host = library.MHD_lookup_connection_value(of, MHD_HEADER_KIND, "Host");
	const char *authorization = library.MHD_lookup_connection_value(of, MHD_HEADER_KIND, "Authorization");
	const char *site = library.MHD_lookup_connection_value(of, MHD_HEADER_KIND, "Sec-Fetch-Site");

	if (http->what.is_local && !is_my_user(call->call.client))
		t2x_reply_fail(reply, 403, "the server is another user's", NULL);
	else if (http->what.port && !t2x_guard_host(host, http->what.port))
		t2x_reply_fail(reply, 403, "the header Host has no name of this server", NULL);
	else if (t2x_guard_is_foreign(site))
		t2x_reply_fail(reply, 403, "a page of another site may not ask", NULL);
	else if (http->what.token && call->call.request.page != T2X_PAGE_HEALTH &&
		 !t2x_guard_token(authorization, http->what.token))
		t2x_reply_fail(reply, 401, "the token is missing or wrong", NULL);
	else
		return 1;
	return 0;
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static struct MHD_Response *make_response(struct t2x_reply *reply)
{
	static char nothing[1];
	struct MHD_Response *response;
	struct stat st;

	if (reply->fd >= 0 && !fstat(reply->fd, &st)) {
		response = library.MHD_create_response_from_fd64((uint64_t)st.st_size, reply->fd);
		if (response)
			reply->fd = -1;
		return response;
	}
	response = reply->body.n ?
			   library.MHD_create_response_from_buffer(reply->body.n, reply->body.bytes,
								   MHD_RESPMEM_MUST_FREE) :
			   library.MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
	if (response)
		reply->body = (struct t2x_bytes){ .n = 0 };
	return response;
}

static void add_headers(struct MHD_Response *response, const struct t2x_reply *reply, int is_pprof, int is_file)
{
	static const char policy[] = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
	char stored[96];

	library.MHD_add_response_header(response, "Content-Type", reply->type);
	library.MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	library.MHD_add_response_header(response, "Cache-Control", "no-store");
	library.MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	/* A page that is a file has a stricter policy in itself, and scripts. */
	library.MHD_add_response_header(response, "Content-Security-Policy",
					is_file ? "frame-ancestors 'none'" : policy);
	if (reply->status >= 400 && is_pprof)
		library.MHD_add_response_header(response, T2X_PPROF_HEADER, "1");
	if (reply->status == 401)
		library.MHD_add_response_header(response, "WWW-Authenticate", "Basic realm=\"t2\", charset=\"UTF-8\"");
	if (reply->status == 405)
		library.MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (reply->status == 503)
		library.MHD_add_response_header(response, "Retry-After", "5");
	if (reply->location[0])
		library.MHD_add_response_header(response, "Location", reply->location);
	if (reply->name[0]) {
		snprintf(stored, sizeof(stored), "attachment; filename=\"%s\"", reply->name);
		library.MHD_add_response_header(response, "Content-Disposition", stored);
	}
}

static enum MHD_Result send_reply(struct t2x_http *http, struct MHD_Connection *of, const struct call *call,
				  struct t2x_reply *reply)
{
	const int is_file = reply->fd >= 0;
	enum MHD_Result is_queued = MHD_NO;
	struct MHD_Response *response;

	if (reply->body.error)
		t2x_reply_fail(reply, 503, "there is no memory for the answer", NULL);
	pthread_mutex_lock(&http->lock);
	http->counts.requests[reply->status / 100 % 6]++;
	pthread_mutex_unlock(&http->lock);
	set_phase(http, find_connection(of), SENDING);
	response = make_response(reply);
	if (response) {
		add_headers(response, reply, call->call.request.is_pprof, is_file);
		is_queued = library.MHD_queue_response(of, reply->status, response);
		library.MHD_destroy_response(response);
	}
	t2x_reply_free(reply);
	return is_queued;
}

static void answer(struct t2x_http *http, struct call *call, struct t2x_reply *reply)
{
	const struct t2x_request *request = &call->call.request;

	t2x_bytes_put(&call->body, "", 1);
	call->call.body = (char *)call->body.bytes;
	if (call->is_too_large)
		t2x_reply_fail(reply, 413, "the body of the request is too long", NULL);
	else if (call->body.error)
		t2x_reply_fail(reply, 503, "there is no memory for the request", NULL);
	else if (request->page == T2X_PAGE_NONE)
		t2x_reply_fail(reply, request->status, request->why, NULL);
	else
		http->what.answer(http->what.owner, &call->call, reply);
}

static enum MHD_Result begin(struct t2x_http *http, struct MHD_Connection *of, struct call *call, const char *method)
{
	struct t2x_reply reply;

	call->is_begun = 1;
	call->call.client = find_socket(of);
	t2x_request_parse(&call->call.request, method, call->target);
	t2x_reply_init(&reply);
	return may_ask(http, of, call, &reply) ? MHD_YES : send_reply(http, of, call, &reply);
}

/* ---- what the library calls ---------------------------------------------------------------------------- */

static void *on_target(void *owner, const char *target, struct MHD_Connection *of)
{
	struct call *call = calloc(1, sizeof(*call));

	(void)owner;
	(void)of;
	if (call)
		snprintf(call->target, sizeof(call->target), "%s", target);
	return call;
}

static void on_end(void *owner, struct MHD_Connection *of, void **context, enum MHD_RequestTerminationCode how)
{
	struct call *call = *context;

	(void)how;
	set_phase(owner, find_connection(of), IDLE);
	if (call)
		t2x_bytes_free(&call->body);
	free(call);
	*context = NULL;
}

static enum MHD_Result on_request(void *owner, struct MHD_Connection *of, const char *url, const char *method,
				  const char *version, const char *bytes, size_t *n, void **context)
{
	struct t2x_http *http = owner;
	struct call *call = *context;
	struct t2x_reply reply;

	(void)url;
	(void)version;
	if (!call)
		return MHD_NO;
	if (!call->is_begun)
		return begin(http, of, call, method);
	if (*n) {
		call->is_too_large |= call->body.n + *n > T2X_HTTP_BODY;
		if (!call->is_too_large)
			t2x_bytes_put(&call->body, bytes, *n);
		*n = 0;
		return MHD_YES;
	}
	set_phase(http, find_connection(of), ANSWERING);
	t2x_reply_init(&reply);
	answer(http, call, &reply);
	return send_reply(http, of, call, &reply);
}

/* ---- the server ---------------------------------------------------------------------------------------- */

static const char *start(struct t2x_http *http)
{
	const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
			       MHD_USE_ITC | (http->what.tls_cert ? MHD_USE_TLS : 0);
	struct MHD_OptionItem options[] = {
		{ MHD_OPTION_LISTEN_SOCKET, http->what.fd, NULL },
		{ MHD_OPTION_CONNECTION_LIMIT, T2X_HTTP_CONNECTIONS, NULL },
		{ MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY, NULL },
		{ MHD_OPTION_CONNECTION_TIMEOUT, 2 * T2X_HTTP_SEND_S, NULL },
		{ MHD_OPTION_THREAD_STACK_SIZE, STACK, NULL },
		{ MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL },
		{ MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL },
		{ http->what.tls_cert ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0,
		  (void *)(uintptr_t)http->what.tls_cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)http->what.tls_key },
		{ MHD_OPTION_END, 0, NULL },
	};

	if (http->what.tls_cert && !library.MHD_is_feature_supported(MHD_FEATURE_TLS))
		return "libmicrohttpd was built without TLS";
	http->daemon = library.MHD_start_daemon(flags, 0, NULL, NULL, on_request, http, MHD_OPTION_ARRAY, options,
						MHD_OPTION_URI_LOG_CALLBACK, on_target, http,
						MHD_OPTION_NOTIFY_COMPLETED, on_end, http,
						MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
	return http->daemon ? NULL : "libmicrohttpd could not start: are the certificate and its key right?";
}

struct t2x_http *t2x_http_start(const struct t2x_http_settings *settings, const char **why)
{
	struct t2x_http *http = calloc(1, sizeof(*http));

	*why = http ? NULL : strerror(ENOMEM);
	if (!*why && !load())
		*why = "libmicrohttpd.so.12 is not here: it is in the Debian package libmicrohttpd12";
	if (!*why) {
		http->what = *settings;
		http->counts.started = (uint64_t)time(NULL);
		pthread_mutex_init(&http->lock, NULL);
		for (unsigned i = 0; i < T2X_HTTP_CONNECTIONS; i++)
			http->connections[i].fd = -1;
		*why = start(http);
	}
	if (!*why)
		return http;
	free(http);
	return NULL;
}

void t2x_http_stop(struct t2x_http *http)
{
	library.MHD_stop_daemon(http->daemon);
	pthread_mutex_destroy(&http->lock);
	free(http);
}

void t2x_http_count(struct t2x_http *http, struct t2x_counts *counts)
{
	pthread_mutex_lock(&http->lock);
	*counts = http->counts;
	pthread_mutex_unlock(&http->lock);
}

#else

struct t2x_http *t2x_http_start(const struct t2x_http_settings *settings, const char **why)
{
	(void)settings;
	*why = "this t2 was built without libmicrohttpd";
	return NULL;
}

void t2x_http_watch(struct t2x_http *http)
{
	(void)http;
}

void t2x_http_stop(struct t2x_http *http)
{
	(void)http;
}

void t2x_http_count(struct t2x_http *http, struct t2x_counts *counts)
{
	(void)http;
	(void)counts;
}

#endif
