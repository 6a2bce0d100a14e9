/* SPDX-License-Identifier: MIT */
/*
 * t2x_fleet.h - `t2 ship' and `t2 collect': their options.
 *
 * They have options of their own, so main() asks for them before anything else.
 */
#ifndef T2X_FLEET_H
#define T2X_FLEET_H

/* Return  1: the command line is one of the two and what follows, and no request for help */
int t2x_fleet_is_meant(int argc, char **argv);

/* Return  the exit status */
int t2x_fleet_run(int argc, char **argv);

#endif
