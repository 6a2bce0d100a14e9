/* SPDX-License-Identifier: MIT */
/* t2x_commands.c - see t2x_commands.h. */
#include "t2x_commands.h"

#include <stddef.h>
#include <string.h>

const struct t2x_command t2x_commands[] = {
#define T2X_COMMAND(name, option, takes, formats, section, synopsis, help) \
	{ #name, option, T2X_TAKES_##takes, formats, T2X_SECTION_##section, synopsis, help },
#include "t2x_commands.def"
	{ 0 },
};

const char *const t2x_sections[T2X_SECTIONS] = {
#define T2X_SECTION(id, heading) heading,
#include "t2x_commands.def"
};

/* Return  NULL: there is none of this name */
static const struct t2x_command *find(const char *name)
{
	for (const struct t2x_command *command = t2x_commands; command->name; command++)
		if (!strcmp(name, command->name))
			return command;
	return NULL;
}

/* The first argument becomes the option; NULL: it goes. */
static void replace(int *argc, char ***argv, char *option)
{
	if (option) {
		(*argv)[1] = option;
		return;
	}
	(*argv)[1] = (*argv)[0];
	++*argv;
	--*argc;
}

static int is_t2(int argc, char *const *argv)
{
	const char *path = argc ? argv[0] : "", *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, "t2");
}

int t2x_command_is(int argc, char *const *argv, const char *name)
{
	return argc > 1 && is_t2(argc, argv) && !strcmp(argv[1], name);
}

int t2x_command_asks_for_help(int argc, char *const *argv)
{
	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") || !strcmp(argv[i], "--help=all"))
			return 1;
	return 0;
}

struct t2x_front t2x_front_take(int *argc, char ***argv)
{
	struct t2x_front front = { .is_t2 = is_t2(*argc, *argv) };

	if (!front.is_t2 || *argc < 2 || (*argv)[1][0] == '-')
		return front;
	front.command = find((*argv)[1]);
	if (!front.command) {
		front.unknown = (*argv)[1];
		return front;
	}
	replace(argc, argv, front.command->option);
	if (front.command->takes != T2X_TAKES_COMMAND)
		return front;
	front.command = NULL;
	if (*argc > 2) {
		front.command = find((*argv)[2]);
		front.unknown = front.command ? NULL : (*argv)[2];
	}
	return front;
}
