/* SPDX-License-Identifier: MIT */
/*
 * t2x_debuginfod.h - files from the servers of DEBUGINFOD_URLS, for programs and libraries that are not on this host.
 *
 * It is elfutils' libdebuginfod, loaded when the first file is wanted; where it is missing no server is asked, which is
 * said once.  It keeps what it has got in a cache of the user's; how long it waits, and all else, its own variables say
 * (debuginfod-client-config(7)).  For files that are here libdw asks by itself, see t2x_libdw.h.
 */
#ifndef T2X_DEBUGINFOD_H
#define T2X_DEBUGINFOD_H

/* Debugging information, or else the program, of a build-id in hex.  Return  a path, for free(); NULL: nobody has it */
char *t2x_debuginfod_find(const char *build_id);

#endif
