/* SPDX-License-Identifier: MIT */
/* t2x_jit_files.c - see t2x_jit_files.h. */
#include "t2x_jit_files.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tlg.h"
#include "tlg_crc.h"
#include "base/t2x_out.h"

/* The frame: magic and size, the text, and behind it what is found from the end: its length, its checksum, a word. */
enum { HEAD = 8, FOOT = 16 };
static const char word[8] = { 't', '2', ' ', 'n', 'a', 'm', 'e', 's' };

int t2x_jit_files_parse(const char *file, uint32_t *pid)
{
	static const char begin[] = "[jit:";
	unsigned long long value = 0;
	const char *at = file + sizeof(begin) - 1;

	if (strncmp(file, begin, sizeof(begin) - 1) != 0 || *at < '1' || *at > '9')
		return 0;
	for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
		value = 10 * value + (unsigned)(*at - '0');
	*pid = (uint32_t)value;
	return value <= UINT32_MAX && !strcmp(at, "]");
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* Return  n bytes at an offset, to be freed; NULL: they cannot be had */
static char *read_piece(int fd, off_t offset, size_t n)
{
	char *bytes = malloc(n + 1);
	size_t at = 0;
	ssize_t got;

	while (bytes && at < n) {
		got = pread(fd, bytes + at, n - at, offset + (off_t)at);
		if (got > 0) {
			at += (size_t)got;
		} else if (!got || errno != EINTR) {
			free(bytes);
			return NULL;
		}
	}
	return bytes;
}

/* A regular file that is not too long: the directory may be anybody's.  Return  its bytes, to be freed; NULL */
static char *read_whole(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	char *bytes = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= T2X_JIT_MAX_FILE) {
		*n = (size_t)st.st_size;
		bytes = read_piece(fd, 0, *n);
	}
	close(fd);
	return bytes;
}

int t2x_jit_files_read(struct t2x_jit *jit, const char *directory, uint32_t pid)
{
	const size_t before = jit->n;
	char path[4096];
	char *bytes;
	size_t n;

	for (int is_dump = 0; is_dump < 2; is_dump++) {
		int length = snprintf(path, sizeof(path), is_dump ? "%s/jit-%lu.dump" : "%s/perf-%lu.map", directory,
				      (unsigned long)pid);
		bytes = length > 0 && (size_t)length < sizeof(path) ? read_whole(path, &n) : NULL;
		if (bytes && is_dump)
			t2x_jit_add_dump(jit, (unsigned char *)bytes, n);
		else if (bytes)
			t2x_jit_add_map(jit, bytes, n);
		free(bytes);
	}
	return jit->n > before;
}

static uint32_t load_le32(const char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

/* The text of the frame that a trace ends with.  Return  to be freed; NULL: there is none */
static char *read_text(int fd, off_t size, size_t *n)
{
	char *foot = size >= HEAD + FOOT ? read_piece(fd, size - FOOT, FOOT) : NULL, *text = NULL;

	*n = 0;
	if (foot && !memcmp(foot + 8, word, sizeof(word)))
		*n = load_le32(foot);
	if (*n && *n <= T2X_JIT_MAX_TEXT && (off_t)*n <= size - HEAD - FOOT)
		text = read_piece(fd, size - FOOT - (off_t)*n, *n);
	if (text && tlg_crc32c(0, text, *n) != load_le32(foot + 4)) {
		free(text);
		text = NULL;
	}
	free(foot);
	return text;
}

/* ---- which trace has which process --------------------------------------------------------------- */

void t2x_jit_index_free(struct t2x_jit_index *index)
{
	free(index->places);
	*index = (struct t2x_jit_index){ .n = 0 };
}

static void add_place(struct t2x_jit_index *index, const struct t2x_jit_place *place)
{
	size_t max = index->max ? 2 * index->max : 16;
	struct t2x_jit_place *places = index->places;

	if (index->n == index->max) {
		places = realloc(places, max * sizeof(*places));
		if (!places)
			return;
		index->places = places;
		index->max = max;
	}
	places[index->n++] = *place;
}

/* "jit 12" */
static uint32_t pid_of(const char *line, const char *end)
{
	uint64_t pid = 0;

	if (end - line < 5 || memcmp(line, "jit ", 4) != 0)
		return 0;
	for (line += 4; line < end && *line >= '0' && *line <= '9' && pid <= UINT32_MAX; line++)
		pid = 10 * pid + (unsigned)(*line - '0');
	return line == end && pid <= UINT32_MAX ? (uint32_t)pid : 0;
}

/* Lines of names begin with a hexadecimal number, so none looks like the first line of a part. */
static int begins_part(const char *line, const char *end)
{
	return (end - line >= 4 && !memcmp(line, "jit ", 4)) || (end - line >= 7 && !memcmp(line, "kernel ", 7));
}

/* Whose names the part has.  Return  0: nobody knows */
static int parse_head(const char *line, const char *end, struct t2x_jit_place *place)
{
	const size_t digits = sizeof(place->boot) - 1;

	place->pid = pid_of(line, end);
	if (*line != 'k')
		return place->pid != 0;
	line += strlen("kernel ");
	if ((size_t)(end - line) != digits)
		return 0;
	memcpy(place->boot, line, digits);
	return 1;
}

/* at  where the text is in the file */
static void add_places(struct t2x_jit_index *index, unsigned trace, const char *text, size_t n, uint64_t at)
{
	const char *end = text + n, *next, *line_end;
	struct t2x_jit_place place = { .n = 0 };
	int is_known = 0;

	for (const char *line = text; line < end; line = next) {
		line_end = memchr(line, '\n', (size_t)(end - line));
		next = line_end ? line_end + 1 : end;
		if (!begins_part(line, next)) {
			place.n += (size_t)(next - line);
			continue;
		}
		if (is_known && place.n)
			add_place(index, &place);
		place = (struct t2x_jit_place){ .trace = trace, .at = at + (uint64_t)(next - text) };
		is_known = parse_head(line, line_end ? line_end : end, &place);
	}
	if (is_known && place.n)
		add_place(index, &place);
}

/* Return  -1: it is no file */
static int open_trace(const char *path, off_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	if (fd >= 0)
		*size = st.st_size;
	return fd;
}

static int compare(const void *a, const void *b)
{
	const struct t2x_jit_place *one = a, *two = b;

	if (one->pid != two->pid)
		return one->pid < two->pid ? -1 : 1;
	return one->trace < two->trace ? -1 : one->trace > two->trace;
}

static void make_index(struct t2x_jit_index *index, const struct t2x_symbols_places *places)
{
	const char *path;
	off_t size = 0;
	size_t n;

	index->is_made = 1;
	for (unsigned i = 0; places->trace && (path = places->trace(places->traces, i)); i++) {
		int fd = open_trace(path, &size);
		char *text = fd >= 0 ? read_text(fd, size, &n) : NULL;

		if (text)
			add_places(index, i, text, n, (uint64_t)size - FOOT - n);
		free(text);
		if (fd >= 0)
			close(fd);
	}
	if (index->n)
		qsort(index->places, index->n, sizeof(index->places[0]), compare);
}

static void read_place(struct t2x_jit *jit, const struct t2x_symbols_places *places, const struct t2x_jit_place *place)
{
	off_t size;
	int fd = open_trace(places->trace(places->traces, place->trace), &size);
	char *text = fd >= 0 ? read_piece(fd, (off_t)place->at, place->n) : NULL;

	if (text)
		t2x_jit_add_map(jit, text, place->n);
	free(text);
	if (fd >= 0)
		close(fd);
}

void t2x_jit_files_find(struct t2x_jit *jit, struct t2x_jit_index *index, const struct t2x_symbols_places *places,
			uint32_t pid)
{
	size_t low = 0, high;

	if (!index->is_made)
		make_index(index, places);
	for (high = index->n; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (index->places[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < index->n && index->places[low].pid == pid && jit->n < T2X_JIT_MAX; low++)
		read_place(jit, places, &index->places[low]);
	if (jit->n)
		return;
	if (places->binaries)
		t2x_jit_files_read(jit, places->binaries, pid);
	else if (!t2x_jit_files_read(jit, "/tmp", pid))
		t2x_jit_files_read(jit, ".", pid);
}

void t2x_jit_files_find_kernel(struct t2x_jit *jit, struct t2x_jit_index *index,
			       const struct t2x_symbols_places *places, const char *boot)
{
	if (!index->is_made)
		make_index(index, places);
	for (size_t i = 0; i < index->n && jit->n < T2X_JIT_MAX; i++)
		if (!index->places[i].pid && !strcmp(index->places[i].boot, boot))
			read_place(jit, places, &index->places[i]);
}

/* ---- appending ---------------------------------------------------------------------------------- */

int t2x_jit_files_append(int fd, const char *text, size_t n)
{
	const uint32_t head[2] = { htole32(TLG_NAMES_MAGIC), htole32((uint32_t)(n + FOOT)) };
	const uint32_t foot[2] = { htole32((uint32_t)n), htole32(tlg_crc32c(0, text, n)) };
	char *frame;
	int error;

	if (!n || n > T2X_JIT_MAX_TEXT)
		return n ? EFBIG : 0;
	frame = malloc(HEAD + n + FOOT);
	if (!frame)
		return ENOMEM;
	memcpy(frame, head, HEAD);
	memcpy(frame + HEAD, text, n);
	memcpy(frame + HEAD + n, foot, sizeof(foot));
	memcpy(frame + HEAD + n + sizeof(foot), word, sizeof(word));
	error = t2x_out_write_all(fd, frame, HEAD + n + FOOT);   /* in one piece: others may append, too */
	free(frame);
	return error;
}
