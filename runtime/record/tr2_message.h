/* SPDX-License-Identifier: MIT */
/*
 * tr2_message.h - checkpoints with a printf-style message.
 */
#ifndef TR2_MESSAGE_H
#define TR2_MESSAGE_H

#include "tr2_capture.h"
#include "ring/tr2_scope.h"

/*
 * Record a checkpoint whose message is key->format applied to va, which is used up.  Without a format, or with an
 * empty one, there is no message.  Its arguments are recorded as they are, for the expander to format; what cannot
 * be deferred is rendered here, and cut beyond 1 MiB.  errno is what %m shows, and kept.
 */
void tr2_emit_message(const struct tr2_scope_key *key, struct tr2_va *va);

/* The same with a list that belongs to somebody else, and is not used up. */
void tr2_emit_message_va(const struct tr2_scope_key *key, va_list ap);

#endif
