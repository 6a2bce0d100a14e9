/* SPDX-License-Identifier: MIT */
/* t2x_adder.c - see t2x_adder.h. */
#include "t2x_adder.h"

#include "export/t2x_profile_join.h"
#include "export/t2x_sampled.h"
#include "query/t2x_diff.h"
#include "query/t2x_summary.h"
#include "query/t2x_totals_join.h"

/* ---- summary ------------------------------------------------------------------------------------ */

static void *new_totals(const struct t2x_settings *settings, unsigned nth)
{
	return t2x_totals_new_part(t2x_summary_by(&settings->options), nth ? T2X_PART_LATER : T2X_PART_FIRST);
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

static int is_of_regions(const struct t2x_settings *settings)
{
	const struct t2x_printer printer = { .options = settings->options };

	return !t2x_sampled_profile(&printer);
}

static void *new_folded(const struct t2x_settings *settings, unsigned nth)
{
	(void)settings;
	return t2x_profile_new(0, nth > 0);
}

static void *new_pprof(const struct t2x_settings *settings, unsigned nth)
{
	(void)settings;
	return t2x_profile_new(1, nth > 0);
}

static int join_profile(void *to, void *from)
{
	return t2x_profile_join(to, from);
}

/* folded has no places. */
static int join_folded_end(void *own, int *needs_order)
{
	(void)own;
	*needs_order = 0;
	return 1;
}

static int join_pprof_end(void *own, int *needs_order)
{
	const struct t2x_frames *frames = &((const struct t2x_profile *)own)->tracks.frames;

	*needs_order = frames->needs_order;
	return !frames->is_ambiguous;
}

static void free_profile(void *own)
{
	t2x_profile_free(own);
}

/* ---- all of them -------------------------------------------------------------------------------- */

static const struct t2x_adder adders[] = {
	{ &t2x_writer_summary, &t2x_writer_totals, NULL, new_totals, join_totals, join_totals_end, free_totals },
	{ &t2x_writer_folded, &t2x_writer_profile, is_of_regions, new_folded, join_profile, join_folded_end,
	  free_profile },
	{ &t2x_writer_pprof, &t2x_writer_profile, is_of_regions, new_pprof, join_profile, join_pprof_end,
	  free_profile },
};

const struct t2x_adder *t2x_adder_find(const struct t2x_settings *settings)
{
	for (unsigned i = 0; i < sizeof(adders) / sizeof(adders[0]); i++)
		if (adders[i].format == settings->format->writer)
			return adders[i].is_possible && !adders[i].is_possible(settings) ? NULL : &adders[i];
	return NULL;
}
