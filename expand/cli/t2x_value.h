/* SPDX-License-Identifier: MIT */
/*
 * t2x_value.h - the values of options: what their texts mean.
 *
 * A text that means nothing ends the program, by t2x_refuse(); `what' is what that says of it: "--jobs is not a
 * number".
 */
#ifndef T2X_VALUE_H
#define T2X_VALUE_H

#include <stdint.h>
#include <sys/types.h>

/* --color */
enum t2x_when { T2X_AUTO, T2X_ALWAYS, T2X_NEVER };

/* Of --color.  text  NULL: it is alone */
enum t2x_when t2x_value_when(const char *text);

/* A larger number than max is max. */
unsigned t2x_value_number(const char *what, const char *text, unsigned max);

/* Of --threshold. */
double t2x_value_percent(const char *text);

/* A process id.  text  NULL: it is missing, which makes no sense either */
uint32_t t2x_value_pid(const char *what, const char *text);

/* "90s", "2h": seconds. */
uint64_t t2x_value_age(const char *what, const char *text);

/* Of --ring-user: a name or a number. */
uid_t t2x_value_user(const char *text);

#endif
