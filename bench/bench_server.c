/* SPDX-License-Identifier: MIT */
/*
 * bench_server - events in an event loop over sockets: a server that keeps keys and values, and answers requests in the
 * protocol of redis.  A region around each request, with a message.
 *
 * A client thread sends requests to sets of connections, one or two sets ahead, and compares each answer with what it
 * must be; the server waits with epoll(7) for the connections of a set, and answers all of them.  Its work is therefore
 * the same in each round, and only its own CPU time counts.  usage and measurements: program.h.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "event.h"
#include "program.h"

enum {
	SETS = 4, CONNECTIONS = 16, PIPELINED = 2, KEYS = 64, SLOTS = 8192, KEY_BYTES = 32, VALUE_BYTES = 32,
	BUFFER_BYTES = 512, REQUEST_EVENTS = 2, SET_EVENTS = CONNECTIONS * PIPELINED * REQUEST_EVENTS,
	WORK_EVENTS = 60 * SET_EVENTS, LOOP_EVENTS = 8000,
};

struct connection {
	int server, client;
	unsigned sent;                      /* requests so far */
	unsigned values[KEYS];              /* what the client has set: number of the request; 0: nothing */
	char expected[BUFFER_BYTES];        /* the answers to come */
	size_t expected_bytes;
};

static struct set {
	sem_t is_full, is_answered;
	int epoll;
	struct connection connections[CONNECTIONS];
} sets[SETS];

static unsigned next_set;                   /* the server's */

/* ---- keys and values: open addressing ------------------------------------------------------------- */

static struct entry {
	char key[KEY_BYTES], value[VALUE_BYTES];
} table[SLOTS];

static struct entry *find(const char *key)
{
	uint32_t hash = 2166136261U;

	for (const char *at = key; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619U;
	for (;; hash++) {
		struct entry *entry = &table[hash % SLOTS];

		if (!entry->key[0] || !strcmp(entry->key, key))
			return entry;
	}
}

/* ---- the server ------------------------------------------------------------------------------------ */

/* Parse "$LENGTH\r\nTEXT\r\n" into to.  Return  what follows */
static char *parse_text(char *at, char *to, size_t room)
{
	char *end;
	unsigned long length = strtoul(at + 1, &end, 10);

	program_check(*at == '$' && length < room, "a request");
	memcpy(to, end + 2, length);
	to[length] = '\0';
	return end + 2 + length + 2;
}

static char *put_text(char *to, const char *text)
{
	return to + sprintf(to, "$%zu\r\n%s\r\n", strlen(text), text);
}

/* "*2 GET key" or "*3 SET key value".  Return  what follows; *answer moves on */
EVENT_INLINE char *serve(enum program_kind kind, char *at, int fd, char **answer)
{
	char command[8], key[KEY_BYTES];
	int words = at[1] - '0';
	struct entry *entry;

	at = parse_text(at + 4, command, sizeof(command));
	at = parse_text(at, key, sizeof(key));
	EVENT_ENTER_MESSAGE(kind, "request", key, fd);
	entry = find(key);
	if (words == 3) {
		memcpy(entry->key, key, sizeof(key));
		at = parse_text(at, entry->value, sizeof(entry->value));
		*answer = stpcpy(*answer, "+OK\r\n");
	} else {
		*answer = entry->key[0] ? put_text(*answer, entry->value) : stpcpy(*answer, "$-1\r\n");
	}
	EVENT_LEAVE(kind, "request");
	return at;
}

EVENT_INLINE void serve_connection(enum program_kind kind, const struct connection *connection)
{
	char request[BUFFER_BYTES], answer[BUFFER_BYTES], *at = request, *end = answer;
	ssize_t got = read(connection->server, request, sizeof(request) - 1);

	program_check(got > 0, "reading a request");
	request[got] = '\0';
	while (at < request + got)
		at = serve(kind, at, connection->server, &end);
	program_check(write(connection->server, answer, (size_t)(end - answer)) == end - answer, "an answer");
}

EVENT_INLINE void work(enum program_kind kind, unsigned thread, unsigned events)
{
	(void)thread;
	for (unsigned i = 0; i < events; i += SET_EVENTS) {
		struct epoll_event ready[CONNECTIONS];
		struct set *set = &sets[next_set++ % SETS];

		while (sem_wait(&set->is_full))
			program_check(errno == EINTR, "waiting for requests");
		program_check(epoll_wait(set->epoll, ready, CONNECTIONS, -1) == CONNECTIONS, "connections");
		for (unsigned k = 0; k < CONNECTIONS; k++)
			serve_connection(kind, ready[k].data.ptr);
		sem_post(&set->is_answered);
	}
}
EVENT_COPIES(work)

EVENT_INLINE void loop(enum program_kind kind, unsigned thread, unsigned events)
{
	char key[KEY_BYTES] = "key:1234:56";

	for (unsigned i = 0; i < events; i += REQUEST_EVENTS) {
		bench_keep(key);
		EVENT_ENTER_MESSAGE(kind, "loop", key, (int)thread);
		bench_barrier();
		EVENT_LEAVE(kind, "loop");
		bench_barrier();
	}
}
EVENT_COPIES(loop)

/* ---- the client ------------------------------------------------------------------------------------ */

/* Every third request is a SET.  Return  the request's end in to */
static char *put_request(struct connection *connection, char *to)
{
	unsigned number = ++connection->sent, slot = number / 3 * 7 % KEYS, *value = &connection->values[slot];
	char *expected = connection->expected + connection->expected_bytes;
	char key[KEY_BYTES], text[VALUE_BYTES];

	snprintf(key, sizeof(key), "key:%d:%u", connection->client, slot);
	if (number % 3 == 0) {
		*value = number;
		snprintf(text, sizeof(text), "value %u", number);
		to = put_text(put_text(stpcpy(to, "*3\r\n$3\r\nSET\r\n"), key), text);
		expected = stpcpy(expected, "+OK\r\n");
	} else {
		snprintf(text, sizeof(text), "value %u", *value);
		to = put_text(stpcpy(to, "*2\r\n$3\r\nGET\r\n"), key);
		expected = *value ? put_text(expected, text) : stpcpy(expected, "$-1\r\n");
	}
	connection->expected_bytes = (size_t)(expected - connection->expected);
	return to;
}

static void check_answers(struct connection *connection)
{
	char answer[BUFFER_BYTES];

	program_check(read(connection->client, answer, sizeof(answer)) == (ssize_t)connection->expected_bytes &&
		      !memcmp(answer, connection->expected, connection->expected_bytes), "what a request is answered");
	connection->expected_bytes = 0;
}

static void send_requests(struct connection *connection)
{
	char requests[BUFFER_BYTES], *end = requests;

	for (unsigned i = 0; i < PIPELINED; i++)
		end = put_request(connection, end);
	program_check(write(connection->client, requests, (size_t)(end - requests)) == end - requests, "a request");
}

static void *run_client(void *unused)
{
	for (unsigned number = 0;; number++) {
		struct set *set = &sets[number % SETS];

		if (number >= SETS) {
			while (sem_wait(&set->is_answered))
				program_check(errno == EINTR, "waiting for answers");
			for (unsigned i = 0; i < CONNECTIONS; i++)
				check_answers(&set->connections[i]);
		}
		for (unsigned i = 0; i < CONNECTIONS; i++)
			send_requests(&set->connections[i]);
		sem_post(&set->is_full);
	}
	return unused;
}

static void set_up(void)
{
	pthread_t client;

	for (unsigned s = 0; s < SETS; s++) {
		struct set *set = &sets[s];

		set->epoll = epoll_create1(EPOLL_CLOEXEC);
		if (set->epoll < 0 || sem_init(&set->is_full, 0, 0) || sem_init(&set->is_answered, 0, 0))
			bench_fail("a set of connections");
		for (unsigned i = 0; i < CONNECTIONS; i++) {
			struct connection *connection = &set->connections[i];
			struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };
			int pair[2];

			if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ||
			    epoll_ctl(set->epoll, EPOLL_CTL_ADD, pair[0], &event))
				bench_fail("a connection");
			connection->server = pair[0];
			connection->client = pair[1];
		}
	}
	if ((errno = pthread_create(&client, NULL, run_client, NULL)) != 0)
		bench_fail("thread");
}

int main(int argc, char **argv)
{
	static const struct program program = {
		.name = "server", .set_up = set_up, .work_events = WORK_EVENTS, .loop_events = LOOP_EVENTS, .alone = 1,
		.work = { work_none, work_ours, work_lttng }, .loop = { loop_none, loop_ours, loop_lttng },
	};

	return program_main(&program, argc, argv);
}
