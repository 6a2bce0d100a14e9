/* SPDX-License-Identifier: MIT */
/*
 * t2x_csv.h - texts of a program as cells of CSV: that of RFC 4180, but for the line ends, in UTF-8.
 *
 * A spreadsheet takes a text for a formula that begins with = + - @, a tab or the end of a line.  Such a text gets a '
 * in front, and so does one that begins with a ': who takes one ' off each cell that begins with one has the texts.
 */
#ifndef T2X_CSV_H
#define T2X_CSV_H

#include "base/t2x_out.h"

/* Whether a text with this first character gets a ' in front. */
static inline int t2x_csv_is_special(char first)
{
	const uint64_t below_64 = UINT64_C(1) << '=' | UINT64_C(1) << '+' | UINT64_C(1) << '-' | UINT64_C(1) << '\'' |
				  UINT64_C(1) << '\t' | UINT64_C(1) << '\n' | UINT64_C(1) << '\r';

	return (unsigned char)first < 64 ? (int)(below_64 >> first & 1) : first == '@';
}

/* Append a cell, in quotation marks where it needs them.  An empty text is not an empty cell. */
void t2x_csv_text(struct t2x_out *out, const char *text, size_t n);

/* The same, always in quotation marks. */
void t2x_csv_quoted(struct t2x_out *out, const char *text, size_t n);

#endif
