/* SPDX-License-Identifier: MIT */
/*
 * tr2_value.h - parses the value of a setting: git's booleans and numbers, times, words of a list.
 *
 * Each returns 1 with *value set, or 0 and leaves *value alone: the text is nothing of the kind.
 * Thread  any    Signal safe
 */
#ifndef TR2_VALUE_H
#define TR2_VALUE_H

/* true, yes, on, a number that is not 0: 1; false, no, off, "", 0: 0. */
int tr2_value_bool(const char *text, long long *value);

/* Decimal, 0x hexadecimal or 0 octal, with k, m or g behind it. */
int tr2_value_number(const char *text, long long *value);

/* Milliseconds: decimal, with ms, s or nothing behind it. */
int tr2_value_time(const char *text, long long *value);

/* As atoi() has it: the decimal number at the beginning; of what is too large the largest. */
int tr2_value_count(const char *text, long long *value);

/* Which one of the words that stand in a text, with blanks between them, counted from 0. */
int tr2_value_word(const char *text, const char *words, long long *value);

#endif
