/* SPDX-License-Identifier: MIT */
/* tr2p_profile.c - the table of profiles, and what is in those of the program's own. */
#include "tr2p_profile.h"

#include <errno.h>
#include <string.h>

#include "trace2_prof.h"
#include "tr2p_init.h"
#include "tr2p_mutex.h"
#include "tr2p_sample.h"
#include "tr2p_unwind.h"
#include "tr2p_values.h"
#include "base/tr2_atomic.h"

static struct trace2_profile g_always[] = {
#define PROF_KIND(id, name, form, during, rate, usual, min, max, title, help) { #name, TR2P_##id },
#include "prof_kinds.def"
#define PROF_VIEW(id, name, kind, form, shown) { #name, TR2P_##kind },
#include "prof_kinds.def"
};
enum { ALWAYS = sizeof(g_always) / sizeof(g_always[0]), OWN_MAX = TR2P_PROFILES - TR2P_OWN, NAME_BYTES = 256 };

struct own_profile {
	struct trace2_profile profile;
	struct tr2p_values values;    /* under the lock */
	char name[NAME_BYTES];
};

/* A profile is made under the lock, and is in the table once total counts it; then it does not change. */
static struct own_profile g_own[OWN_MAX];
static unsigned g_own_total;          /* [P4] */
static struct tr2p_mutex g_lock = TR2P_MUTEX_INIT;

/* ---- the table ------------------------------------------------------------------------------------ */

struct trace2_profile *tr2p_profile_at(unsigned i)
{
	if (i < ALWAYS)
		return &g_always[i];
	return i < tr2p_profile_total() ? &g_own[i - ALWAYS].profile : NULL;
}

unsigned tr2p_profile_total(void)
{
	return ALWAYS + tr2_load_acq(&g_own_total); /* [P4] acquire: the profiles counted.  Pairs with put_profile() */
}

const char *tr2p_profile_name(unsigned number)
{
	return number < TR2P_OWN ? g_always[number].name : g_own[number - TR2P_OWN].name;
}

struct trace2_profile *trace2_prof_lookup(const char *name)
{
	for (unsigned i = 0; name && i < tr2p_profile_total(); i++)
		if (!strcmp(tr2p_profile_at(i)->name, name))
			return tr2p_profile_at(i);
	return NULL;
}

const char *trace2_prof_name(const struct trace2_profile *profile)
{
	return profile ? profile->name : NULL;
}

int trace2_prof_each(int (*visit)(struct trace2_profile *profile, void *data), void *data)
{
	struct trace2_profile *by_name[ALWAYS + OWN_MAX];
	unsigned total = tr2p_profile_total();
	int done = 0;

	for (unsigned i = 0; i < total; i++) {
		struct trace2_profile *profile = tr2p_profile_at(i);
		unsigned at = i;
		for (; at && strcmp(by_name[at - 1]->name, profile->name) > 0; at--)
			by_name[at] = by_name[at - 1];
		by_name[at] = profile;
	}
	for (unsigned i = 0; i < total && !done; i++)
		done = visit(by_name[i], data);
	return done;
}

/* ---- the program's own ---------------------------------------------------------------------------- */

void tr2p_profile_lock(void)
{
	tr2p_mutex_lock(&g_lock);
}

void tr2p_profile_unlock(void)
{
	tr2p_mutex_unlock(&g_lock);
}

static int is_name(const char *name)
{
	size_t n = 0;

	for (; name[n]; n++)
		if (n == NAME_BYTES - 1 || (unsigned char)name[n] <= ' ' || name[n] == ',')
			return 0;
	return n > 0;
}

static int put_profile(const char *name, struct trace2_profile **profile)
{
	unsigned n = tr2p_profile_total() - ALWAYS;
	struct own_profile *own = &g_own[n];

	if (trace2_prof_lookup(name))
		return EEXIST;
	if (n == OWN_MAX)
		return ENOSPC;
	strcpy(own->name, name);
	own->profile = (struct trace2_profile){ .name = own->name, .number = TR2P_OWN + n };
	*profile = &own->profile;
	tr2_store_rel(&g_own_total, n + 1); /* [P4] release: the profile.  Pairs with tr2p_profile_total() */
	return 0;
}

int trace2_prof_new(const char *name, struct trace2_profile **profile)
{
	int error, saved = errno;

	if (!name || !is_name(name))
		return EINVAL;
	error = tr2p_init();
	if (error)
		return error;
	tr2p_profile_lock();
	error = put_profile(name, profile);
	tr2p_profile_unlock();
	errno = saved;
	return error;
}

/* NULL: it is one of those that exist always, or none at all. */
static struct own_profile *own_of(const struct trace2_profile *profile)
{
	return profile && profile->number >= TR2P_OWN ? &g_own[profile->number - TR2P_OWN] : NULL;
}

static size_t count_stacks(const struct trace2_profile *profile)
{
	size_t count = 0;

	for (struct tr2p_bucket *bucket = tr2p_bucket_first(profile->number); bucket; bucket = bucket->next)
		count += tr2p_bucket_is_there(bucket) != 0;
	return count;
}

size_t trace2_prof_count(const struct trace2_profile *profile)
{
	const struct own_profile *own = own_of(profile);
	size_t count;

	if (!own)
		return profile ? count_stacks(profile) : 0;
	tr2p_profile_lock();
	count = own->values.count;
	tr2p_profile_unlock();
	return count;
}

int trace2_prof_add(struct trace2_profile *profile, const void *value, unsigned skip)
{
	const struct tr2p_amount one = { .count = 1, .period = 1, .scale = 1 };
	struct own_profile *own = own_of(profile);
	struct tr2p_value *added;
	struct tr2p_stack stack;
	int error, saved = errno;

	if (!own)
		return EINVAL;
	tr2p_unwind(&stack, skip);
	tr2p_profile_lock();
	error = tr2p_values_add(&own->values, value, &added);
	if (!error)
		added->bucket = tr2p_sample(profile->number, &stack, &one);
	tr2p_profile_unlock();
	errno = saved;
	return error;
}

void trace2_prof_remove(struct trace2_profile *profile, const void *value)
{
	const struct tr2p_amount one_less = { .count = -1, .period = 1, .scale = 1 };
	const struct tr2p_stack nowhere = { 0 };
	struct own_profile *own = own_of(profile);
	struct tr2p_bucket *bucket;
	int saved = errno;

	if (!own)
		return;
	tr2p_profile_lock();
	if (tr2p_values_remove(&own->values, value, &bucket)) {
		if (bucket)
			tr2p_sample_again(bucket, &one_less);
		else
			tr2p_sample(profile->number, &nowhere, &one_less);
	}
	tr2p_profile_unlock();
	errno = saved;
}
