/* SPDX-License-Identifier: MIT */
/* t2x_screen.c - see t2x_screen.h. */
#include "t2x_screen.h"

static void put_to_out(void *to, const char *text, size_t n)
{
	t2x_out_bytes(to, text, n);
}

int t2x_screen_init(struct t2x_screen *screen, int fd, int is_json)
{
	*screen = (struct t2x_screen){ .escape = { .put = put_to_out, .to = &screen->out, .is_json = is_json } };
	return t2x_out_init(&screen->out, fd);
}

int t2x_screen_write(void *screen, const char *text, size_t n)
{
	struct t2x_screen *to = screen;

	t2x_escape_text(&to->escape, text, n);
	return t2x_out_flush(&to->out);
}

int t2x_screen_finish(struct t2x_screen *screen)
{
	int error;

	t2x_escape_end(&screen->escape);
	error = t2x_out_flush(&screen->out);
	t2x_out_free(&screen->out);
	return error;
}
