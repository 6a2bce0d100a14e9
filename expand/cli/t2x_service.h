/* SPDX-License-Identifier: MIT */
/*
 * t2x_service.h - `t2 record' as the process that systemd has started for a service.
 *
 * systemd expects of this process what only the program can do: it announces that it is ready or which process is the
 * main one, takes sockets, answers the watchdog, gets the signals.  A parent in between would have to be named in the
 * unit (NotifyAccess=), and a program that announces itself as the main process would be killed at once when it is to
 * stop, for it is no child of systemd's.  So there the program takes our place, by exec; and another process, which is
 * no child of it, waits until it has ended, and collects what its processes have left.
 */
#ifndef T2X_SERVICE_H
#define T2X_SERVICE_H

#include "t2x_collect.h"

/* 1: systemd has started this very process, and says so in the environment (since version 248). */
int t2x_service_is_main(void);

/* To collect when this process has ended.  Return  0 or -errno: nobody is there to do it */
int t2x_service_collect_later(const struct t2x_collecting *collecting);

#endif
