/* SPDX-License-Identifier: MIT */
/* t2x_top_keys.c - the terminal, and what its keys do. */
#include "t2x_top_private.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static struct termios g_before;           /* of the terminal, while each key is read */
static int g_is_raw;

/* Whatever ends the program, the terminal is as it was. */
static void restore(void)
{
	if (g_is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
	g_is_raw = 0;
}

static void put(const struct t2x_top *top, const char *text)
{
	t2x_out_string(top->printer->out, text);
	t2x_out_flush(top->printer->out);
}

void t2x_top_open_screen(struct t2x_top *top)
{
	struct termios raw;

	if (isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &g_before)) {
		raw = g_before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		raw.c_cc[VMIN] = 0;
		raw.c_cc[VTIME] = 0;
		g_is_raw = top->is_raw = !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
		atexit(restore);
	}
	put(top, "\033[?1049h\033[?25l\033[2J");
}

void t2x_top_close_screen(struct t2x_top *top)
{
	put(top, "\033[?25h\033[?1049l");
	restore();
	top->is_raw = 0;
}

/* ---- keys --------------------------------------------------------------------------------------- */

static void show(struct t2x_top *top, enum t2x_top_view view)
{
	top->view = view;
	top->selected = top->first = 0;
}

static void type(struct t2x_top *top, char key)
{
	size_t n = strlen(top->filter);

	if (key == '\n' || key == '\r' || key == '\033') {
		top->is_typing = 0;
		if (key == '\033')
			top->filter[0] = '\0';
	} else if (key == 127 || key == '\b') {
		top->filter[n ? n - 1 : 0] = '\0';
	} else if (key >= ' ' && n + 1 < sizeof(top->filter)) {
		top->filter[n] = key;
		top->filter[n + 1] = '\0';
	}
	top->selected = top->first = 0;
}

static void move(struct t2x_top *top, int by)
{
	if (by < 0 && top->selected)
		top->selected--;
	else if (by > 0 && top->selected + 1 < top->shown)
		top->selected++;
}

/* Return  1: it is to end */
static int press(struct t2x_top *top, char key)
{
	switch (key) {
	case 'q': return 1;
	case 'l': show(top, T2X_TOP_LABELS); break;
	case 't': show(top, T2X_TOP_THREADS); break;
	case 'f': show(top, T2X_TOP_FUNCTIONS); break;
	case 's': top->sort = (enum t2x_top_sort)((top->sort + 1) % T2X_TOP_SORTS); break;
	case 'j': move(top, 1); break;
	case 'k': move(top, -1); break;
	case '/':
		top->is_typing = 1;
		top->filter[0] = '\0';
		break;
	case 'h':
	case '?':
		top->view = T2X_TOP_HELP;
		break;
	case '\r':
	case '\n':
		if (top->view == T2X_TOP_LABELS && top->shown)
			top->view = T2X_TOP_DETAIL;   /* of the selected one, which drawing finds */
		break;
	case '\033':
		show(top, T2X_TOP_LABELS);
		break;
	default:
		break;
	}
	return 0;
}

int t2x_top_read_keys(struct t2x_top *top)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char keys[64];
	ssize_t n = 0;

	if (top->is_raw && poll(&input, 1, 0) > 0)
		n = read(STDIN_FILENO, keys, sizeof(keys));
	for (ssize_t i = 0; i < n; i++) {
		top->is_changed = 1;
		if (top->is_typing) {
			type(top, keys[i]);
		} else if (keys[i] == '\033' && i + 2 < n && keys[i + 1] == '[') {
			move(top, keys[i + 2] == 'A' ? -1 : keys[i + 2] == 'B');
			i += 2;
		} else if (press(top, keys[i])) {
			return 1;
		}
	}
	return 0;
}
