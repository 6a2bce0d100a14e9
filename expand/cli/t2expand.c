/* SPDX-License-Identifier: MIT */
/* t2expand.c - the program: which inputs go into which output, exit status. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "t2x_ask.h"
#include "t2x_compare.h"
#include "t2x_expand.h"
#include "t2x_fleet.h"
#include "t2x_following.h"
#include "t2x_importing.h"
#include "t2x_progress.h"
#include "t2x_record.h"
#include "t2x_ring_hints.h"
#include "t2x_span.h"
#include "t2x_serving.h"
#include "t2x_steer.h"

enum { MAX_LAYOUT_BYTES = 1024 * 1024 };

/* A run: everything that has to be freed. */
struct run {
	struct t2x_settings settings;
	struct t2x_report report;
	struct t2x_layout layout;         /* of --layout */
	struct t2x_recover recover;       /* the ring files */
	struct t2x_inputs inputs;
	struct t2x_pool *pool;            /* NULL: the main thread does all of it */
	struct t2x_output output;
	int is_different;                 /* --diff has found something */
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

/* Some files may be needed at once; the limit is a soft one for programs that use select(2). */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int is_input(struct run *run, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return 0;
	for (unsigned i = 0; i < run->recover.n; i++)
		if (run->recover.items[i].ring.device == st.st_dev && run->recover.items[i].ring.inode == st.st_ino)
			return 1;
	for (unsigned i = 0; run->settings.is_diff && i < run->settings.npaths; i++) {
		struct stat other;

		if (!stat(run->settings.paths[i], &other) && other.st_dev == st.st_dev && other.st_ino == st.st_ino)
			return S_ISREG(st.st_mode);
	}
	return S_ISREG(st.st_mode) && t2x_inputs_get(&run->inputs, st.st_dev, st.st_ino);
}

/* Before the output is cut to nothing it must be known that it is no input.  Return  0: it cannot be written */
static int open_output(struct run *run)
{
	const char *why = t2x_output_open(&run->output, &run->settings);

	if (!why && is_input(run, run->output.fd))
		why = "is an input and the output at once";
	if (!why)
		why = t2x_output_start(&run->output, &run->settings);
	if (why)
		complain(run, run->output.path, why);
	return !why;
}

/* ---- expanding ---------------------------------------------------------------------------------- */

/* Read the inputs, write the text.  Return  0 or an errno of the output */
static int expand_inputs(struct run *run)
{
	const struct t2x_expansion expansion = {
		.settings = &run->settings, .report = &run->report, .pool = run->pool,
		.inputs = &run->inputs, .output = &run->output,
	};
	int error;

	if (run->output.shows_progress)
		t2x_progress_start(t2x_inputs_bytes(&run->inputs));
	error = t2x_expand(&expansion);
	t2x_progress_stop();
	if (error)
		complain(run, "memory", strerror(-error));
	t2x_inputs_judge(&run->inputs);
	error = t2x_output_finish(&run->output, run->settings.delete_rings);
	if (error && error != EPIPE)
		complain(run, run->output.path, strerror(error));
	return error;
}

/* ---- one output --------------------------------------------------------------------------------- */

static int has_failed(const struct run *run)
{
	return run->is_unusable || run->inputs.is_unusable || run->recover.failed;
}

/* Nothing left behind is not a failure. */
static void report_nothing(struct run *run)
{
	if (has_failed(run) || !run->settings.recover_all)
		run->is_unusable = 1;
	else
		fprintf(stderr, "%s: no ring files of dead processes\n", t2x_report_name());
}

/* The output is complete: only now may the ring file go. */
static void delete_ring(struct run *run, const struct t2x_recovered *item)
{
	if (run->settings.delete_rings && !has_failed(run) && !t2x_recover_delete(&run->recover, item))
		run->report.damages++;
}

/* One text of all.  Return  an errno of the output; -ENOMEM */
static int expand_all(struct run *run)
{
	struct t2x_recover *recover = &run->recover;
	int error = t2x_recover_open(recover, &run->settings, &run->report);

	if (!error)
		error = t2x_inputs_find(&run->inputs, recover->n);
	if (error)
		return error;
	for (unsigned i = 0; i < recover->n; i++)
		t2x_inputs_add_ring(&run->inputs, &recover->items[i], recover->is_unasked);
	if (!run->inputs.n) {
		report_nothing(run);
		return 0;
	}
	error = t2x_span_find(&run->settings, &run->inputs);
	run->is_unusable |= error == -EINVAL;
	if (error)
		return error == -EINVAL ? 0 : error;
	if (!open_output(run))
		return 0;
	error = expand_inputs(run);
	for (unsigned i = 0; i < recover->n; i++)
		t2x_recover_report(recover, &recover->items[i]);
	t2x_ring_hints_report(&run->inputs, recover);
	for (unsigned i = 0; !error && i < recover->n; i++)
		delete_ring(run, &recover->items[i]);
	return error;
}

/* The text of one process, into a file of its own.  Return  an errno of the output */
static int expand_one(struct run *run, struct t2x_recovered *item)
{
	const char *why;
	int error;

	t2x_inputs_add_ring(&run->inputs, item, 0);
	why = t2x_output_create(&run->output, &run->settings, item->ring.head.sid);
	if (!why)
		why = t2x_output_start(&run->output, &run->settings);
	if (why) {
		complain(run, run->output.path, why);
		return EIO;
	}
	error = expand_inputs(run);
	t2x_recover_report(&run->recover, item);
	if (!error)
		delete_ring(run, item);
	return error;
}

/* One text of each process that left a ring file.  Return  an errno of the output; -ENOMEM */
static int expand_each(struct run *run)
{
	struct t2x_recover *recover = &run->recover;
	int error = t2x_recover_find(recover, &run->settings, &run->report), opened = 0;

	if (!error)
		error = t2x_inputs_find(&run->inputs, 1);
	while (!error && (opened = t2x_recover_next(recover)) > 0) {
		struct t2x_recovered *item = &recover->items[recover->n - 1];
		error = expand_one(run, item);
		t2x_inputs_clear(&run->inputs);
		t2x_recover_close(item);
	}
	if (!recover->n)
		report_nothing(run);
	return opened < 0 ? opened : error;
}

/* Print how the runs differ.  Return  an errno of the output; -ENOMEM */
static int compare(struct run *run)
{
	struct t2x_output nothing = { .fd = -1 };
	const struct t2x_expansion expansion = {
		.settings = &run->settings, .report = &run->report, .pool = run->pool, .inputs = &run->inputs,
		.output = &nothing,
	};
	struct t2x_diff diff = { 0 };
	int error = t2x_out_init(&nothing.out, -1), changed = 0;

	if (!error)
		error = t2x_compare_read(&diff, &expansion, &run->is_unusable);
	if (!error && !run->is_unusable && open_output(run)) {
		changed = t2x_diff_show(&diff, &run->output.out);
		run->is_different = changed > 0;
		error = t2x_output_finish(&run->output, 0);
		if (error && error != EPIPE)
			complain(run, run->output.path, strerror(error));
	}
	t2x_compare_free(&diff);
	t2x_out_free(&nothing.out);
	return changed < 0 ? changed : error;
}

/* Print what goes on, until it ends.  Return  an errno of the output; -ENOMEM */
static int follow(struct run *run)
{
	struct t2x_following following;
	const char *why = t2x_following_begin(&following, &run->settings, &run->report, &run->output.out);
	struct t2x_expansion expansion = {
		.settings = &run->settings, .report = &run->report, .inputs = &run->inputs, .output = &run->output,
		.blocks = following.blocks, .next = t2x_follow_next,
	};
	int error = 0;

	if (why)
		complain(run, run->settings.watched.what, why);
	if (!why && open_output(run)) {
		error = t2x_expand(&expansion);
		if (error)
			complain(run, "memory", strerror(-error));
		error = t2x_output_finish(&run->output, 0);
		if (error && error != EPIPE)
			complain(run, run->output.path, strerror(error));
	}
	t2x_following_end(&following);
	return error;
}

/* As of diff(1). */
static int find_diff_status(const struct run *run)
{
	if (has_failed(run))
		return T2X_EXIT_USAGE;
	return run->is_different ? T2X_EXIT_DIFFERENT : run->report.damages ? T2X_EXIT_DAMAGED : EXIT_SUCCESS;
}

/* Of the settings' places. */
static const char *path_of_trace(const void *traces, unsigned i)
{
	const struct t2x_inputs *inputs = traces;

	return i < inputs->n ? inputs->items[i].path : NULL;
}

/* Return  the exit status */
static int expand(struct run *run)
{
	int error;

	allow_many_files();
	if (run->settings.jobs > 1)
		run->pool = t2x_pool_new(run->settings.jobs - 1);
	run->inputs = (struct t2x_inputs){
		.settings = &run->settings, .report = &run->report,
		.layout = run->settings.layout ? &run->layout : NULL,
	};
	run->settings.places.trace = path_of_trace;
	run->settings.places.traces = &run->inputs;
	if (run->settings.is_diff)
		error = compare(run);
	else if (run->settings.watched.what)
		error = follow(run);
	else
		error = run->settings.is_directory ? expand_each(run) : expand_all(run);
	if (error == -ENOMEM)
		complain(run, "inputs", strerror(ENOMEM));
	t2x_recover_finish(&run->recover);
	if (!error && !has_failed(run))
		t2x_filter_report(&run->settings.filter, &run->report);
	t2x_report_finish(&run->report);
	if (error == EPIPE && !run->output.had_pager)
		return T2X_EXIT_PIPE;
	if (run->settings.is_diff)
		return find_diff_status(run);
	return has_failed(run) ? T2X_EXIT_UNUSABLE : run->report.damages ? T2X_EXIT_DAMAGED : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct run run = { .report = { .to = stderr } };
	int status = T2X_EXIT_UNUSABLE;

	if (t2x_record_is_meant(argc, argv))
		return t2x_record_run(argc, argv);
	if (t2x_steer_is_meant(argc, argv))
		return t2x_steer_run(argc, argv);
	if (t2x_importing_is_meant(argc, argv))
		return t2x_importing_run(argc, argv);
	if (t2x_serving_is_meant(argc, argv))
		return t2x_serving_run(argc, argv);
	if (t2x_fleet_is_meant(argc, argv))
		return t2x_fleet_run(argc, argv);
	t2x_options_read(&run.settings, argc, argv);
	run.settings.options.namer = t2x_namer_new(&run.settings.places);
	run.settings.options.name_stack = t2x_namer_names;
	if (!run.settings.asks || t2x_ask(&run.settings, &run.report))
		if (!run.settings.layout || open_layout(&run))
			status = expand(&run);
	t2x_inputs_free(&run.inputs);
	t2x_recover_free(&run.recover);
	free(run.settings.rings);
	t2x_filter_free(&run.settings.filter);
	t2x_namer_free(run.settings.options.namer);
	t2x_pool_free(run.pool);
	t2x_layout_free(&run.layout);
	return status;
}
