/* SPDX-License-Identifier: MIT */
/* tr2_config.c - finding, including and keeping; the syntax is in tr2_config_parse.c. */
#include "tr2_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tr2_config_parse.h"
#include "tr2_env.h"
#include "tr2_value.h"
#include "base/tr2_sys.h"

enum { MAX_DEPTH = 10, MAX_FILES = 100, FILE_BYTES = 1 << 20, KEPT_BYTES = 1 << 20, PATH_BYTES = 4096 };

/* A file that is being read; the one that includes it waits. */
struct source {
	struct source *outer;
	struct tr2_config_parser parser;
	char path[PATH_BYTES];
	char text[];
};

struct reading {
	enum trace2_config_scope scope;
	struct source *top;
	unsigned depth, files;
	char trouble[128 + PATH_BYTES];    /* the first; "" none */
};

/* What was read: for each setting a byte for the scope, one that says whether there is a value, two texts. */
static struct {
	char *items;
	size_t bytes, room;
} g_kept;

/* ---- keeping ------------------------------------------------------------------------------------ */

static char *make_room(size_t bytes)
{
	size_t room = g_kept.room ? g_kept.room : 4096;
	char *items;

	while (room < g_kept.bytes + bytes && room < KEPT_BYTES)
		room *= 2;
	if (room < g_kept.bytes + bytes)
		return NULL;
	if (room > g_kept.room) {
		items = realloc(g_kept.items, room);
		if (!items)
			return NULL;
		g_kept.items = items;
		g_kept.room = room;
	}
	return g_kept.items + g_kept.bytes;
}

static void keep_item(const struct tr2_config_item *item)
{
	const char *value = item->value ? item->value : "";
	size_t key = strlen(item->key) + 1, bytes = 2 + key + strlen(value) + 1;
	char *to = make_room(bytes);

	if (!to)
		return;
	to[0] = (char)item->scope;
	to[1] = item->value != NULL;
	memcpy(to + 2, item->key, key);
	strcpy(to + 2 + key, value);
	g_kept.bytes += bytes;
}

int tr2_config_next(size_t *at, struct tr2_config_item *item)
{
	const char *from = g_kept.items + *at;

	if (*at >= g_kept.bytes)
		return 0;
	item->scope = (enum trace2_config_scope)from[0];
	item->key = from + 2;
	item->value = item->key + strlen(item->key) + 1;
	*at = (size_t)(item->value + strlen(item->value) + 1 - g_kept.items);
	if (!from[1])
		item->value = NULL;
	return 1;
}

void tr2_config_forget(void)
{
	free(g_kept.items);
	memset(&g_kept, 0, sizeof(g_kept));
}

/* ---- files -------------------------------------------------------------------------------------- */

/* 0: not a regular file of a sensible size.  A pipe is not waited for. */
static int open_file(const char *path, size_t *bytes)
{
	int fd = tr2_sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	if (fd >= 0 && !tr2_sys_fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_BYTES) {
		*bytes = (size_t)st.st_size;
		return fd;
	}
	if (fd >= 0)
		tr2_sys_close(fd);
	return -1;
}

/* At most size bytes; a file that shrinks meanwhile has fewer. */
static size_t read_bytes(int fd, char *text, size_t size)
{
	size_t bytes = 0;

	while (bytes < size) {
		ssize_t n = tr2_sys_read(fd, text + bytes, size - bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes += (size_t)n;
	}
	return bytes;
}

/* Put a file on top, to be read next; one that cannot be read, or would be one too many, is passed over. */
static void push_source(struct reading *reading, const char *path)
{
	struct source *source;
	size_t bytes, length = strlen(path);
	int fd;

	if (length >= PATH_BYTES || reading->depth > MAX_DEPTH || reading->files >= MAX_FILES)
		return;
	fd = open_file(path, &bytes);
	if (fd < 0)
		return;
	source = malloc(sizeof(*source) + bytes + 1);
	if (source) {
		memcpy(source->path, path, length + 1);
		tr2_config_parse_begin(&source->parser, source->text, read_bytes(fd, source->text, bytes));
		source->outer = reading->top;
		reading->top = source;
		reading->depth++;
		reading->files++;
	}
	tr2_sys_close(fd);
}

static void pop_source(struct reading *reading)
{
	struct source *source = reading->top;

	reading->top = source->outer;
	reading->depth--;
	free(source);
}

/* Two parts of a path, the first of so many bytes.  0: they are too long. */
static int join_path(char to[PATH_BYTES], const char *first, size_t bytes, const char *second)
{
	size_t rest = strlen(second);

	if (bytes >= PATH_BYTES || rest >= PATH_BYTES - bytes)
		return 0;
	memcpy(to, first, bytes);
	memcpy(to + bytes, second, rest + 1);
	return 1;
}

/* include.path: absolute, below the home directory, or beside the file that says so. */
static void push_include(struct reading *reading, const char *value)
{
	const char *home = secure_getenv("HOME"), *from = reading->top->path, *slash = strrchr(from, '/');
	char path[PATH_BYTES];
	int joined;

	if (!strncmp(value, "~/", 2))
		joined = home && join_path(path, home, strlen(home), value + 1);
	else if (*value == '/')
		joined = join_path(path, "", 0, value);
	else
		joined = join_path(path, from, slash ? (size_t)(slash + 1 - from) : 0, value);
	if (joined)
		push_source(reading, path);
}

static void read_file(struct reading *reading, const char *path)
{
	struct tr2_config_parser *parser;
	struct tr2_config_item item = { .scope = reading->scope };
	int more;

	push_source(reading, path);
	while (reading->top) {
		parser = &reading->top->parser;
		more = tr2_config_parse_next(parser);
		item.key = parser->key;
		item.value = parser->value;
		if (more < 0 && !*reading->trouble)
			snprintf(reading->trouble, sizeof(reading->trouble), "bad config line %u in file %s",
				 parser->line, reading->top->path);
		if (more <= 0) {
			pop_source(reading);
			continue;
		}
		keep_item(&item);
		tr2_env_configure(item.key, item.value);
		if (item.value && !strcmp(item.key, "include.path"))
			push_include(reading, item.value);
	}
}

static void read_system(struct reading *reading)
{
	const char *path = secure_getenv("GIT_CONFIG_SYSTEM"), *no = secure_getenv("GIT_CONFIG_NOSYSTEM");
	long long is_off = 0;

	reading->scope = TRACE2_SCOPE_SYSTEM;
	if (no)
		tr2_value_bool(no, &is_off);
	if (!is_off)
		read_file(reading, path ? path : "/etc/gitconfig");
}

static void read_global(struct reading *reading)
{
	const char *path = secure_getenv("GIT_CONFIG_GLOBAL"), *home = secure_getenv("HOME");
	const char *xdg = secure_getenv("XDG_CONFIG_HOME");
	char joined[PATH_BYTES];

	reading->scope = TRACE2_SCOPE_GLOBAL;
	if (path) {
		read_file(reading, path);
		return;
	}
	if (xdg && *xdg ? join_path(joined, xdg, strlen(xdg), "/git/config")
			: home && join_path(joined, home, strlen(home), "/.config/git/config"))
		read_file(reading, joined);
	if (home && join_path(joined, home, strlen(home), "/.gitconfig"))
		read_file(reading, joined);
}

void tr2_config_read(void)
{
	struct reading reading = { .depth = 0 };
	int saved = errno;

	if (getauxval(AT_SECURE))
		return;
	read_system(&reading);
	read_global(&reading);
	if (*reading.trouble && tr2_env_debug())
		tr2_warning(reading.trouble);
	if (!tr2_env_get("CONFIG_PARAMS"))
		tr2_config_forget();
	errno = saved;
}
