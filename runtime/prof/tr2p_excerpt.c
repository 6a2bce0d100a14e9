/* SPDX-License-Identifier: MIT */
/* tr2p_excerpt.c - see tr2p_excerpt.h. */
#include "tr2p_excerpt.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace2.h"
#include "record/tr2_sample.h"

/* A program may bring along an older libtrace2, without this: it shall start nevertheless. */
#pragma weak tr2_sample_file_v1

enum { PATH_BYTES = 4096, CHUNK = 64 * 1024 };

/* The file that is written now.  Return  -1: there is none */
static int open_file(char path[PATH_BYTES])
{
	*path = '\0';
	if (tr2_sample_file_v1)
		tr2_sample_file_v1(path, PATH_BYTES);
	return *path == '/' ? tr2p_answer_open(path) : -1;
}

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) || !S_ISREG(st.st_mode) ? 0 : st.st_size;
}

/* What is in the file now, from there on. */
static void send_from(struct tr2p_answer *answer, int fd, off_t at)
{
	const off_t end = size_of(fd);
	char bytes[CHUNK];

	while (!answer->error && at < end) {
		ssize_t n = pread(fd, bytes, end - at < CHUNK ? (size_t)(end - at) : CHUNK, at);

		if (n <= 0)
			return;
		tr2p_answer_send_more(answer, bytes, (size_t)n);
		at += n;
	}
}

/* The trace may have gone on in another file; whoever reads both together has two streams. */
static void send_all(struct tr2p_answer *answer, int fd, off_t at, const char *path)
{
	char now[PATH_BYTES];
	int other = open_file(now);
	const int is_other = other >= 0 && strcmp(path, now) != 0;

	if (size_of(fd) <= at && !is_other) {
		tr2p_answer_fail(answer, 503, "nothing was recorded; a flight recorder writes only snapshots");
	} else {
		answer->name = "trace.tlg";
		answer->type = TR2P_ANSWER_BINARY;
		tr2p_answer_send(answer);
		send_from(answer, fd, at);
		if (is_other)
			send_from(answer, other, 0);
	}
	if (other >= 0)
		close(other);
}

void tr2p_excerpt_answer(struct tr2p_answer *answer, const struct t2x_pprof *asked)
{
	char path[PATH_BYTES];
	off_t at;
	int fd;

	if (asked->is_chrome) {
		tr2p_answer_fail(answer, 501, "t2 export --format=chrome makes it of the .tlg file");
		return;
	}
	fd = open_file(path);
	if (fd < 0) {
		tr2p_answer_fail(answer, 409, "no trace of this process goes into a file: see TRACE2_RAW");
		return;
	}
	/* From here on all that readers have to know is written again, and behind what is there. */
	trace2_flush();
	at = size_of(fd);
	trace2_next_cycle();
	if (tr2p_answer_wait(answer, t2x_pprof_ms(asked))) {
		trace2_flush();
		send_all(answer, fd, at, path);
	}
	close(fd);
}
