/* SPDX-License-Identifier: MIT */
/* t2x_output.c - see t2x_output.h. */
#include "t2x_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_pager.h"

enum {
	PIPE_BYTES = 1024 * 1024,         /* what anybody may ask for */
	MAX_NAME = 200,                   /* of a new file, without number and suffix */
	MAX_NUMBER = 1000000,
};

const char *t2x_output_open(struct t2x_output *output, const struct t2x_settings *settings)
{
	const char *path = settings->output;
	int is_named = path && strcmp(path, "-") != 0;

	*output = (struct t2x_output){ .fd = STDOUT_FILENO };
	snprintf(output->path, sizeof(output->path), "%s", is_named ? path : "standard output");
	if (settings->unpacks) {
		output->fd = t2x_unpack_open(path);
		output->is_unpacked = 1;
		return output->fd < 0 ? strerror(-output->fd) : NULL;
	}
	if (is_named)
		output->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	return output->fd < 0 ? strerror(errno) : NULL;
}

/* ---- a new file in a directory ------------------------------------------------------------------ */

/* What is in a session id is up to whoever wrote it. */
static void make_safe(char *name)
{
	if (*name == '.')
		*name = '_';
	for (; *name; name++)
		if (!strchr("-_.", *name) && (*name < '0' || *name > '9') && (*name < 'A' || *name > 'Z') &&
		    (*name < 'a' || *name > 'z'))
			*name = '_';
}

/* Return  0 or -ENAMETOOLONG */
static int name_file(struct t2x_output *output, const char *directory, const char *sid)
{
	const char *part = strrchr(sid, '/'), *name = part ? part + 1 : sid;
	size_t length = strlen(directory), room = sizeof(output->path);
	int n = snprintf(output->path, room, "%s%s%.*s", directory, directory[length - 1] == '/' ? "" : "/", MAX_NAME,
			 *name ? name : "process");

	if (n < 0 || (size_t)n > room - 40)
		return -ENAMETOOLONG;
	make_safe(strrchr(output->path, '/') + 1);
	output->stem = (size_t)n;
	return 0;
}

/* The i-th name that it may have. */
static const char *number_file(struct t2x_output *output, unsigned i)
{
	char *end = output->path + output->stem;
	size_t room = sizeof(output->path) - output->stem;

	if (i)
		snprintf(end, room, "-%u.%s", i, output->suffix);
	else
		snprintf(end, room, ".%s", output->suffix);
	return output->path;
}

/* What has no name yet can be given one.  Return  descriptor or -1 */
static int open_nameless(const char *directory, char *link, size_t room)
{
	int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);

	if (fd < 0)
		return -1;
	snprintf(link, room, "/proc/self/fd/%d", fd);
	if (!access(link, F_OK))
		return fd;
	close(fd);
	return -1;
}

/* Return  0 or -errno */
static int open_new(struct t2x_output *output, const char *directory)
{
	char link[64];

	number_file(output, 0);
	output->fd = open_nameless(directory, link, sizeof(link));
	output->is_nameless = output->fd >= 0;
	for (unsigned i = 0; output->fd < 0 && i < MAX_NUMBER; i++) {
		output->fd = open(number_file(output, i), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (output->fd < 0 && errno != EEXIST)
			break;
	}
	return output->fd < 0 ? -errno : 0;
}

const char *t2x_output_create(struct t2x_output *output, const struct t2x_settings *settings, const char *sid)
{
	int error;

	*output = (struct t2x_output){
		.fd = -1, .is_new = 1,
		.suffix = settings->format->suffix,
	};
	error = name_file(output, settings->output, sid);
	if (!error)
		error = open_new(output, settings->output);
	return error ? strerror(-error) : NULL;
}

/* Return  0 or an errno */
static int give_name(struct t2x_output *output)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", output->fd);
	for (unsigned i = 0; i < MAX_NUMBER; i++) {
		if (!linkat(AT_FDCWD, link, AT_FDCWD, number_file(output, i), AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			break;
	}
	return errno;
}

/* Its name, too, must be on the disk.  Return  0 or an errno */
static int sync_directory(const struct t2x_output *output)
{
	char directory[sizeof(output->path)];
	int fd, error = 0;

	snprintf(directory, sizeof(directory), "%s", output->path);
	*(strrchr(directory, '/') + 1) = '\0';
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (fsync(fd) && errno != EINVAL && errno != EROFS))
		error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

/* ---- text --------------------------------------------------------------------------------------- */

/*
 * What is empty already is left alone: of a file that was cut to nothing ext4 writes all to the disk when it is closed,
 * and the program waits.  Return  0, or -1 and errno
 */
static int empty_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) || (S_ISREG(st.st_mode) && st.st_size && ftruncate(fd, 0)) ? -1 : 0;
}

/* A pipe takes 64 KiB at a time, a turn of writer and reader for each; in a larger one half the time is saved. */
static void widen_pipe(int fd)
{
	if (fcntl(fd, F_GETPIPE_SZ) < PIPE_BYTES)
		fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
}

static int is_regular(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/* color  NULL: none */
static int start_terminal(struct t2x_output *output, const struct t2x_settings *settings, t2x_color_fn *color)
{
	int error = t2x_terminal_init(&output->terminal, output->fd, settings->format->traits & T2X_TRAIT_JSON);

	output->is_terminal = 1;
	output->terminal.color = color;
	output->terminal.is_seen = isatty(output->fd);
	output->terminal.is_raw = settings->raw_text || !output->terminal.is_seen;
	if (!output->terminal.is_raw && output->fd == STDOUT_FILENO && !settings->no_pager)
		output->terminal.pager = t2x_pager_find();
	return error ? error : t2x_out_init_fn(&output->out, t2x_terminal_write, &output->terminal);
}

/* A profile with --debug=1 or 2 is text. */
static int is_binary(const struct t2x_settings *settings)
{
	const char *debug = settings->values[T2X_OPTION_debug];

	return settings->format->traits & T2X_TRAIT_BINARY && (!debug || *debug == '0');
}

/* What files hold may reach a terminal only as text.  Return  NULL, or why there will be none */
static const char *start_text(struct t2x_output *output, const struct t2x_settings *settings)
{
	int error = 0, is_named = output->fd != STDOUT_FILENO, is_terminal = isatty(output->fd);
	t2x_color_fn *color = NULL;

	if (t2x_color_is_wanted(settings->color, is_terminal && !settings->raw_text))
		color = t2x_color_find(settings->format);
	if (is_named && empty_file(output->fd))
		return strerror(errno);
	if (output->is_unpacked) {
		t2x_unpack_init(&output->unpack, output->fd);
		error = t2x_out_init_fn(&output->out, t2x_unpack_write, &output->unpack);
		t2x_out_in_blocks(&output->out);
	} else if (color) {
		error = start_terminal(output, settings, color);
	} else if (is_regular(output->fd)) {
		output->preallocated.fd = output->fd;
		error = t2x_out_init_fn(&output->out, t2x_preallocate_write, &output->preallocated);
		t2x_out_in_large_writes(&output->out);
	} else if (settings->raw_text || !is_terminal) {
		widen_pipe(output->fd);
		error = t2x_out_init(&output->out, output->fd);
	} else if (is_binary(settings)) {
		return "a terminal, which binary output might upset; --raw-text writes it";
	} else {
		error = start_terminal(output, settings, NULL);
	}
	return error ? strerror(-error) : NULL;
}

/*
 * Whether a line of progress would be alone on the terminal: not beside what the reader of a pipe may print there.
 */
static int is_progress_alone(const struct t2x_output *output)
{
	struct stat st;

	return output->terminal.is_seen || output->is_unpacked ||
	       (!fstat(output->fd, &st) && (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(output->fd))));
}

/* It comes to nothing. */
static void abandon(const struct t2x_output *output)
{
	if (output->fd != STDOUT_FILENO)
		close(output->fd);
	if (output->is_new && !output->is_nameless)
		unlink(output->path);
}

const char *t2x_output_start(struct t2x_output *output, const struct t2x_settings *settings)
{
	const char *why = start_text(output, settings);

	if (why)
		abandon(output);
	else
		output->shows_progress = !settings->quiet && is_progress_alone(output);
	return why;
}

int t2x_output_finish(struct t2x_output *output, int is_durable)
{
	int error = t2x_out_flush(&output->out), late = 0;

	t2x_out_free(&output->out);
	if (output->is_terminal) {
		late = t2x_terminal_finish(&output->terminal);
		output->had_pager = t2x_pager_finish();
	} else if (output->is_unpacked) {
		late = t2x_unpack_finish(&output->unpack, !error);
	}
	if (!error)
		error = late;
	if (!error && is_durable && fsync(output->fd) && errno != EINVAL && errno != EROFS)
		error = errno;
	if (!error && output->is_nameless)
		error = give_name(output);
	if (output->fd != STDOUT_FILENO && close(output->fd) && !error)
		error = errno;
	if (error && output->is_new && !output->is_nameless)
		unlink(output->path);
	if (!error && is_durable && output->is_new)
		error = sync_directory(output);
	return error;
}
