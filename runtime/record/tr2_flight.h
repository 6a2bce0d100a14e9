/* SPDX-License-Identifier: MIT */
/*
 * tr2_flight.h - what triggers a snapshot of the flight recorder, besides the program's calls: PREFIX_RAW_SNAPSHOT.
 * What a snapshot is: tr2_overwrite.h.
 *
 * Signals are hooked (tr2_signal.h).  Of the other words, `error` and `exit` alone are found by the calls that record
 * them, as they happen.  As soon as a rule needs looks, or a modifier bounds how often, all rules belong to the
 * consumer thread (drain/tr2_trigger.h), and the calls only wake it.
 */
#ifndef TR2_FLIGHT_H
#define TR2_FLIGHT_H

#include <stddef.h>

/* Read the triggers from the settings; report words that are none.  Signal unsafe */
void tr2_flight_init(void);

/*
 * Triggers from another process take the place of those so far, but for signals.  "off": there are none.
 * why     of size bytes: the first thing that is wrong
 * Return  1; 0: nothing is changed    Thread  the consumer    Signal safe
 */
int tr2_flight_change(const char *list, char *why, size_t size);

/* Call the function with each word of the setting that may be a signal. */
void tr2_flight_each_other(void (*call)(const char *word));

/* Request a snapshot, with a checkpoint that gives the reason.  Does nothing without a flight recorder.  Signal safe */
void tr2_flight_trigger(const char *reason);

/*
 * The program has recorded an `error` event; it ends with this code, or executes another program.  Request a snapshot
 * if the settings ask for it.
 */
void tr2_flight_error(void);
void tr2_flight_exit(int code);

#endif
