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

struct t2x_front t2x_front_take(int *argc, char ***argv)
{
	const char *path = *argc ? (*argv)[0] : "", *slash = strrchr(path, '/');
	struct t2x_front front = { .is_t2 = !strcmp(slash ? slash + 1 : path, "t2") };

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
