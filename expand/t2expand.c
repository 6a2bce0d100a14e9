/* SPDX-License-Identifier: MIT */
/* t2expand.c - the program: options, the way from inputs to output, exit status. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_dir.h"
#include "t2x_input.h"
#include "t2x_merge.h"
#include "t2x_model.h"
#include "t2x_raw.h"
#include "t2x_xml.h"
#include "tlg_show.h"

enum { EXIT_UNUSABLE = 1, EXIT_USAGE = 2, EXIT_DAMAGED = 3, EXIT_PIPE = 141 };
enum { MAX_LAYOUT_BYTES = 1024 * 1024, MAX_NESTING = 1000000 };

enum format { FORMAT_NORMAL, FORMAT_PERF, FORMAT_EVENT, FORMAT_TREE, FORMAT_XML, FORMAT_RAW, FORMATS };
static const char *const format_names[FORMATS] = { "normal", "perf", "event", "tree", "xml", "raw" };
static const struct t2x_writer *const writers[] = {
	&t2x_writer_normal, &t2x_writer_perf, &t2x_writer_event, &t2x_writer_tree
};

struct settings {
	enum format format;
	struct t2x_options options;
	const char *output;               /* NULL: standard output */
	const char *layout;               /* file of a foreign layout, or NULL */
	char *const *paths;
	unsigned npaths;
};

/* A run: everything that has to be freed. */
struct run {
	struct settings settings;
	struct t2x_report report;
	struct t2x_layout layout;         /* of --layout */
	struct t2x_dir *dirs;             /* of the paths that are directories, in their order */
	struct t2x_input *inputs;
	unsigned ninputs;
	struct t2x_out out;
	int out_fd;
	int is_unusable;                  /* something could not be read at all, or not be written */
};

/* ---- options ------------------------------------------------------------------------------------ */

static const char usage_text[] =
	"usage: t2expand [--format=normal|perf|event|tree|xml|raw] [--brief] [--nesting=N] [--layout=FILE]\n"
	"                [-o FILE | --output=FILE] FILE|DIRECTORY...\n"
	"       t2expand --show_format[=xml|md]\n"
	"       t2expand --help | --version\n"
	"\n"
	"Expand .tlg files, merged by time; - is standard input, a directory all *.tlg files in it.\n"
	"The default format is perf; tree shows the processes and who started whom.\n"
	"  --brief          leave out what git's *_BRIEF variables leave out; tree: the time of the start\n"
	"  --nesting=N      event: regions and data at most N regions deep (default 2, 0: all)\n"
	"  --layout=FILE    the files come from another platform, whose --show_format wrote FILE\n"
	"  --show_format    print the layout of this machine's events\n"
	"Exit status: 0; 3 parts are damaged, the rest was expanded; 1 unusable input or output; 2 usage\n";

static void put_to_stdout(void *to, const char *text, size_t n)
{
	(void)to;
	fwrite(text, 1, n, stdout);
}

/* Leave after having printed something to standard output. */
static void leave(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "t2expand: standard output: %s\n", strerror(errno));
		exit(EXIT_UNUSABLE);
	}
	exit(EXIT_SUCCESS);
}

static void refuse(const char *what, const char *value)
{
	fprintf(stderr, "t2expand: %s%s%s (t2expand --help tells more)\n", what, value ? ": " : "",
		value ? value : "");
	exit(EXIT_USAGE);
}

static void show_format(const char *how)
{
	if (!how || !strcmp(how, "xml"))
		tlg_show_xml(put_to_stdout, NULL);
	else if (!strcmp(how, "md"))
		tlg_show_md(put_to_stdout, NULL);
	else
		refuse("--show_format is xml or md, not", how);
	leave();
}

static enum format find_format(const char *name)
{
	for (unsigned i = 0; i < FORMATS; i++)
		if (!strcmp(name, format_names[i]))
			return (enum format)i;
	refuse("unknown format", name);
	return FORMAT_PERF;
}

static unsigned find_nesting(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end)
		refuse("--nesting is not a number", text);
	return n > MAX_NESTING ? MAX_NESTING : (unsigned)n;
}

static void take_option(struct settings *settings, int option)
{
	switch (option) {
	case 'f':
		settings->format = find_format(optarg);
		break;
	case 'b':
		settings->options.brief = 1;
		break;
	case 'n':
		settings->options.nesting = find_nesting(optarg);
		break;
	case 'o':
		settings->output = optarg;
		break;
	case 'l':
		settings->layout = optarg;
		break;
	case 's':
		show_format(optarg);
		break;
	case 'h':
		fputs(usage_text, stdout);
		leave();
		break;
	case 'v':
		printf("t2expand for the .tlg format %d.%d\n", TLG_VERSION >> 8, TLG_VERSION & 0xff);
		leave();
		break;
	default:
		/* getopt has said what is wrong */
		exit(EXIT_USAGE);
	}
}

static void read_options(struct settings *settings, int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "brief", no_argument, NULL, 'b' },
		{ "nesting", required_argument, NULL, 'n' },
		{ "output", required_argument, NULL, 'o' },
		{ "layout", required_argument, NULL, 'l' },
		{ "show_format", optional_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	settings->format = FORMAT_PERF;
	settings->options.nesting = T2X_DEFAULT_NESTING;
	while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1)
		take_option(settings, option);
	settings->paths = argv + optind;
	settings->npaths = (unsigned)(argc - optind);
	if (!settings->npaths)
		refuse("no file to expand", NULL);
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* Say what is wrong with a file. */
static void complain(struct run *run, const char *path, const char *why)
{
	fprintf(stderr, "t2expand: %s: %s\n", path, why);
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

static int is_same_file(int fd, const struct t2x_input *input)
{
	struct stat st;

	return input->is_regular && !fstat(fd, &st) && st.st_dev == input->device && st.st_ino == input->inode;
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

static void add_input(struct run *run, const char *path, const struct t2x_dir *dir, int is_sentinel)
{
	struct t2x_input *input = &run->inputs[run->ninputs];

	*input = (struct t2x_input){
		.path = path, .layout = run->settings.layout ? &run->layout : NULL, .report = &run->report,
		.is_listed = dir->is_directory,
	};
	if (!t2x_input_check(input, run->settings.format < FORMAT_XML))
		report_fault(run, input);
	else if (!is_sentinel || input->good)
		run->ninputs++;
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

	run->dirs = calloc(npaths, sizeof(*run->dirs));
	if (!run->dirs)
		return -ENOMEM;
	for (unsigned i = 0; i < npaths; i++)
		n += list_path(run, &run->dirs[i], run->settings.paths[i]);
	run->inputs = calloc(n ? n : 1, sizeof(*run->inputs));
	if (!run->inputs)
		return -ENOMEM;
	for (unsigned i = 0; i < npaths; i++) {
		const struct t2x_dir *dir = &run->dirs[i];
		if (!dir->is_directory)
			add_input(run, run->settings.paths[i], dir, 0);
		for (unsigned j = 0; j < dir->n; j++)
			add_input(run, dir->paths[j], dir, dir->has_sentinel && j + 1 == dir->n);
	}
	return 0;
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
	for (unsigned i = 0; i < run->ninputs; i++) {
		if (is_same_file(run->out_fd, &run->inputs[i])) {
			complain(run, path, "is an input and the output at once");
			return 0;
		}
	}
	if (run->out_fd != STDOUT_FILENO && ftruncate(run->out_fd, 0) && errno != EINVAL) {
		complain(run, path, strerror(errno));
		return 0;
	}
	if (t2x_out_init(&run->out, run->out_fd)) {
		complain(run, path, strerror(ENOMEM));
		return 0;
	}
	return 1;
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
	int error = -ENOMEM;

	context.model = t2x_model_new(writers[run->settings.format], &run->out, &run->settings.options);
	if (context.model)
		merge = t2x_merge_new(&context);
	if (!merge)
		goto done;
	error = 0;
	for (unsigned i = 0; !error && i < run->ninputs; i++)
		error = t2x_merge_add(merge, &run->inputs[i].blocks, run->inputs[i].in.name, t2x_input_next);
	if (!error)
		error = t2x_merge_run(merge);
	t2x_model_finish(context.model);
	note_open(run, merge);
	note_summary(run, &context, t2x_model_summary(context.model));
done:
	t2x_merge_free(merge);
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
		while (!error && t2x_input_next(&run->inputs[i].blocks, &block)) {
			if (run->settings.format == FORMAT_XML)
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
	if (run->out_fd != STDOUT_FILENO && close(run->out_fd) && !error)
		error = errno;
	if (error == EPIPE)
		return EXIT_PIPE;
	if (error)
		complain(run, run->settings.output ? run->settings.output : "standard output",
			 strerror(error));
	return run->is_unusable ? EXIT_UNUSABLE : run->report.damages ? EXIT_DAMAGED : EXIT_SUCCESS;
}

static int expand(struct run *run)
{
	int error;

	allow_many_files();
	if (find_inputs(run)) {
		complain(run, "inputs", strerror(ENOMEM));
		return EXIT_UNUSABLE;
	}
	if (!run->ninputs || !open_output(run))
		return EXIT_UNUSABLE;
	error = run->settings.format >= FORMAT_XML ? expand_listing(run) : expand_text(run);
	if (error)
		complain(run, "out of memory", strerror(-error));
	judge_inputs(run);
	t2x_report_finish(&run->report);
	return finish_output(run);
}

int main(int argc, char **argv)
{
	struct run run = { .report = { .to = stderr } };
	int status = EXIT_UNUSABLE;

	read_options(&run.settings, argc, argv);
	if (!run.settings.layout || open_layout(&run))
		status = expand(&run);
	for (unsigned i = 0; i < run.ninputs; i++)
		t2x_input_close(&run.inputs[i]);
	free(run.inputs);
	for (unsigned i = 0; run.dirs && i < run.settings.npaths; i++)
		t2x_dir_free(&run.dirs[i]);
	free(run.dirs);
	t2x_layout_free(&run.layout);
	return status;
}
