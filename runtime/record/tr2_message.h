/* SPDX-License-Identifier: MIT */
/*
 * tr2_message.h - checkpoints with a printf-style message.
 */
#ifndef TR2_MESSAGE_H
#define TR2_MESSAGE_H

#include "tr2_capture.h"
#include "ring/tr2_scope.h"

/*
 * Record a checkpoint whose message is key->format applied to va, and consume va.  Without a format, or with an empty
 * one, there is no message.  The ring gets the arguments as they are, and the expander formats them.  A format that
 * cannot be deferred is rendered here, and cut beyond 1 MiB.  %m shows errno, which is kept.
 */
void tr2_emit_message(const struct tr2_scope_key *key, struct tr2_va *va);

/* The same with a copy of the caller's list, which stays as it is. */
void tr2_emit_message_va(const struct tr2_scope_key *key, va_list ap);

#endif
