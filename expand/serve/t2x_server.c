/* SPDX-License-Identifier: MIT */
/* t2x_server.c - see t2x_server.h. */
#include "t2x_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CLEAN_S = 600 };

/* ---- the directory --------------------------------------------------------------------------------------- */

/* The directory and those above it.  Return  0 or an errno */
static int make_directories(const char *path)
{
	char name[1024];

	if (*path != '/' || strlen(path) >= sizeof(name))
		return *path == '/' ? ENAMETOOLONG : EINVAL;
	snprintf(name, sizeof(name), "%s", path);
	for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(name, 0700) && errno != EEXIST)
			return errno;
		*slash = '/';
	}
	return mkdir(name, 0700) && errno != EEXIST ? errno : 0;
}

struct kept {
	char name[256];
	struct timespec when;
	uint64_t bytes;
};

/* serve-PID-ID.tlg of a process that has ended.  Of one that runs it may go on. */
static int is_left(const char *name)
{
	char path[64];
	unsigned pid;
	int end = 0;

	if (sscanf(name, "serve-%9u-%*16[0-9a-f].tlg%n", &pid, &end) != 1 || !end || name[end])
		return 0;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	return access(path, F_OK) != 0;
}

static int is_older(const void *a, const void *b)
{
	const struct kept *one = a, *other = b;

	if (one->when.tv_sec != other->when.tv_sec)
		return one->when.tv_sec < other->when.tv_sec ? -1 : 1;
	return strcmp(one->name, other->name);
}

static void clean(const char *directory)
{
	enum { MOST = 4096 };
	struct kept *kept = calloc(MOST, sizeof(*kept));
	DIR *stream = opendir(directory);
	const struct dirent *entry;
	uint64_t bytes = 0;
	unsigned n = 0;
	struct stat st;

	while (kept && stream && n < MOST && (entry = readdir(stream))) {
		if (!is_left(entry->d_name) || fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		snprintf(kept[n].name, sizeof(kept[n].name), "%s", entry->d_name);
		kept[n].when = st.st_mtim;
		bytes += kept[n++].bytes = (uint64_t)st.st_size;
	}
	if (n)
		qsort(kept, n, sizeof(*kept), is_older);
	for (unsigned i = 0; i < n; i++) {
		if (bytes <= (uint64_t)T2X_SERVER_QUOTA_MB << 20 &&
		    kept[i].when.tv_sec > time(NULL) - T2X_SERVER_DAYS * 86400)
			break;
		if (!unlinkat(dirfd(stream), kept[i].name, 0))
			bytes -= kept[i].bytes;
	}
	if (stream)
		closedir(stream);
	free(kept);
}

const char *t2x_server_directory(const char *path)
{
	int error = make_directories(path);
	struct stat st;

	if (error)
		return strerror(error);
	if (stat(path, &st))
		return strerror(errno);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		return "must be a directory into which only this user can write";
	clean(path);
	return NULL;
}

/* ---- the server ------------------------------------------------------------------------------------------ */

/* Of this thread, and of those that it makes. */
static void block_signals(sigset_t *ends)
{
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(ends);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, ends, NULL);
}

static void sweep(const struct t2x_server *server)
{
	struct t2x_traced_list list;

	if (!t2x_traced_find(&list))
		t2x_steering_sweep(server->steering, &list);
	t2x_traced_free(&list);
}

/* Until a signal ends it. */
static void watch(struct t2x_server *server, const sigset_t *ends)
{
	const struct timespec second = { 1, 0 };

	for (unsigned seconds = 1;; seconds++) {
		const int got = sigtimedwait(ends, NULL, &second);

		if (got > 0)
			return;
		t2x_http_watch(server->http);
		if (!(seconds % CLEAN_S))
			clean(server->what->directory);
	}
}

const char *t2x_server_run(const struct t2x_server_settings *settings)
{
	struct t2x_server server = { .what = settings, .stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	const struct t2x_http_settings http = {
		.fd = settings->sock.fd, .is_local = settings->sock.is_local, .token = settings->token,
		/* With TLS the certificate proves the name. */
		.port = settings->sock.is_local || settings->tls_cert ? 0 : settings->sock.port,
		.tls_cert = settings->tls_cert, .tls_key = settings->tls_key,
		.answer = t2x_server_answer, .owner = &server,
	};
	const char *why = NULL;
	sigset_t ends;

	block_signals(&ends);
	server.steering = t2x_steering_new(settings->directory);
	if (!server.steering || server.stop < 0)
		why = strerror(ENOMEM);
	if (!why) {
		sweep(&server);
		server.http = t2x_http_start(&http, &why);
	}
	if (!why) {
		watch(&server, &ends);
		eventfd_write(server.stop, 1);
		t2x_http_stop(server.http);
	}
	t2x_steering_free(server.steering);
	if (server.stop >= 0)
		close(server.stop);
	return why;
}
