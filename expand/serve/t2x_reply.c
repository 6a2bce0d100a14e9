/* SPDX-License-Identifier: MIT */
/* t2x_reply.c - see t2x_reply.h. */
#include "t2x_reply.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void t2x_reply_init(struct t2x_reply *reply)
{
	*reply = (struct t2x_reply){ .status = 200, .type = T2X_REPLY_TEXT, .fd = -1 };
}

void t2x_reply_free(struct t2x_reply *reply)
{
	t2x_bytes_free(&reply->body);
	if (reply->fd >= 0)
		close(reply->fd);
	reply->fd = -1;
}

static void put_line(struct t2x_bytes *to, const char *text)
{
	for (; *text; text++) {
		const char c = (unsigned char)*text < ' ' || *text == 127 ? '?' : *text;

		t2x_bytes_put(to, &c, 1);
	}
}

void t2x_reply_fail(struct t2x_reply *reply, unsigned status, const char *why, const char *more)
{
	const char *profile = reply->profile;

	t2x_reply_free(reply);
	t2x_reply_init(reply);
	reply->profile = profile;
	reply->status = status;
	put_line(&reply->body, why);
	if (more && *more) {
		t2x_bytes_put(&reply->body, ": ", 2);
		put_line(&reply->body, more);
	}
	t2x_bytes_put(&reply->body, "\n", 1);
}

static int append(void *target, const char *text, size_t n)
{
	struct t2x_bytes *bytes = target;

	t2x_bytes_put(bytes, text, n);
	return bytes->error ? ENOMEM : 0;
}

int t2x_reply_begin(struct t2x_reply *reply, const char *type, struct t2x_out *out)
{
	reply->type = type;
	return t2x_out_init_fn(out, append, &reply->body);
}

void t2x_reply_end(struct t2x_reply *reply, struct t2x_out *out)
{
	if (t2x_out_flush(out))
		t2x_reply_fail(reply, 503, "there is no memory for the answer", NULL);
	t2x_out_free(out);
}

/* What is not ASCII could be anything, as a name of a process is any bytes. */
static void put_plain(struct t2x_out *out, char c)
{
	t2x_out_char(out, (unsigned char)c < ' ' || (unsigned char)c >= 127 ? '?' : c);
}

void t2x_reply_html(struct t2x_out *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<': t2x_out_literal(out, "&lt;"); break;
		case '>': t2x_out_literal(out, "&gt;"); break;
		case '&': t2x_out_literal(out, "&amp;"); break;
		case '"': t2x_out_literal(out, "&quot;"); break;
		case '\'': t2x_out_literal(out, "&#39;"); break;
		default: put_plain(out, *text);
		}
	}
}

void t2x_reply_json(struct t2x_out *out, const char *text)
{
	t2x_out_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			t2x_out_char(out, '\\');
		put_plain(out, *text);
	}
	t2x_out_char(out, '"');
}
