/* SPDX-License-Identifier: MIT */
/*
 * t2x_commands.h - t2, the program by its second name: `t2 COMMAND' stands for options of t2expand.
 *
 * A command is turned into its option in front of getopt; behind it, what it takes for itself of the operands.  All
 * options of t2expand go with every command, --help of a command shows those that make sense.
 */
#ifndef T2X_COMMANDS_H
#define T2X_COMMANDS_H

/* What follows a command. */
enum t2x_takes {
	T2X_TAKES_FILES,
	T2X_TAKES_FORMAT,         /* files, and --format */
	T2X_TAKES_RINGS,          /* ring files; none: all that there are */
	T2X_TAKES_PID,            /* a process id, and files */
	T2X_TAKES_ASKED,          /* the id of a process that is to be asked: t2x_ask.h */
	T2X_TAKES_FOLLOWED,       /* a process id, a file, a directory, or the word "all": t2x_following.h */
	T2X_TAKES_TOP,            /* the same; nothing: all */
	T2X_TAKES_STATE,          /* a process id or a file */
	T2X_TAKES_IMPORTED,       /* what git has written: t2x_importing.h */
	T2X_TAKES_LAYOUT,         /* what --show_format may be */
	T2X_TAKES_COMMAND,
	T2X_TAKES_PROGRAM,        /* a program and its arguments: t2x_record.h */
	T2X_TAKES_STEERED,        /* processes, and what they are to do: t2x_steer.h */
	T2X_TAKES_SERVED,         /* files and directories: t2x_serving.h */
	T2X_TAKES_SHIPPED,        /* a directory: t2x_fleet.h */
	T2X_TAKES_COLLECTED,      /* a store: likewise */
};

enum t2x_section {
#define T2X_SECTION(id, heading) T2X_SECTION_##id,
#include "t2x_commands.def"
	T2X_SECTIONS
};

struct t2x_command {
	const char *name;
	char *option;
	enum t2x_takes takes;
	const char *formats;      /* that its help shows, with blanks between them; "": all; NULL: none */
	enum t2x_section section;
	const char *synopsis;
	const char *help;
};

/* In the order of the table; the last one has no name. */
extern const struct t2x_command t2x_commands[];
extern const char *const t2x_sections[T2X_SECTIONS];

/* What a command line begins with. */
struct t2x_front {
	int is_t2;                            /* the program was called by this name */
	const struct t2x_command *command;    /* NULL: none */
	const char *unknown;                  /* what should have been one; NULL: nothing */
};

/* Find the command and put its option there instead, for getopt. */
struct t2x_front t2x_front_take(int *argc, char ***argv);

/*
 * For commands that read their command lines themselves:
 *
 * t2x_command_is()               1: it is `t2 NAME ...'
 * t2x_command_asks_for_help()    1: one of its words is --help, which t2expand answers
 */
int t2x_command_is(int argc, char *const *argv, const char *name);
int t2x_command_asks_for_help(int argc, char *const *argv);

#endif
