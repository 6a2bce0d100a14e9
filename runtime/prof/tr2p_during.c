/* SPDX-License-Identifier: MIT */
/* tr2p_during.c - see tr2p_during.h. */
#include "tr2p_during.h"

#include <errno.h>
#include <stdio.h>

#include "tr2p_bucket.h"
#include "tr2p_init.h"
#include "tr2p_mutex.h"
#include "tr2p_profile.h"
#include "tr2p_settings.h"

static struct tr2p_mutex g_lock = TR2P_MUTEX_INIT;
static unsigned g_users[TR2P_OWN];   /* requests for which a kind was switched on */

static void switch_off(unsigned kind)
{
	char word[32];

	snprintf(word, sizeof(word), "%s=off", tr2p_profile_name(kind));
	tr2p_settings_steer(word, NULL, 0, word, sizeof(word));
}

static int switch_on(unsigned kind, int *is_ours)
{
	const char *name = tr2p_profile_name(kind);
	int error = 0;

	if (kind == TR2P_CPU && g_users[kind])
		return EALREADY;
	if (!g_users[kind] && tr2p_settings_is_on(name))
		return 0;
	if (!g_users[kind])
		error = tr2p_settings_start(name);
	*is_ours = !error;
	g_users[kind] += !error;
	return error;
}

int tr2p_during_begin(unsigned kind, int *is_ours)
{
	int error = tr2p_init();

	*is_ours = 0;
	if (error || kind >= TR2P_OWN || kind == TR2P_THREADS)
		return error;
	tr2p_during_lock();
	error = switch_on(kind, is_ours);
	tr2p_during_unlock();
	return error;
}

void tr2p_during_end(unsigned kind)
{
	tr2p_during_lock();
	/* 0: this is a forked child */
	if (g_users[kind] && !--g_users[kind])
		switch_off(kind);
	tr2p_during_unlock();
}

void tr2p_during_lock(void)
{
	tr2p_mutex_lock(&g_lock);
}

void tr2p_during_unlock(void)
{
	tr2p_mutex_unlock(&g_lock);
}

void tr2p_during_begin_child(void)
{
	unsigned was_on[TR2P_OWN];

	for (unsigned i = 0; i < TR2P_OWN; i++) {
		was_on[i] = g_users[i];
		g_users[i] = 0;
	}
	tr2p_during_unlock();
	for (unsigned i = 0; i < TR2P_OWN; i++)
		if (was_on[i])
			switch_off(i);
}
