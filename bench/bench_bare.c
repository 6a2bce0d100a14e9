/* SPDX-License-Identifier: MIT */
/*
 * bench_bare - bench_start without the library: these empty functions are linked instead of it.  So bench_start
 * compares itself with the same program that only lacks the library.
 */
#include "trace2.h"

int tr2_enabled_v1;

void trace2_initialize_fl(const char *file, int line)
{
	(void)file;
	(void)line;
}

int trace2_is_enabled(void)
{
	return 0;
}

void trace2_flush(void)
{
}

void tr2_data_v1(struct trace2_site *site, const struct trace2_repository *repo, intmax_t value)
{
	(void)site;
	(void)repo;
	(void)value;
}
