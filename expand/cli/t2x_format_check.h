/* SPDX-License-Identifier: MIT */
/* t2x_format_check.h - options of formats on the command line: which of them the format has, what they may be. */
#ifndef T2X_FORMAT_CHECK_H
#define T2X_FORMAT_CHECK_H

#include "text/t2x_formats.h"

/* Refuse a value that is none of the option's words. */
void t2x_check_word(const struct t2x_format_option *option, const char *text);

/*
 * Refuse a value that is no number, and an option that the format does not have.
 * values  by T2X_OPTION_*; NULL: not given
 */
void t2x_check_format_options(const struct t2x_format *format, const char *const *values, struct t2x_options *options);

#endif
