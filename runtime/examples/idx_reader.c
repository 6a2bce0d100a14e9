/* SPDX-License-Identifier: MIT */
#include "idx_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "idx_error.h"

enum { READ_BYTES = 65536 };

/* Bytes that a word consists of: those of an identifier. */
static int is_word_byte(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The word that the end of the piece before has begun. */
struct open_word {
	char text[IDX_WORD_BYTES];
	size_t length;                   /* at most IDX_WORD_BYTES: the rest of a longer word is dropped */
};

/* Numbers are no words. */
static void close_word(struct idx_words *words, struct open_word *word)
{
	if (word->length && !(word->text[0] >= '0' && word->text[0] <= '9'))
		idx_words_add(words, word->text, word->length, 1);
	word->length = 0;
}

static void count_piece(struct idx_reader *reader, struct open_word *word, const char *piece, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (is_word_byte((unsigned char)piece[i])) {
			if (word->length < IDX_WORD_BYTES)
				word->text[word->length++] = piece[i];
			continue;
		}
		if (word->length)
			close_word(&reader->words, word);
		if (piece[i] == '\n')
			reader->totals.lines++;
	}
}

static ssize_t read_piece(const struct idx_reader *reader, int fd, char *piece)
{
	ssize_t got;

	trace2_timer_start(reader->job->read_timer);
	do
		got = read(fd, piece, READ_BYTES);
	while (got < 0 && errno == EINTR);
	trace2_timer_stop(reader->job->read_timer);
	return got;
}

/* Return 0, or an errno value. */
static int read_file(struct idx_reader *reader, int fd)
{
	struct open_word word = { .length = 0 };
	uint64_t bytes = 0;
	char piece[READ_BYTES];
	ssize_t got;

	trace2_region_enter("reader", "read", &reader->job->tree);
	while ((got = read_piece(reader, fd, piece)) > 0) {
		trace2_step("reader", "piece");
		count_piece(reader, &word, piece, (size_t)got);
		bytes += (uint64_t)got;
	}
	close_word(&reader->words, &word);
	trace2_data_intmax("reader", &reader->job->tree, "bytes", (intmax_t)bytes);
	trace2_region_leave("reader", "read", &reader->job->tree);

	reader->totals.files++;
	reader->totals.bytes += bytes;
	trace2_counter_add(reader->job->files_counter, 1);
	trace2_counter_add(reader->job->bytes_counter, bytes);
	return got < 0 ? errno : 0;
}

static void index_file(struct idx_reader *reader, const char *path)
{
	int fd, error;

	trace2_region_enter("reader", "file", &reader->job->tree);
	trace2_data_string("reader", &reader->job->tree, "path", path);
	/* O_NONBLOCK: what was a file when the walk saw it may be a pipe by now */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	error = fd < 0 ? errno : read_file(reader, fd);
	if (error) {
		reader->totals.unreadable++;
		idx_error("cannot read %s: %s", path, strerror(error));
	}
	if (fd >= 0)
		close(fd);
	trace2_region_leave("reader", "file", &reader->job->tree);
}

static char *wait_for_path(struct idx_job *job)
{
	char *path;

	trace2_timer_start(job->wait_timer);
	path = idx_queue_take(&job->queue);
	trace2_timer_stop(job->wait_timer);
	return path;
}

static void *run_reader(void *argument)
{
	struct idx_reader *reader = argument;
	char *path;

	trace2_thread_start("reader");
	while ((path = wait_for_path(reader->job)) != NULL) {
		index_file(reader, path);
		free(path);
	}
	trace2_data_intmax("reader", &reader->job->tree, "words", (intmax_t)reader->words.used);
	trace2_thread_exit();
	return NULL;
}

int idx_reader_start(struct idx_reader *reader)
{
	return pthread_create(&reader->thread, NULL, run_reader, reader);
}

void idx_reader_join(struct idx_reader *reader)
{
	pthread_join(reader->thread, NULL);
}
