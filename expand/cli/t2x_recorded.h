/* SPDX-License-Identifier: MIT */
/* t2x_recorded.h - the last line of `t2 record': what it has written, and how to look at it. */
#ifndef T2X_RECORDED_H
#define T2X_RECORDED_H

/*
 * On stderr, if that is a terminal and the command is in its foreground: what scripts read is what the program wrote.
 * trace  the absolute path of a file or a directory; nothing there: nothing is said    profiles  as in TRACE2_PROF
 */
void t2x_recorded_tell(const char *trace, const char *profiles);

#endif
