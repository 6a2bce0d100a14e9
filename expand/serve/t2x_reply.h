/* SPDX-License-Identifier: MIT */
/*
 * t2x_reply.h - the answer to a request while it is made: a text in memory, or a file that nobody else can open.
 *
 * An error replaces what is there.  Its text is one line.
 */
#ifndef T2X_REPLY_H
#define T2X_REPLY_H

#include <stdint.h>

#include "base/t2x_out.h"
#include "profile/t2x_bytes.h"

struct t2x_reply {
	unsigned status;                  /* of HTTP */
	const char *type;                 /* of the content */
	struct t2x_bytes body;
	int fd;                           /* this instead of the body; -1: none */
	char location[64];                /* of a page that has moved; "": it has not */
	char name[64];                    /* of a file that a browser stores; "": it shows the answer */
	const char *profile;              /* Go's error of this profile, see X-Go-Pprof; NULL: it is none */
};

#define T2X_REPLY_TEXT "text/plain; charset=utf-8"
#define T2X_REPLY_HTML "text/html; charset=utf-8"
#define T2X_REPLY_BINARY "application/octet-stream"

void t2x_reply_init(struct t2x_reply *reply);
void t2x_reply_free(struct t2x_reply *reply);

/* Make it an error: "why: more".  more  NULL: none; its control characters go */
void t2x_reply_fail(struct t2x_reply *reply, unsigned status, const char *why, const char *more);

/* The body is a text of this type, which goes to an output.  Return  0 or -ENOMEM */
int t2x_reply_begin(struct t2x_reply *reply, const char *type, struct t2x_out *out);
void t2x_reply_end(struct t2x_reply *reply, struct t2x_out *out);

/* A text between the tags, and in the attributes, of a page: < > & " ' and bytes that are no text are replaced. */
void t2x_reply_html(struct t2x_out *out, const char *text);

/* A text in quotes, as JSON has it: what is no text is replaced. */
void t2x_reply_json(struct t2x_out *out, const char *text);

#endif
