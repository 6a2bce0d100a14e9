/* SPDX-License-Identifier: MIT */
/*
 * t2x_serving.h - `t2 serve': its options, and where it listens.
 *
 * It has options of its own, so main() asks for it before anything else.
 */
#ifndef T2X_SERVING_H
#define T2X_SERVING_H

/* Return  1: the command line is `t2 serve' and what follows, and no request for help */
int t2x_serving_is_meant(int argc, char **argv);

/* Return  the exit status */
int t2x_serving_run(int argc, char **argv);

#endif
