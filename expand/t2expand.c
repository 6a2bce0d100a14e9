/* SPDX-License-Identifier: MIT */
/* t2expand.c - the program: options, the way from inputs to output, exit status. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t2x_merge.h"
#include "t2x_model.h"
#include "t2x_raw.h"
#include "t2x_xml.h"
#include "tlg_show.h"

enum { EXIT_UNUSABLE = 1, EXIT_USAGE = 2, EXIT_DAMAGED = 3, EXIT_PIPE = 141 };
enum { MAX_LAYOUT_BYTES = 1024 * 1024, MAX_NESTING = 1000000 };

enum format { FORMAT_NORMAL, FORMAT_PERF, FORMAT_EVENT, FORMAT_XML, FORMAT_RAW, FORMATS };
static const char *const format_names[FORMATS] = { "normal", "perf", "event", "xml", "raw" };
static const struct t2x_writer *const writers[] = { &t2x_writer_normal, &t2x_writer_perf, &t2x_writer_event };

struct settings {
	enum format format;
	struct t2x_options options;
	const char *output;               /* NULL: standard output */
	const char *layout;               /* file of a foreign layout, or NULL */
	char *const *paths;
	unsigned npaths;
};

struct input {
	struct t2x_in in;
	struct t2x_blocks blocks;
	int is_open;
};

/* A run: everything that has to be freed. */
struct run {
	struct settings settings;
	struct t2x_report report;
	struct t2x_layout layout;         /* of --layout */
	struct input *inputs;
	struct t2x_out out;
	int out_fd;
	int is_unusable;                  /* something could not be read at all, or not be written */
};

/* ---- options ------------------------------------------------------------------------------------ */

static const char usage_text[] =
	"usage: t2expand [--format=normal|perf|event|xml|raw] [--brief] [--nesting=N] [--layout=FILE]\n"
	"                [-o FILE | --output=FILE] FILE...\n"
	"       t2expand --show_format[=xml|md]\n"
	"       t2expand --help | --version\n"
	"\n"
	"Expand .tlg files, merged by time; - is standard input.  The default format is perf.\n"
	"  --brief          leave out what git's *_BRIEF variables leave out\n"
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

static void open_input(struct run *run, struct input *input, const char *path)
{
	const struct t2x_layout *layout = run->settings.layout ? &run->layout : NULL;
	int error = t2x_in_open(&input->in, path, t2x_blocks_seen(layout), &run->report);

	if (!error)
		error = t2x_blocks_init(&input->blocks, &input->in, layout);
	if (error)
		complain(run, path, strerror(-error));
	input->is_open = !error;
}

static int is_same_file(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
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
	for (unsigned i = 0; i < run->settings.npaths; i++) {
		if (run->inputs[i].is_open && is_same_file(run->out_fd, run->inputs[i].in.fd)) {
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

/* normal, perf, event.  Return  0 or -ENOMEM */
static int expand_text(struct run *run)
{
	struct t2x_context context = { .report = &run->report };
	struct t2x_merge *merge = NULL;
	unsigned source = 0;
	int error = -ENOMEM;

	context.model = t2x_model_new(writers[run->settings.format], &run->out, &run->settings.options);
	if (context.model)
		merge = t2x_merge_new(&context);
	if (!merge)
		goto done;
	error = 0;
	for (unsigned i = 0; !error && i < run->settings.npaths; i++)
		if (run->inputs[i].is_open)
			error = t2x_merge_add(merge, &run->inputs[i].blocks, run->inputs[i].in.name,
					      t2x_blocks_next);
	if (!error)
		error = t2x_merge_run(merge);
	t2x_model_finish(context.model);
	for (unsigned i = 0; i < run->settings.npaths; i++) {
		unsigned open = run->inputs[i].is_open ? t2x_merge_open_streams(merge, source++) : 0;
		if (open)
			t2x_report_note(&run->report, run->inputs[i].in.name,
					"%u of the processes did not end: killed, or still running", open);
	}
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

	for (unsigned i = 0; i < run->settings.npaths; i++) {
		while (run->inputs[i].is_open && !error && t2x_blocks_next(&run->inputs[i].blocks, &block)) {
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

/* What an input turned out to be. */
static void judge_input(struct run *run, const struct input *input)
{
	char why[64];
	int error = t2x_in_error(&input->in);

	if (error)
		complain(run, input->in.name, strerror(error));
	else if (input->blocks.good)
		return;
	else if (!t2x_in_offset(&input->in) && !run->report.damages)
		complain(run, input->in.name, "empty");
	else if (input->blocks.unknown_layout) {
		snprintf(why, sizeof(why), "events of %u bytes: needs --layout",
			 input->blocks.unknown_layout);
		complain(run, input->in.name, why);
	} else {
		complain(run, input->in.name, "not a .tlg file, or nothing in it is whole");
	}
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
	unsigned usable = 0;
	int error;

	for (unsigned i = 0; i < run->settings.npaths; i++) {
		open_input(run, &run->inputs[i], run->settings.paths[i]);
		usable += (unsigned)run->inputs[i].is_open;
	}
	if (!usable || !open_output(run))
		return EXIT_UNUSABLE;
	error = run->settings.format >= FORMAT_XML ? expand_listing(run) : expand_text(run);
	if (error)
		complain(run, "out of memory", strerror(-error));
	for (unsigned i = 0; i < run->settings.npaths; i++)
		if (run->inputs[i].is_open)
			judge_input(run, &run->inputs[i]);
	t2x_report_finish(&run->report);
	return finish_output(run);
}

int main(int argc, char **argv)
{
	struct run run = { .report = { .to = stderr } };
	int status = EXIT_UNUSABLE;

	read_options(&run.settings, argc, argv);
	run.inputs = calloc(run.settings.npaths, sizeof(*run.inputs));
	if (run.inputs && (!run.settings.layout || open_layout(&run)))
		status = expand(&run);
	for (unsigned i = 0; run.inputs && i < run.settings.npaths; i++) {
		if (run.inputs[i].is_open)
			t2x_blocks_free(&run.inputs[i].blocks);
		t2x_in_close(&run.inputs[i].in);
	}
	free(run.inputs);
	t2x_layout_free(&run.layout);
	return status;
}
