/* SPDX-License-Identifier: MIT */
/* tr2p_excerpt.h - what of the trace of this process is recorded in the next seconds, as a .tlg file. */
#ifndef TR2P_EXCERPT_H
#define TR2P_EXCERPT_H

#include "profile/t2x_pprof.h"
#include "tr2p_answer.h"

/* Answer it, or say why there is none.  It is sent at once, however large it is. */
void tr2p_excerpt_answer(struct tr2p_answer *answer, const struct t2x_pprof *asked);

#endif
