/* SPDX-License-Identifier: MIT */
/* t2x_adder.c - see t2x_adder.h. */
#include "t2x_adder.h"

#include "profile/t2x_profile_join.h"
#include "profile/t2x_sampled.h"
#include "query/t2x_diff.h"
#include "query/t2x_filter.h"
#include "query/t2x_summary.h"
#include "query/t2x_totals_join.h"
#include "text/t2x_formats.h"

/* ---- summary ------------------------------------------------------------------------------------ */

static int is_without_values(const struct t2x_options *options)
{
	return !t2x_summary_has_values(options);
}

static void *new_totals(const struct t2x_options *options, unsigned nth)
{
	return t2x_totals_new_part(t2x_summary_by(options), nth ? T2X_PART_LATER : T2X_PART_FIRST);
}

static int join_totals(void *to, void *from)
{
	return t2x_totals_join(to, from);
}

static int join_totals_end(void *own, int *needs_order)
{
	return t2x_totals_join_end(own, needs_order);
}

static void free_totals(void *own)
{
	t2x_totals_free(own);
}

/* ---- profiles of regions ------------------------------------------------------------------------ */

static int is_of_regions(const struct t2x_options *options)
{
	const struct t2x_printer printer = { .options = *options };

	return !t2x_sampled_profile(&printer);
}

static void *new_folded(const struct t2x_options *options, unsigned nth)
{
	(void)options;
	return t2x_profile_new(0, nth > 0);
}

static void *new_pprof(const struct t2x_options *options, unsigned nth)
{
	(void)options;
	return t2x_profile_new(1, nth > 0);
}

static int join_profile(void *to, void *from)
{
	return t2x_profile_join(to, from);
}

/* folded prints no source places, so the order of events does not matter. */
static int join_folded_end(void *own, int *needs_order)
{
	(void)own;
	*needs_order = 0;
	return 1;
}

static int join_pprof_end(void *own, int *needs_order)
{
	const struct t2x_frames *frames = &((const struct t2x_profile *)own)->processes.frames;

	*needs_order = frames->needs_order;
	return !frames->is_ambiguous;
}

static void free_profile(void *own)
{
	t2x_profile_free(own);
}

/* A part adds to the profile that is the filter's own. */
static int begin_profile(struct t2x_printer *printer)
{
	t2x_profile_use(printer, printer->options.filter->own);
	return 0;
}

static const struct t2x_writer profile_writer = {
	.thread_bytes = T2X_SPANS_THREAD_BYTES,
	.begin = begin_profile, .unresolved = t2x_profile_event, .ignores_messages = 1,
	.print = {
#define TLG_STYLE(id, kind, args, desc) .kind = t2x_profile_event,
#include "tlg_styles.def"
#undef TLG_STYLE
	},
};

/* ---- all of them -------------------------------------------------------------------------------- */

static const struct t2x_adder adders[] = {
	{ &t2x_writer_summary, &t2x_writer_totals, is_without_values, new_totals, join_totals, join_totals_end,
	  free_totals },
	{ &t2x_writer_folded, &profile_writer, is_of_regions, new_folded, join_profile, join_folded_end,
	  free_profile },
	{ &t2x_writer_pprof, &profile_writer, is_of_regions, new_pprof, join_profile, join_pprof_end,
	  free_profile },
};

const struct t2x_adder *t2x_adder_find(const struct t2x_writer *format, const struct t2x_options *options)
{
	for (unsigned i = 0; i < sizeof(adders) / sizeof(adders[0]); i++)
		if (adders[i].format == format)
			return adders[i].is_possible && !adders[i].is_possible(options) ? NULL : &adders[i];
	return NULL;
}
