/* SPDX-License-Identifier: MIT */
/*
 * tr2p_leaks.h - what is still in use when the process exits, as text: TRACE2_PROF=heap=512k,leaks.
 *
 * Stacks by bytes, the largest first, with the names that the process itself knows, those that it exports, and with
 * the place in the file, for addr2line.  t2expand knows all names, of a trace: --format=pprof --profile=heap.
 * It is what was not freed, whether something still points to it or not; estimated from samples, exact with heap=1.
 */
#ifndef TR2P_LEAKS_H
#define TR2P_LEAKS_H

/* When the process exits, or a forked child of it, report on this open descriptor; 0: do not. */
void tr2p_leaks_at_exit(int fd);

/* Report now.  Thread any    Signal unsafe    Errno kept */
void tr2p_leaks_write(int fd);

#endif
