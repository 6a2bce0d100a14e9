/* SPDX-License-Identifier: MIT */
/*
 * tr2_trigger.h - triggers: rules (settings/tr2_rules.h) by which the consumer thread finds out, by looks at the rings
 * and at the process, that a flight recorder is to take a snapshot.
 *
 * Recording threads do nothing for this but open chunks, of which the consumer thread hears as under other policies:
 * otherwise it might look too late.  A look comes before each snapshot, flush and end, and some times a second.
 *
 * Thread  the holder of the drain's lock, unless noted    Signal safe
 */
#ifndef TR2_TRIGGER_H
#define TR2_TRIGGER_H

#include <stddef.h>
#include <stdint.h>

#include "settings/tr2_rules.h"

/*
 * These rules, which are copied, are in force instead of those before.
 * opens    1: the calling thread is the program's and may open files, which the rule memory needs
 * Return   0; -EPERM, another error of open(2): the size of the process cannot be read, and nothing has changed;
 *          -ENOMEM: none is in force now
 * Thread   any: it acquires the drain's lock.  Blocks  at most 10 ms; -EBUSY then
 */
int tr2_trigger_set(const struct tr2_rules *rules, int opens);

/* 1: rules are in force.  Thread  any */
int tr2_trigger_is_on(void);

/* The process ends, or executes another program: rules for that are to be judged.  Thread  any */
void tr2_trigger_end(int exit_code);

/* Look, and request a snapshot if there is a cause.  Return  1: events were seen */
int tr2_trigger_look(void);

/* ms until the next look; 0: none is needed.  Thread  the consumer */
unsigned tr2_trigger_sleep_ms(void);

/* In a forked child, by a thread of the program: the rules stay, what was found was the parent's. */
void tr2_trigger_reset(void);

/*
 * Lines of "key: value", the last without its end: the rules in force, and what they have led to so far.
 * Thread  as tr2_trigger_set()
 */
struct tr2_text;
void tr2_trigger_report(struct tr2_text *to);

/* The same by the holder of the drain's lock. */
void tr2_trigger_put(struct tr2_text *to);

#endif
