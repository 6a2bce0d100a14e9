/* SPDX-License-Identifier: MIT */
/* t2x_git_socket.c - see t2x_git_socket.h. */
#include "t2x_git_socket.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/t2x_memory.h"

enum { CHUNK = 65536, RECEIVE_BYTES = 8 * 1024 * 1024, BACKLOG = 128, IDLE_MS = 100 };

/* What came in one piece. */
struct chunk {
	struct chunk *next;
	unsigned connection;              /* place in the table */
	int is_end;                       /* the connection has ended; the piece is empty */
	int is_cut;                       /* bytes in front of it were dropped */
	size_t n;
	char bytes[];
};

struct t2x_git_socket {
	struct sockaddr_un name;
	int fd, is_stream, stop;          /* stop: a signalfd */
	int64_t until_ms;                 /* 0: no limit */
	/* the receiver's */
	struct pollfd polled[2 + T2X_SOCKET_CONNECTIONS];     /* fd -1: none */
	int is_cut[T2X_SOCKET_CONNECTIONS];
	/* between both */
	pthread_mutex_t lock;
	pthread_cond_t has_come;
	struct chunk *first, **last;
	size_t bytes;
	uint64_t dropped;
	int is_over;
	/* the importer's */
	struct t2x_import_rest rests[T2X_SOCKET_CONNECTIONS];
};

/* ---- the socket --------------------------------------------------------------------------------- */

static const char stream_prefix[] = "af_unix:stream:", dgram_prefix[] = "af_unix:dgram:", prefix[] = "af_unix:";

static int begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

int t2x_git_socket_is(const char *target)
{
	return begins(target, prefix);
}

static const char *path_of(const char *target, int *type)
{
	*type = begins(target, dgram_prefix) ? SOCK_DGRAM : SOCK_STREAM;
	if (begins(target, stream_prefix))
		return target + sizeof(stream_prefix) - 1;
	return target + (*type == SOCK_DGRAM ? sizeof(dgram_prefix) : sizeof(prefix)) - 1;
}

/* Remove a socket of this name that nobody listens to.  Return  0: there is something else */
static int remove_dead(const struct sockaddr_un *name, int type)
{
	struct stat st;
	int fd, is_dead;

	if (lstat(name->sun_path, &st))
		return errno == ENOENT;
	fd = S_ISSOCK(st.st_mode) ? socket(AF_UNIX, type | SOCK_CLOEXEC, 0) : -1;
	is_dead = fd >= 0 && connect(fd, (const struct sockaddr *)name, sizeof(*name)) && errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return is_dead && !unlink(name->sun_path);
}

static const char *listen_on(struct t2x_git_socket *sock, int type)
{
	const int room = RECEIVE_BYTES;
	mode_t mask;
	int error;

	sock->fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock->fd < 0)
		return strerror(errno);
	setsockopt(sock->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (!remove_dead(&sock->name, type))
		return "exists, and is no socket that nobody listens to";
	mask = umask(0177);               /* nobody else may send anything, from the first moment on */
	error = bind(sock->fd, (const struct sockaddr *)&sock->name, sizeof(sock->name)) ? errno : 0;
	umask(mask);
	if (error)
		return strerror(error);
	return type == SOCK_STREAM && listen(sock->fd, BACKLOG) ? strerror(errno) : NULL;
}

/* Both signals end the import, so they come by a descriptor. */
static const char *catch_signals(struct t2x_git_socket *sock)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sock->stop = pthread_sigmask(SIG_BLOCK, &set, NULL) ? -1 : signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return sock->stop < 0 ? strerror(errno) : NULL;
}

struct t2x_git_socket *t2x_git_socket_open(const char *target, const char **why)
{
	struct t2x_git_socket *sock = t2x_calloc(1, sizeof(*sock));
	const char *path;
	int type;

	path = path_of(target, &type);
	*why = strerror(ENOMEM);
	if (!sock)
		return NULL;
	sock->fd = sock->stop = -1;
	sock->is_stream = type == SOCK_STREAM;
	sock->last = &sock->first;
	sock->name.sun_family = AF_UNIX;
	pthread_mutex_init(&sock->lock, NULL);
	pthread_cond_init(&sock->has_come, NULL);
	for (unsigned i = 0; i < T2X_SOCKET_CONNECTIONS; i++)
		sock->polled[2 + i].fd = -1;
	*why = "git takes no such path: it must be absolute, and shorter than 108 bytes";
	if (*path == '/' && strlen(path) < sizeof(sock->name.sun_path)) {
		strcpy(sock->name.sun_path, path);
		*why = listen_on(sock, type);
	}
	if (!*why)
		*why = catch_signals(sock);
	if (!*why)
		return sock;
	sock->name.sun_path[0] = '\0';
	t2x_git_socket_close(sock);
	return NULL;
}

void t2x_git_socket_close(struct t2x_git_socket *sock)
{
	if (sock->fd >= 0)
		close(sock->fd);
	if (sock->stop >= 0)
		close(sock->stop);
	if (*sock->name.sun_path)
		unlink(sock->name.sun_path);
	for (unsigned i = 0; i < T2X_SOCKET_CONNECTIONS; i++)
		if (sock->polled[2 + i].fd >= 0)
			close(sock->polled[2 + i].fd);
	pthread_cond_destroy(&sock->has_come);
	pthread_mutex_destroy(&sock->lock);
	t2x_free(sock);
}

uint64_t t2x_git_socket_dropped(const struct t2x_git_socket *sock)
{
	return sock->dropped;
}

/* ---- the receiver ------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Queue a piece, or drop it.  The end of a stream is always queued, without memory as soon as there is some. */
static void queue(struct t2x_git_socket *sock, unsigned connection, const char *bytes, size_t n, int is_end)
{
	struct chunk *chunk = t2x_malloc(sizeof(*chunk) + n);

	pthread_mutex_lock(&sock->lock);
	if (!chunk || (n && sock->bytes + sizeof(*chunk) + n > T2X_SOCKET_BYTES)) {
		sock->dropped += n;
		sock->is_cut[connection] = sock->is_stream;   /* a datagram begins with a line */
		t2x_free(chunk);
	} else {
		*chunk = (struct chunk){
			.connection = connection, .is_end = is_end, .is_cut = sock->is_cut[connection], .n = n,
		};
		sock->is_cut[connection] = 0;
		if (n)
			memcpy(chunk->bytes, bytes, n);
		*sock->last = chunk;
		sock->last = &chunk->next;
		sock->bytes += sizeof(*chunk) + n;
	}
	pthread_cond_signal(&sock->has_come);
	pthread_mutex_unlock(&sock->lock);
}

/* Read what has come on a connection.  Return  0: it has ended */
static int receive(struct t2x_git_socket *sock, unsigned connection, int fd)
{
	char bytes[CHUNK];
	ssize_t n;

	do {
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n > 0)
			queue(sock, connection, bytes, (size_t)n, !sock->is_stream);
	} while (n > 0);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void accept_all(struct t2x_git_socket *sock)
{
	for (unsigned i = 0; i < T2X_SOCKET_CONNECTIONS; i++) {
		struct pollfd *polled = &sock->polled[2 + i];
		if (polled->fd >= 0)
			continue;
		polled->fd = accept4(sock->fd, NULL, NULL, SOCK_CLOEXEC);
		polled->events = POLLIN;
		if (polled->fd < 0)
			return;
	}
}

static int has_free_place(const struct t2x_git_socket *sock)
{
	for (unsigned i = 0; i < T2X_SOCKET_CONNECTIONS; i++)
		if (sock->polled[2 + i].fd < 0)
			return 1;
	return 0;
}

static void receive_all(struct t2x_git_socket *sock)
{
	for (unsigned i = 0; i < T2X_SOCKET_CONNECTIONS; i++) {
		struct pollfd *polled = &sock->polled[2 + i];
		if (polled->fd < 0 || receive(sock, i, polled->fd))
			continue;
		close(polled->fd);
		polled->fd = -1;
		queue(sock, i, NULL, 0, 1);
	}
}

/* Return  0: it is time to stop */
static int wait_for_more(struct t2x_git_socket *sock)
{
	int64_t left_ms = sock->until_ms ? sock->until_ms - now_ms() : -1;

	if (sock->until_ms && left_ms <= 0)
		return 0;
	sock->polled[0] = (struct pollfd){ .fd = sock->stop, .events = POLLIN };
	sock->polled[1] = (struct pollfd){ .fd = has_free_place(sock) ? sock->fd : -1, .events = POLLIN };
	if (poll(sock->polled, 2 + T2X_SOCKET_CONNECTIONS, left_ms > INT32_MAX ? INT32_MAX : (int)left_ms) < 0)
		return errno == EINTR;
	return !sock->polled[0].revents;
}

/* What has come before the end still counts, so all is read once more then. */
static void *run_receiver(void *arg)
{
	struct t2x_git_socket *sock = arg;
	int goes_on;

	do {
		goes_on = wait_for_more(sock);
		if (sock->is_stream)
			accept_all(sock);
		else
			receive(sock, 0, sock->fd);
		receive_all(sock);
	} while (goes_on);
	pthread_mutex_lock(&sock->lock);
	sock->is_over = 1;
	pthread_cond_signal(&sock->has_come);
	pthread_mutex_unlock(&sock->lock);
	return NULL;
}

/* ---- the importer ------------------------------------------------------------------------------- */

/* Return  NULL: nothing came for a while, or *is_over */
static struct chunk *next_chunk(struct t2x_git_socket *sock, int *is_over)
{
	struct timespec until;
	struct chunk *chunk;
	int error = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += IDLE_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&sock->lock);
	while (!sock->first && !sock->is_over && !error)
		error = pthread_cond_timedwait(&sock->has_come, &sock->lock, &until);
	chunk = sock->first;
	*is_over = !chunk && sock->is_over;
	if (chunk) {
		sock->first = chunk->next;
		if (!sock->first)
			sock->last = &sock->first;
		sock->bytes -= sizeof(*chunk) + chunk->n;
	}
	pthread_mutex_unlock(&sock->lock);
	return chunk;
}

static int import_chunk(struct t2x_git_socket *sock, struct t2x_import *import, const struct chunk *chunk)
{
	struct t2x_import_rest *rest = &sock->rests[chunk->connection];
	int error;

	if (chunk->is_cut)
		rest->is_too_long = 1;   /* so what remains of its line is left out, and counts as broken */
	error = t2x_import_bytes(import, rest, chunk->bytes, chunk->n);
	return !error && chunk->is_end ? t2x_import_end(import, rest) : error;
}

static int import_all(struct t2x_git_socket *sock, struct t2x_import *import)
{
	int error = 0, is_over = 0, is_idle = 1;

	while (!is_over) {
		struct chunk *chunk = next_chunk(sock, &is_over);
		if (!chunk && !is_idle && !error)
			error = t2x_import_flush(import, T2X_IMPORT_NOW);
		is_idle = !chunk;
		if (chunk && !error)
			error = import_chunk(sock, import, chunk);
		t2x_free(chunk);
	}
	for (unsigned i = 0; i < T2X_SOCKET_CONNECTIONS; i++) {
		int failed = t2x_import_end(import, &sock->rests[i]);
		error = error ? error : failed;
	}
	return error;
}

int t2x_git_socket_import(struct t2x_git_socket *sock, struct t2x_import *import, unsigned seconds)
{
	pthread_t receiver;
	int error;

	sock->until_ms = seconds ? now_ms() + (int64_t)seconds * 1000 : 0;
	error = pthread_create(&receiver, NULL, run_receiver, sock);
	if (error)
		return -error;
	error = import_all(sock, import);
	pthread_join(receiver, NULL);
	return error;
}
