/* SPDX-License-Identifier: MIT */
/* t2x_terminal.c - see t2x_terminal.h. */
#include "t2x_terminal.h"

static void put_to_out(void *to, const char *text, size_t n)
{
	t2x_out_bytes(to, text, n);
}

int t2x_terminal_init(struct t2x_terminal *terminal, int fd, int is_json)
{
	*terminal = (struct t2x_terminal){ .escape = { .put = put_to_out, .to = &terminal->out, .is_json = is_json } };
	return t2x_out_init(&terminal->out, fd);
}

int t2x_terminal_write(void *terminal, const char *text, size_t n)
{
	struct t2x_terminal *to = terminal;

	t2x_escape_text(&to->escape, text, n);
	return t2x_out_flush(&to->out);
}

int t2x_terminal_finish(struct t2x_terminal *terminal)
{
	int error;

	t2x_escape_end(&terminal->escape);
	error = t2x_out_flush(&terminal->out);
	t2x_out_free(&terminal->out);
	return error;
}
