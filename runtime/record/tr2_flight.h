/* SPDX-License-Identifier: MIT */
/*
 * tr2_flight.h - what triggers a snapshot of the flight recorder, besides the program's calls: errors and the end of
 * the process, if PREFIX_RAW_SNAPSHOT lists them; for signals see tr2_signal.h.  What a snapshot is: tr2_overwrite.h.
 */
#ifndef TR2_FLIGHT_H
#define TR2_FLIGHT_H

/* Read the triggers from the settings.  Signal unsafe */
void tr2_flight_init(void);

/* 1: the word of that setting is a trigger, and no signal. */
int tr2_flight_is_trigger(const char *word);

/* Request a snapshot, with a checkpoint that gives the reason.  Does nothing without a flight recorder.  Signal safe */
void tr2_flight_trigger(const char *reason);

/*
 * The program has recorded an `error` event; it ends, or executes another program.  Request a snapshot if the settings
 * ask for it.
 */
void tr2_flight_error(void);
void tr2_flight_exit(void);

#endif
