/* SPDX-License-Identifier: MIT */
/*
 * t2x_refuse.h - saying why a command line makes no sense, and leaving with T2X_EXIT_USAGE.
 *
 * A message is one line on standard error.  It begins with the name of the program and of the command
 * (t2x_report_name()), names the wrong word and what is wrong with it, and ends with the command whose --help helps.
 */
#ifndef T2X_REFUSE_H
#define T2X_REFUSE_H

#include <getopt.h>

/* value  the word that is wrong; NULL: there is none */
_Noreturn void t2x_refuse(const char *what, const char *value);

/* meant  what the user may have meant instead; NULL: nobody knows */
_Noreturn void t2x_refuse_word(const char *what, const char *value, const char *meant);

/*
 * An option that getopt_long() does not take.  It printed nothing, as opterr is 0, and its short options begin with a
 * colon.
 * all       the long options
 * answer    what it returned, '?' or ':'
 * argument  the last one that it looked at, argv[optind - 1]
 */
_Noreturn void t2x_refuse_option(const struct option *all, int answer, const char *argument);

/* For what is no mistake in the command line: print why NAME cannot be used.  Return  T2X_EXIT_UNUSABLE */
int t2x_complain(const char *name, const char *why);

#endif
