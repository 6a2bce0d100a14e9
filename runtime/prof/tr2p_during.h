/* SPDX-License-Identifier: MIT */
/*
 * tr2p_during.h - kinds of profiles that are on only while requests of trace2_pprof_handle() need them.
 *
 * What runs already, because the program or its user wants it, is left as it is.  The first request switches a kind on,
 * at its usual rate, and the last one switches it off.  A forked child has none of the threads that wait: there the
 * kinds are switched off at once.
 */
#ifndef TR2P_DURING_H
#define TR2P_DURING_H

/*
 * A request begins.
 * kind     enum tr2p_kind, or a profile of the program's own, for which nothing is to be done
 * is_ours  set to 1: the kind was switched on for requests, and tr2p_during_end() has to follow
 * Return   0 or an error number; EALREADY: another request has the CPU profile
 */
int tr2p_during_begin(unsigned kind, int *is_ours);
void tr2p_during_end(unsigned kind);

/* Around a fork: no request begins or ends meanwhile. */
void tr2p_during_lock(void);
void tr2p_during_unlock(void);
void tr2p_during_begin_child(void);

#endif
