/* SPDX-License-Identifier: MIT */
/*
 * t2index - counts the words of a directory tree, with several threads.
 *
 * An example of a traced program: run it with TRACE2_RAW=/tmp/index.tlg and read the file with t2expand.
 *
 *   main: walk -> queue -> readers (count) -> merge -> report (child: sort)
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "idx_error.h"
#include "idx_reader.h"
#include "idx_report.h"
#include "idx_walk.h"
#include "trace2.h"

enum { EXIT_TROUBLE = 1, EXIT_USAGE = 2 };

struct options {
	unsigned readers;
	unsigned top;
	const char *root;
};

/* A whole number from 1 to max; 0: it is none. */
static unsigned parse_number(const char *text, unsigned max)
{
	char *end;
	unsigned long number;

	if (text[0] < '0' || text[0] > '9')
		return 0;
	errno = 0;
	number = strtoul(text, &end, 10);
	return errno || *end || number > max ? 0 : (unsigned)number;
}

static int parse_options(int argc, char **argv, struct options *options)
{
	int option;

	*options = (struct options){ .readers = 4, .top = 10, .root = NULL };
	while ((option = getopt(argc, argv, "j:n:")) != -1) {
		unsigned *number = option == 'j' ? &options->readers : &options->top;

		if (option == '?')
			return 0;
		*number = parse_number(optarg, option == 'j' ? IDX_READERS_MAX : IDX_TOP_MAX);
		if (!*number) {
			fprintf(stderr, "t2index: -%c %s: not a number from 1 to %d\n", option, optarg,
				option == 'j' ? IDX_READERS_MAX : IDX_TOP_MAX);
			return 0;
		}
	}
	if (optind + 1 == argc)
		options->root = argv[optind];
	return options->root != NULL;
}

/* Tell the trace what this run is about. */
static void trace_settings(const struct options *options, struct idx_job *job)
{
	char number[16];

	trace2_cmd_name("t2index");
	trace2_cmd_mode("words");
	snprintf(number, sizeof(number), "%u", options->readers);
	trace2_def_param("index.readers", number, NULL);
	snprintf(number, sizeof(number), "%u", options->top);
	trace2_def_param("index.top", number, NULL);
	job->tree.worktree = options->root;
	trace2_def_repo(&job->tree);
	job->wait_timer = trace2_timer_define("index", "wait", 1);
	job->read_timer = trace2_timer_define("index", "read", 1);
	job->files_counter = trace2_counter_define("index", "files", 1);
	job->bytes_counter = trace2_counter_define("index", "bytes", 1);
}

/* Start as many of the readers as the system allows.  Return how many run. */
static unsigned start_readers(struct idx_reader *readers, unsigned wanted, struct idx_job *job)
{
	unsigned count = 0;
	int error = 0;

	while (count < wanted) {
		readers[count].job = job;
		error = idx_reader_start(&readers[count]);
		if (error)
			break;
		count++;
	}
	if (error)
		idx_error("only %u of %u readers could be started: %s", count, wanted, strerror(error));
	return count;
}

/* Wait for the readers and add up what they have counted, in the first one. */
static void merge_readers(struct idx_reader *readers, unsigned count)
{
	struct idx_totals *sum = &readers[0].totals;

	trace2_region_enter("index", "merge", NULL);
	for (unsigned i = 0; i < count; i++) {
		idx_reader_join(&readers[i]);
		if (i == 0)
			continue;
		idx_words_merge(&readers[0].words, &readers[i].words);
		sum->files += readers[i].totals.files;
		sum->bytes += readers[i].totals.bytes;
		sum->lines += readers[i].totals.lines;
		sum->unreadable += readers[i].totals.unreadable;
		idx_words_free(&readers[i].words);
	}
	trace2_region_leave("index", "merge", NULL);
}

static void print_totals(const struct idx_reader *sum, uint64_t directories)
{
	trace2_data_intmax("index", NULL, "files", (intmax_t)sum->totals.files);
	trace2_data_intmax("index", NULL, "bytes", (intmax_t)sum->totals.bytes);
	trace2_data_intmax("index", NULL, "words", (intmax_t)sum->words.used);
	printf("%" PRIu64 " directories, %" PRIu64 " files, %" PRIu64 " bytes, %" PRIu64 " lines, %zu words\n",
	       directories, sum->totals.files, sum->totals.bytes, sum->totals.lines, sum->words.used);
	if (sum->words.unlisted)
		printf("%" PRIu64 " occurrences of further words\n", sum->words.unlisted);
}

static int index_tree(const struct options *options, struct idx_job *job)
{
	static struct idx_reader readers[IDX_READERS_MAX];
	struct idx_walk_counts walked = { 0, 0 };
	unsigned count = start_readers(readers, options->readers, job);
	int failed;

	if (!count)
		return EXIT_TROUBLE;
	trace2_region_enter("index", "walk", &job->tree);
	failed = idx_walk(job, options->root, &walked) != 0;
	trace2_region_leave("index", "walk", &job->tree);
	idx_queue_close(&job->queue);
	merge_readers(readers, count);

	print_totals(&readers[0], walked.directories);
	if (fflush(stdout)) {
		idx_error("cannot write: %s", strerror(errno));
		failed = 1;
	}
	failed |= idx_report(&readers[0].words, options->top) != 0;
	failed |= walked.unreadable || readers[0].totals.unreadable;
	idx_words_free(&readers[0].words);
	return failed ? EXIT_TROUBLE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct idx_job job;
	struct options options;
	int error, code;

	trace2_initialize_clock();
	trace2_initialize();
	trace2_cmd_start(argv);
	if (!parse_options(argc, argv, &options)) {
		fputs("usage: t2index [-j READERS] [-n WORDS] DIRECTORY\n", stderr);
		trace2_cmd_exit(EXIT_USAGE);
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN); /* when sort ends early, the write to it fails instead */
	trace_settings(&options, &job);
	error = idx_queue_init(&job.queue);
	if (error) {
		idx_error("cannot make the queue: %s", strerror(error));
		code = EXIT_TROUBLE;
	} else {
		code = index_tree(&options, &job);
		idx_queue_destroy(&job.queue);
	}
	trace2_cmd_exit(code);
	return code;
}
