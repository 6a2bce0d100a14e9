/* SPDX-License-Identifier: MIT */
/* tr2p_labels.h - what the rest of the profiler needs of sets of labels: see trace2_prof.h. */
#ifndef TR2P_LABELS_H
#define TR2P_LABELS_H

struct trace2_labels;

/* key, value, ..., NULL, by key; NULL for the empty set.  For the life of the process.  Signal safe */
const char *const *tr2p_labels_list(const struct trace2_labels *labels);

/* Around a fork: nobody makes sets meanwhile. */
void tr2p_labels_lock(void);
void tr2p_labels_unlock(void);

#endif
