/* SPDX-License-Identifier: MIT */
/* t2x_serving.c - see t2x_serving.h. */
#include "t2x_serving.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_commands.h"
#include "t2x_refuse.h"
#include "t2x_status.h"
#include "base/t2x_report.h"
#include "serve/t2x_guard.h"
#include "serve/t2x_server.h"

enum { PEM_BYTES = 256 * 1024 };

struct serving {
	const char *socket, *listen, *token_file, *cert_file, *key_file, *directory;
	char default_socket[512], default_directory[1024];
	char token[T2X_GUARD_TOKEN_MAX + 2];
	struct t2x_server_settings what;
};

static const struct option options[] = {
	{ "socket", required_argument, NULL, 's' }, { "listen", required_argument, NULL, 'l' },
	{ "token-file", required_argument, NULL, 't' }, { "tls-cert", required_argument, NULL, 'c' },
	{ "tls-key", required_argument, NULL, 'k' }, { "directory", required_argument, NULL, 'd' }, { 0 },
};

int t2x_serving_is_meant(int argc, char **argv)
{
	return t2x_command_is(argc, argv, "serve") && !t2x_command_asks_for_help(argc, argv);
}

/* ---- options ------------------------------------------------------------------------------------ */

static void read_options(struct serving *serving, int argc, char **argv)
{
	const char **values[] = { &serving->socket,    &serving->listen,   &serving->token_file,
				  &serving->cert_file, &serving->key_file, &serving->directory };
	int option, index = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, &index)) != -1) {
		if (option == '?' || option == ':')
			t2x_refuse_option(options, option, argv[optind - 1]);
		*values[index] = optarg;
	}
	if (serving->socket && serving->listen)
		t2x_refuse("--socket and --listen exclude each other", NULL);
	if (!serving->cert_file != !serving->key_file)
		t2x_refuse("--tls-cert and --tls-key need each other", NULL);
	serving->what.files = (struct t2x_files){ argv + optind, (unsigned)(argc - optind) };
}

/* Where traces of dormant processes go, by itself. */
static const char *find_directory(struct serving *serving)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME"), *service = getenv("STATE_DIRECTORY");
	char *to = serving->default_directory;
	const size_t size = sizeof(serving->default_directory);

	if (serving->directory && *serving->directory != '/')
		t2x_refuse("--directory needs an absolute path, not", serving->directory);
	if (serving->directory || (service && *service == '/'))
		return serving->directory ? serving->directory : service;
	if (state && *state == '/')
		snprintf(to, size, "%s/trace2", state);
	else if (home && *home == '/')
		snprintf(to, size, "%s/.local/state/trace2", home);
	else
		t2x_refuse("no HOME: --directory says where traces may be kept", NULL);
	return to;
}

/* ---- secrets ------------------------------------------------------------------------------------ */

/* A file of this user's or root's that others cannot read.  Return  bytes, the text ended by NUL; -1: complained */
static ssize_t read_secret(const char *path, int is_open_to_all, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	const char *why = fd < 0 ? strerror(errno) : NULL;
	struct stat st;
	ssize_t n = -1;

	if (!why && (fstat(fd, &st) || !S_ISREG(st.st_mode)))
		why = "is no file";
	if (!why && ((st.st_uid != geteuid() && st.st_uid) || (!is_open_to_all && st.st_mode & 077)))
		why = "must belong to this user, and nobody else may read it: chmod 600";
	if (!why) {
		n = read(fd, to, size);
		why = n < 0 ? strerror(errno) : (size_t)n == size ? "is too long" : NULL;
	}
	if (fd >= 0)
		close(fd);
	if (why) {
		t2x_complain(path, why);
		return -1;
	}
	to[n] = '\0';
	return n;
}

/* Return  0: complained */
static int read_token(struct serving *serving)
{
	if (!serving->token_file)
		return 1;
	if (read_secret(serving->token_file, 0, serving->token, sizeof(serving->token)) < 0)
		return 0;
	serving->token[strcspn(serving->token, "\r\n")] = '\0';
	if (!t2x_guard_is_token(serving->token)) {
		t2x_complain(serving->token_file, "is no token: 16 to 256 letters and digits on one line");
		return 0;
	}
	serving->what.token = serving->token;
	return 1;
}

/* Return  0: complained */
static int read_tls(struct serving *serving)
{
	static char cert[PEM_BYTES], key[PEM_BYTES];

	if (!serving->cert_file)
		return 1;
	if (read_secret(serving->cert_file, 1, cert, sizeof(cert)) < 0 ||
	    read_secret(serving->key_file, 0, key, sizeof(key)) < 0)
		return 0;
	serving->what.tls_cert = cert;
	serving->what.tls_key = key;
	return 1;
}

/* ---- the socket --------------------------------------------------------------------------------- */

static const char *default_socket(struct serving *serving)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (!runtime || *runtime != '/')
		t2x_refuse("no XDG_RUNTIME_DIR: --socket=PATH or --listen=127.0.0.1:PORT says where to listen", NULL);
	snprintf(serving->default_socket, sizeof(serving->default_socket), "%s/trace2-serve.sock", runtime);
	return serving->default_socket;
}

/* Return  NULL, or why it may not be served */
static const char *judge(const struct serving *serving)
{
	const struct t2x_socket *sock = &serving->what.sock;

	if (sock->is_local)
		return NULL;
	if (!serving->what.token)
		return "any user of the machine can connect: --token-file=FILE is needed";
	if (!sock->is_loopback && !serving->what.tls_cert)
		return "is an address for other machines: --tls-cert and --tls-key are needed";
	return NULL;
}

/* Return  NULL, or why not; *name is what was to be listened on */
static const char *open_socket(struct serving *serving, const char **name)
{
	struct t2x_socket *sock = &serving->what.sock;
	int is_inherited = t2x_socket_inherit(sock);
	const char *why = is_inherited < 0 ? "LISTEN_FDS is not one stream socket" : NULL;

	*name = "the socket of the service";
	if (!is_inherited && serving->listen) {
		*name = serving->listen;
		why = t2x_socket_tcp(sock, serving->listen);
	} else if (!is_inherited) {
		*name = serving->socket ? serving->socket : default_socket(serving);
		why = t2x_socket_local(sock, *name);
	}
	return why ? why : judge(serving);
}

static void announce(const struct serving *serving, const char *name)
{
	const struct t2x_socket *sock = &serving->what.sock;

	if (sock->is_local)
		fprintf(stderr, "t2 serve: listens on %s\n", name);
	else
		fprintf(stderr, "t2 serve: listens on port %u: %s\n", sock->port, name);
}

int t2x_serving_run(int argc, char **argv)
{
	struct serving serving = { .what = { .sock = { .fd = -1 } } };
	const char *why, *name = NULL;

	t2x_report_set_name("t2 serve");
	read_options(&serving, argc - 1, argv + 1);
	serving.what.directory = find_directory(&serving);
	why = t2x_files_check(&serving.what.files, &name);
	if (!why && (!read_token(&serving) || !read_tls(&serving)))
		return T2X_EXIT_UNUSABLE;
	if (!why) {
		name = serving.what.directory;
		why = t2x_server_directory(name);
	}
	if (!why)
		why = open_socket(&serving, &name);
	if (!why) {
		announce(&serving, name);
		why = t2x_server_run(&serving.what);
	}
	t2x_socket_close(&serving.what.sock);
	return why ? t2x_complain(name, why) : EXIT_SUCCESS;
}
