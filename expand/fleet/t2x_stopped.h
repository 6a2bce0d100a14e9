/* SPDX-License-Identifier: MIT */
/* t2x_stopped.h - SIGTERM and SIGINT end `t2 ship' and `t2 collect' between two steps; the time for their waits. */
#ifndef T2X_STOPPED_H
#define T2X_STOPPED_H

#include <stdint.h>

/* From now on the two signals are only noted. */
void t2x_stopped_catch(void);
int t2x_stopped(void);

/* Milliseconds since the machine was started. */
uint64_t t2x_stopped_clock(void);

#endif
