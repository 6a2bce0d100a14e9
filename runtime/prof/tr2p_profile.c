/* SPDX-License-Identifier: MIT */
/* tr2p_profile.c - the table of profiles. */
#include "tr2p_profile.h"

#include <string.h>

#include "trace2_prof.h"

static struct trace2_profile g_always[] = {
	{ "cpu", TR2P_CPU, 0 }, { "wall", TR2P_WALL, 0 }, { "heap", TR2P_HEAP, 0 }, { "block", TR2P_BLOCK, 0 },
	{ "mutex", TR2P_MUTEX, 0 }, { "threadcreate", TR2P_THREADCREATE, 0 }, { "threads", TR2P_THREADS, 0 },
	{ "allocs", TR2P_HEAP, 1 },
};
enum { ALWAYS = sizeof(g_always) / sizeof(g_always[0]) };

struct trace2_profile *tr2p_profile_at(unsigned i)
{
	return i < ALWAYS ? &g_always[i] : NULL;
}

unsigned tr2p_profile_total(void)
{
	return ALWAYS;
}

const char *tr2p_profile_name(unsigned number)
{
	return number < TR2P_OWN ? g_always[number].name : NULL;
}

struct trace2_profile *trace2_prof_lookup(const char *name)
{
	for (unsigned i = 0; i < tr2p_profile_total(); i++)
		if (!strcmp(tr2p_profile_at(i)->name, name))
			return tr2p_profile_at(i);
	return NULL;
}

const char *trace2_prof_name(const struct trace2_profile *profile)
{
	return profile->name;
}
