/* SPDX-License-Identifier: MIT */
/* t2x_status.h - exit statuses of t2expand beside 0. */
#ifndef T2X_STATUS_H
#define T2X_STATUS_H

enum { T2X_EXIT_UNUSABLE = 1, T2X_EXIT_DIFFERENT = 1, T2X_EXIT_USAGE = 2, T2X_EXIT_DAMAGED = 3, T2X_EXIT_PIPE = 141 };
enum { T2X_EXIT_NOT_RUN = 126, T2X_EXIT_NOT_FOUND = 127 };   /* of t2 record, as env(1) has it */

#endif
