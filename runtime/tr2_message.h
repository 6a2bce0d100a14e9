/* SPDX-License-Identifier: MIT */
/*
 * tr2_message.h - checkpoints with a printf-style message.
 */
#ifndef TR2_MESSAGE_H
#define TR2_MESSAGE_H

#include <stdarg.h>

#include "tr2_scope.h"

/*
 * Record a checkpoint whose message is key->format applied to ap.  Without a format, or with an empty one, there is no
 * message.  Its arguments are recorded as they are, for the expander to format; what cannot be put off is rendered
 * here, and cut beyond 1 MiB.  ap is not consumed.  errno is what %m shows, and kept.
 */
void tr2_emit_message(const struct tr2_scope_key *key, va_list ap);

/* The same with a message that is a plain text. */
void tr2_emit_text(const struct tr2_scope_key *key, const char *text);

#endif
