/* SPDX-License-Identifier: MIT */
/*
 * tr2_flight.h - the flight recorder: with the policy overwrite the rings hold the latest that each thread has
 * recorded, and nothing is written before somebody asks for a snapshot.
 *
 * Whoever asks makes the moment: what has been recorded by then is not overwritten until it is written; a thread
 * that finds no other room drops its newest, which nobody has asked for.  The drain then writes, as a cycle of its
 * own, what every ring holds up to that moment and no snapshot has taken yet.  Owners read their rings, too,
 * when they overwrite: so regions and sequence numbers are followed through what is lost, and a snapshot begins
 * with what is open.
 */
#ifndef TR2_FLIGHT_H
#define TR2_FLIGHT_H

#include <stdint.h>

#include "tr2_thread.h"

/* What asks for snapshots, besides calls, is read from the settings.  Signal unsafe */
void tr2_flight_init(void);

/* Ask for a snapshot.  Without a flight recorder nothing is done.  Thread any    Signal safe    Blocks never */
void tr2_flight_request(void);

/* The same, with a checkpoint that tells why. */
void tr2_flight_trigger(const char *reason);

/* An `error` event was recorded; the program ends, or becomes another one: ask, if the settings say so. */
void tr2_flight_error(void);
void tr2_flight_exit(void);

/* 1 if one is asked for and not taken. */
int tr2_flight_is_requested(void);

/* The drain takes one: which requests it serves; it has served them. */
uint32_t tr2_flight_begin(void);
void tr2_flight_end(uint32_t requests);

/* Make room in self's ring by overwriting.  0: not possible, or not allowed now.  Signals masked */
int tr2_flight_make_room(struct tr2_thread *self);

/* In a forked child: nothing is asked for. */
void tr2_flight_reset(void);

#endif
