/* SPDX-License-Identifier: MIT */
/* t2expand.c - the program: the way from inputs to output, exit status. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_ahead.h"
#include "t2x_dir.h"
#include "t2x_file.h"
#include "t2x_input.h"
#include "t2x_merge.h"
#include "t2x_model.h"
#include "t2x_options.h"
#include "t2x_raw.h"
#include "t2x_recover.h"
#include "t2x_relay.h"
#include "t2x_screen.h"
#include "t2x_xml.h"

enum {
	MAX_LAYOUT_BYTES = 1024 * 1024,
	PIPE_BYTES = 1024 * 1024,         /* what anybody may ask for */
};

static const struct t2x_writer *const writers[] = {
	&t2x_writer_normal, &t2x_writer_perf, &t2x_writer_event, &t2x_writer_tree
};

/* A run: everything that has to be freed. */
struct run {
	struct t2x_settings settings;
	struct t2x_report report;
	struct t2x_layout layout;         /* of --layout */
	struct t2x_recover recover;       /* the ring files */
	struct t2x_dir *dirs;             /* of the paths that are directories, in their order */
	struct t2x_input *inputs;
	unsigned ninputs;
	struct t2x_crew *crew;            /* NULL: the main thread does all of it */
	struct t2x_ahead *ahead;          /* NULL: inputs are read when their blocks are wanted */
	struct t2x_out out;
	struct t2x_screen screen;         /* behind out, if the output is a terminal */
	int is_screen;
	struct t2x_file file;             /* behind out, if the output is a file that --output names */
	int out_fd;
	int is_unusable;                  /* something could not be read at all, or not be written */
};

/* ---- opening ------------------------------------------------------------------------------------ */

/* Say what is wrong with a file. */
static void complain(struct run *run, const char *path, const char *why)
{
	t2x_report_note(&run->report, path, "%s", why);
	run->is_unusable = 1;
}

/* Return  0: there is no usable layout */
static int open_layout(struct run *run)
{
	const char *path = run->settings.layout, *why = NULL;
	FILE *file = fopen(path, "re");
	char *xml = file ? malloc(MAX_LAYOUT_BYTES + 1) : NULL;
	size_t n = xml ? fread(xml, 1, MAX_LAYOUT_BYTES + 1, file) : 0;
	int error = 0;

	if (!file || !xml || ferror(file))
		why = strerror(errno);
	else
		error = t2x_layout_parse(&run->layout, xml, n, &why);
	if (file)
		fclose(file);
	free(xml);
	if (error == -ENOMEM)
		why = strerror(ENOMEM);
	if (why)
		complain(run, path, why);
	return !why;
}

/* Not a reason to stop: the line on stderr says what, exit status 3 that there is one. */
static void leave_out(struct run *run, const char *path, unsigned n, const char *why)
{
	if (!n)
		return;
	t2x_report_note(&run->report, path, "%u files left out: %s", n, why);
	run->report.damages++;
}

/* A file in a directory that is no trace is like damage in one. */
static void report_fault(struct run *run, const struct t2x_input *input)
{
	if (input->is_listed)
		t2x_report_damage(&run->report, input->in.name, "byte", 0, "%s", input->fault);
	else
		complain(run, input->in.name, input->fault);
}

/* Return  the new input, NULL: it cannot be used */
static struct t2x_input *add_input(struct run *run, const char *path, int is_listed, int is_sentinel)
{
	struct t2x_input *input = &run->inputs[run->ninputs];

	*input = (struct t2x_input){
		.path = path, .layout = run->settings.layout ? &run->layout : NULL, .report = &run->report,
		.is_listed = is_listed,
	};
	if (!t2x_input_check(input, run->settings.format < T2X_FORMAT_XML))
		report_fault(run, input);
	else if (!is_sentinel || input->good)
		return &run->inputs[run->ninputs++];
	return NULL;
}

/* What is not joined with any file. */
static struct t2x_input *add_ring(struct run *run, const char *path)
{
	struct t2x_input *input = &run->inputs[run->ninputs++];

	*input = (struct t2x_input){ .path = path, .report = &run->report, .is_done = 1, .in = { .name = path } };
	return input;
}

static struct t2x_input *find_input(struct run *run, dev_t device, ino_t inode)
{
	for (unsigned i = 0; i < run->ninputs; i++)
		if (run->inputs[i].is_regular && run->inputs[i].device == device && run->inputs[i].inode == inode)
			return &run->inputs[i];
	return NULL;
}

/* Each ring file goes with the .tlg file of its process, if that is there. */
static void add_rings(struct run *run)
{
	for (unsigned i = 0; i < run->recover.n; i++) {
		struct t2x_recovered *item = &run->recover.items[i];
		struct t2x_input *input = NULL;
		if (!item->why)
			input = find_input(run, item->device, item->inode);
		if (!item->why && !input)
			input = add_input(run, item->ring.state.path, 1, 0);
		t2x_join_add(input ? input : add_ring(run, item->ring.path), &item->join);
	}
}

/* How many files the path stands for. */
static unsigned list_path(struct run *run, struct t2x_dir *dir, const char *path)
{
	int error = strcmp(path, "-") ? t2x_dir_list(dir, path) : 0;

	if (error)
		complain(run, path, strerror(-error));
	else if (dir->is_directory && !dir->n)
		complain(run, path, "no .tlg files in this directory");
	leave_out(run, path, dir->left_out, "too many in one directory");
	return dir->is_directory ? dir->n : 1;
}

/* All files that the paths stand for.  Return  0 or -ENOMEM */
static int find_inputs(struct run *run)
{
	unsigned npaths = run->settings.npaths, n = 0;

	run->dirs = calloc(npaths ? npaths : 1, sizeof(*run->dirs));
	if (!run->dirs || t2x_recover_open(&run->recover, &run->settings, &run->report))
		return -ENOMEM;
	run->is_unusable |= run->recover.failed != 0;
	for (unsigned i = 0; i < npaths; i++)
		n += list_path(run, &run->dirs[i], run->settings.paths[i]);
	run->inputs = calloc(n + run->recover.n + 1, sizeof(*run->inputs));
	if (!run->inputs)
		return -ENOMEM;
	for (unsigned i = 0; i < npaths; i++) {
		const struct t2x_dir *dir = &run->dirs[i];
		if (!dir->is_directory)
			add_input(run, run->settings.paths[i], 0, 0);
		for (unsigned j = 0; j < dir->n; j++)
			add_input(run, dir->paths[j], 1, dir->has_sentinel && j + 1 == dir->n);
	}
	add_rings(run);
	return 0;
}

static int is_input(struct run *run, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return 0;
	for (unsigned i = 0; i < run->recover.n; i++)
		if (run->recover.items[i].ring.device == st.st_dev && run->recover.items[i].ring.inode == st.st_ino)
			return 1;
	return find_input(run, st.st_dev, st.st_ino) != NULL;
}

/* Some files may be needed at once; the limit is a soft one for programs that use select(2). */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
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

/* What files hold may reach a terminal only as text.  Return  0: there will be no output */
static int start_output(struct run *run, const char *path)
{
	enum t2x_format format = run->settings.format;
	int error;

	if (run->out_fd != STDOUT_FILENO && is_regular(run->out_fd)) {
		run->file.fd = run->out_fd;
		error = t2x_out_init_fn(&run->out, t2x_file_write, &run->file);
		t2x_out_in_blocks(&run->out);
	} else if (run->settings.raw_text || !isatty(run->out_fd)) {
		widen_pipe(run->out_fd);
		error = t2x_out_init(&run->out, run->out_fd);
	} else if (format == T2X_FORMAT_RAW) {
		complain(run, path, "a terminal, which raw events might upset; --raw-text writes them");
		return 0;
	} else {
		run->is_screen = 1;
		error = t2x_screen_init(&run->screen, run->out_fd, format == T2X_FORMAT_EVENT);
		if (!error)
			error = t2x_out_init_fn(&run->out, t2x_screen_write, &run->screen);
	}
	if (error)
		complain(run, path, strerror(-error));
	return !error;
}

/*
 * What is empty already is left alone: of a file that was cut to nothing ext4 writes all to the disk when it is closed,
 * and the program waits.  Return  0, or -1 and errno
 */
static int empty_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) || (S_ISREG(st.st_mode) && st.st_size && ftruncate(fd, 0)) ? -1 : 0;
}

/* Before the output is cut to nothing it must be known that it is no input.  Return  0: it cannot be written */
static int open_output(struct run *run)
{
	const char *path = run->settings.output;

	run->out_fd = STDOUT_FILENO;
	if (path && strcmp(path, "-"))
		run->out_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	else
		path = "standard output";
	if (run->out_fd < 0) {
		complain(run, path, strerror(errno));
		return 0;
	}
	if (is_input(run, run->out_fd)) {
		complain(run, path, "is an input and the output at once");
		return 0;
	}
	if (run->out_fd != STDOUT_FILENO && empty_file(run->out_fd)) {
		complain(run, path, strerror(errno));
		return 0;
	}
	return start_output(run, path);
}

/* ---- expanding ---------------------------------------------------------------------------------- */

static void note_summary(struct run *run, const struct t2x_context *context,
			 const struct t2x_summary *summary)
{
	struct t2x_report *report = &run->report;

	for (unsigned i = 1; i < TLG_LOSS_REASONS; i++)
		if (summary->losses[i])
			fprintf(stderr, "t2expand: %" PRIu64 " checkpoints lost by the program: %s\n",
				summary->losses[i], tlg_loss_name(i));
	if (summary->gaps)
		fprintf(stderr, "t2expand: %" PRIu64 " events missing in %" PRIu64 " places\n",
			summary->gap_events, summary->gaps);
	if (context->missing)
		fprintf(stderr, "t2expand: %" PRIu64 " checkpoints missing, as counted by their programs\n",
			context->missing);
	if (summary->unresolved)
		fprintf(stderr, "t2expand: %" PRIu64 " of %" PRIu64 " checkpoints unresolved\n",
			summary->unresolved, summary->checkpoints);
	if (context->unknown)
		fprintf(stderr, "t2expand: %" PRIu64 " events of unknown types skipped\n", context->unknown);
	if (context->ignored)
		fprintf(stderr, "t2expand: %" PRIu64 " definitions ignored: too many\n", context->ignored);
	if (context->changed)
		fprintf(stderr, "t2expand: %" PRIu64 " definitions contradict earlier ones\n",
			context->changed);
	report->damages += context->ignored + context->changed;
}

/* Processes that were killed, or run. */
static void note_open(struct run *run, const struct t2x_merge *merge)
{
	unsigned files = 0, more = 0;

	for (unsigned i = 0; i < run->ninputs; i++) {
		unsigned open = t2x_merge_open_streams(merge, i);
		if (open && files++ < T2X_REPORT_LINES)
			t2x_report_note(&run->report, run->inputs[i].in.name,
					"%u of the processes did not end: killed, or still running", open);
		else
			more += open;
	}
	if (more)
		fprintf(stderr, "t2expand: %u processes in more files did not end\n", more);
}

/* All formats but xml and raw.  Return  0 or -ENOMEM */
static int expand_text(struct run *run)
{
	struct t2x_context context = { .report = &run->report };
	struct t2x_merge *merge = NULL;
	struct t2x_relay *relay = NULL;
	int error = -ENOMEM;

	context.model = t2x_model_new(writers[run->settings.format], &run->out, &run->settings.options);
	if (context.model)
		merge = t2x_merge_new(&context);
	if (!merge)
		goto done;
	error = 0;
	if (run->crew) {
		relay = t2x_relay_new(run->crew, context.model);
		run->ahead = t2x_ahead_new(run->crew, &run->report);
	}
	for (unsigned i = 0; !error && i < run->ninputs; i++) {
		struct t2x_input *input = &run->inputs[i];
		if (run->ahead)
			t2x_ahead_add(run->ahead, input);
		error = t2x_merge_add(merge, &input->blocks, input->in.name,
				      run->ahead ? t2x_ahead_next : t2x_join_next);
	}
	if (!error)
		error = t2x_merge_run(merge);
	t2x_relay_free(relay);
	t2x_model_finish(context.model);
	note_open(run, merge);
	note_summary(run, &context, t2x_model_summary(context.model));
done:
	t2x_merge_free(merge);
	t2x_ahead_free(run->ahead);
	t2x_model_free(context.model);
	return error;
}

/* xml, raw: what is in the files, one after the other.  Return  0 or -ENOMEM */
static int expand_listing(struct run *run)
{
	struct t2x_xml xml = { .out = &run->out };
	struct t2x_raw raw = { .out = &run->out };
	struct t2x_block block;
	int error = 0;

	for (unsigned i = 0; i < run->ninputs; i++) {
		while (!error && t2x_join_next(&run->inputs[i].blocks, &block)) {
			if (run->settings.format == T2X_FORMAT_XML)
				t2x_xml_block(&xml, &block);
			else
				error = t2x_raw_block(&raw, &block);
		}
	}
	t2x_xml_free(&xml);
	t2x_raw_free(&raw);
	return error;
}

/* What the inputs turned out to be. */
static void judge_inputs(struct run *run)
{
	unsigned left_out = 0, good = 0;

	for (unsigned i = 0; i < run->ninputs; i++) {
		const struct t2x_input *input = &run->inputs[i];
		if (input->fault[0])
			report_fault(run, input);
		left_out += (unsigned)input->left_out;
		good += input->good > 0;
	}
	leave_out(run, "too many open files", left_out, "their processes ran at the same time, see ulimit -n");
	if (!good)
		run->is_unusable = 1;
}

/* Return  the exit status */
static int finish_output(struct run *run)
{
	int error = t2x_out_flush(&run->out);

	t2x_out_free(&run->out);
	if (run->is_screen) {
		int late = t2x_screen_finish(&run->screen);
		error = error ? error : late;
	}
	if (run->file.written) {
		int late = t2x_file_finish(&run->file);
		error = error ? error : late;
	}
	if (!error && run->settings.delete_rings && fsync(run->out_fd) && errno != EINVAL && errno != EROFS)
		error = errno;
	if (run->out_fd != STDOUT_FILENO && close(run->out_fd) && !error)
		error = errno;
	if (error == EPIPE)
		return T2X_EXIT_PIPE;
	if (error)
		complain(run, run->settings.output ? run->settings.output : "standard output",
			 strerror(error));
	return run->is_unusable ? T2X_EXIT_UNUSABLE : run->report.damages ? T2X_EXIT_DAMAGED : EXIT_SUCCESS;
}

/* Nothing left behind is not a failure. */
static int report_nothing(struct run *run)
{
	if (run->is_unusable || !run->settings.recover_all)
		return T2X_EXIT_UNUSABLE;
	fprintf(stderr, "t2expand: no ring files of dead processes\n");
	return EXIT_SUCCESS;
}

/* The output is complete, as far as status says: only now may the ring files go. */
static int delete_rings(struct run *run, int status)
{
	if (!run->settings.delete_rings || (status != EXIT_SUCCESS && status != T2X_EXIT_DAMAGED))
		return status;
	return t2x_recover_delete(&run->recover, &run->report) ? T2X_EXIT_DAMAGED : status;
}

static int expand(struct run *run)
{
	int error;

	allow_many_files();
	if (run->settings.jobs > 1)
		run->crew = t2x_crew_new(run->settings.jobs - 1);
	if (find_inputs(run)) {
		complain(run, "inputs", strerror(ENOMEM));
		return T2X_EXIT_UNUSABLE;
	}
	if (!run->ninputs)
		return report_nothing(run);
	if (!open_output(run))
		return T2X_EXIT_UNUSABLE;
	error = run->settings.format >= T2X_FORMAT_XML ? expand_listing(run) : expand_text(run);
	if (error)
		complain(run, "out of memory", strerror(-error));
	judge_inputs(run);
	t2x_recover_report(&run->recover, &run->report);
	t2x_report_finish(&run->report);
	return delete_rings(run, finish_output(run));
}

int main(int argc, char **argv)
{
	struct run run = { .report = { .to = stderr } };
	int status = T2X_EXIT_UNUSABLE;

	t2x_options_read(&run.settings, argc, argv);
	if (!run.settings.layout || open_layout(&run))
		status = expand(&run);
	for (unsigned i = 0; i < run.ninputs; i++)
		t2x_input_close(&run.inputs[i]);
	free(run.inputs);
	for (unsigned i = 0; run.dirs && i < run.settings.npaths; i++)
		t2x_dir_free(&run.dirs[i]);
	free(run.dirs);
	t2x_recover_free(&run.recover);
	free(run.settings.rings);
	t2x_crew_free(run.crew);
	t2x_layout_free(&run.layout);
	return status;
}
