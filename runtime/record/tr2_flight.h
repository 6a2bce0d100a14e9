/* SPDX-License-Identifier: MIT */
/*
 * tr2_flight.h - what asks the flight recorder for a snapshot, besides the program's calls: an error, the end, as
 * PREFIX_RAW_SNAPSHOT says; for signals see tr2_signal.h.  What a snapshot is: tr2_overwrite.h.
 */
#ifndef TR2_FLIGHT_H
#define TR2_FLIGHT_H

/* Read what asks from the settings.  Signal unsafe */
void tr2_flight_init(void);

/* 1: a word of that setting asks, and is no signal's name. */
int tr2_flight_is_trigger(const char *word);

/* Ask for a snapshot, with a checkpoint that tells why.  Without a flight recorder nothing is done.  Signal safe */
void tr2_flight_trigger(const char *reason);

/* An `error` event was recorded; the program ends, or becomes another one: ask, if the settings say so. */
void tr2_flight_error(void);
void tr2_flight_exit(void);

#endif
