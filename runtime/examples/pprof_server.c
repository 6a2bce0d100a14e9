/* SPDX-License-Identifier: MIT */
/*
 * pprof_server - a program with an HTTP server of its own, libmicrohttpd, in which trace2_pprof_handle() answers what
 * is below /debug/pprof/:
 *
 *   cc -rdynamic pprof_server.c $(pkg-config --cflags --libs libtrace2-prof libmicrohttpd) -pthread
 *   ./a.out 8080 &
 *   go tool pprof http://127.0.0.1:8080/debug/pprof/profile?seconds=5
 *
 * It listens on the loopback interface only, where any user of this machine may ask: a program that others can reach
 * has to see to it who may.  It ends when its input does.
 */
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <trace2.h>
#include <trace2_prof.h>

enum { CONNECTIONS = 16, HEADERS = 8, POST_MAX = 65536 };

/* ---- requests --------------------------------------------------------------------------------------- */

struct bytes {
	char *at;
	size_t n;
};

/* A request, and the answer to it while it is made. */
struct request {
	struct MHD_Connection *client;
	char *target;                     /* path and query */
	int is_begun, is_too_long;
	struct bytes posted, body;
	unsigned status, nheaders;
	struct header {
		char name[32], value[128];
	} headers[HEADERS];
};

static int add(struct bytes *bytes, const void *more, size_t n)
{
	char *grown = realloc(bytes->at, bytes->n + n + 1);

	if (!grown)
		return -1;
	memcpy(grown + bytes->n, more, n);
	bytes->at = grown;
	bytes->n += n;
	grown[bytes->n] = '\0';
	return 0;
}

static int has_gone(struct MHD_Connection *client)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(client, MHD_CONNECTION_INFO_CONNECTION_FD);
	char byte;

	return info && recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* A trace2_pprof_write_fn */
static int write_part(void *context, unsigned status, const char *header, const void *bytes, size_t n)
{
	struct request *request = context;
	struct header *to = &request->headers[request->nheaders];

	if (!status)
		return has_gone(request->client);
	request->status = status;
	if (!header)
		return add(&request->body, bytes, n);
	if (request->nheaders < HEADERS) {
		request->nheaders++;
		snprintf(to->name, sizeof(to->name), "%s", header);
		snprintf(to->value, sizeof(to->value), "%s", (const char *)bytes);
	}
	return 0;
}

static enum MHD_Result reply(struct request *request)
{
	static char nothing[1];
	struct MHD_Response *response;
	enum MHD_Result is_queued;

	response = request->body.n ?
			   MHD_create_response_from_buffer(request->body.n, request->body.at, MHD_RESPMEM_MUST_FREE) :
			   MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	request->body = (struct bytes){ .n = 0 };
	for (unsigned i = 0; i < request->nheaders; i++)
		MHD_add_response_header(response, request->headers[i].name, request->headers[i].value);
	is_queued = MHD_queue_response(request->client, request->status, response);
	MHD_destroy_response(response);
	return is_queued;
}

static enum MHD_Result answer(struct request *request, const char *method)
{
	static const char other_page[] = "This program computes.  See /debug/pprof/\n";
	const int is_post = !strcmp(method, "POST");
	int error = request->is_too_long;

	if (!error)
		error = trace2_pprof_handle(request->target, is_post ? request->posted.at : NULL, write_part, request);
	/* ENOENT, and nobody is told what else there is not */
	if (error && !request->status)
		error = write_part(request, request->is_too_long ? 413 : 404, NULL, other_page, sizeof(other_page) - 1);
	return error ? MHD_NO : reply(request);
}

/* ---- what libmicrohttpd calls -------------------------------------------------------------------------- */

static void *on_target(void *owner, const char *target, struct MHD_Connection *client)
{
	struct request *request = calloc(1, sizeof(*request));

	(void)owner;
	if (!request)
		return NULL;
	request->client = client;
	request->target = strdup(target);
	return request;
}

static enum MHD_Result on_request(void *owner, struct MHD_Connection *client, const char *url, const char *method,
				  const char *version, const char *bytes, size_t *n, void **context)
{
	struct request *request = *context;

	(void)owner;
	(void)client;
	(void)url;
	(void)version;
	if (!request || !request->target)
		return MHD_NO;
	if (!request->is_begun) {
		request->is_begun = 1;
		return MHD_YES;
	}
	if (!*n)
		return answer(request, method);
	request->is_too_long |= request->posted.n + *n > POST_MAX || add(&request->posted, bytes, *n);
	*n = 0;
	return MHD_YES;
}

static void on_end(void *owner, struct MHD_Connection *client, void **context, enum MHD_RequestTerminationCode how)
{
	struct request *request = *context;

	(void)owner;
	(void)client;
	(void)how;
	if (!request)
		return;
	free(request->target);
	free(request->posted.at);
	free(request->body.at);
	free(request);
}

/* A thread for each connection: a request for a profile waits for as long as the profile lasts. */
static struct MHD_Daemon *serve(const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL,
				NULL, on_request, NULL, MHD_OPTION_SOCK_ADDR, &address,
				MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, 330u,
				MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL,
				MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_END);
}

/* ---- what the program does ----------------------------------------------------------------------------- */

/* Not static: the texts of debug=1 have the names that the dynamic linker knows */
void compute_here(void);
void allocate_here(void);
void wait_here(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double number;
static char *volatile memory;

__attribute__((noinline)) void compute_here(void)
{
	for (int i = 0; i < 1000000; i++)
		number += i * 0.5;
}

__attribute__((noinline)) void allocate_here(void)
{
	memory = malloc(100000);
	free(memory);
}

__attribute__((noinline)) void wait_here(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void *hold(void *data)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		usleep(2000);
		pthread_mutex_unlock(&lock);
		usleep(500);
	}
	return data;
}

int main(int argc, char **argv)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	const union MHD_DaemonInfo *info;
	struct MHD_Daemon *server;
	pthread_t thread;
	char byte;

	signal(SIGPIPE, SIG_IGN);
	trace2_initialize();
	trace2_cmd_start((const char *const *)argv);
	server = serve(argc > 1 ? argv[1] : "0");
	info = server ? MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT) : NULL;
	if (!info || pthread_create(&thread, NULL, hold, NULL)) {
		fprintf(stderr, "pprof_server: cannot listen, or has no threads\n");
		return 1;
	}
	printf("http://127.0.0.1:%u/debug/pprof/\n", (unsigned)info->port);
	fflush(stdout);
	/* "threads" asks each thread by a signal, which interrupts poll() */
	while (poll(&input, 1, 1) <= 0 || read(STDIN_FILENO, &byte, 1) > 0) {
		trace2_region_enter("example", "turn", NULL);
		compute_here();
		allocate_here();
		wait_here();
		trace2_region_leave("example", "turn", NULL);
	}
	MHD_stop_daemon(server);
	trace2_cmd_exit(0);
	return 0;
}
