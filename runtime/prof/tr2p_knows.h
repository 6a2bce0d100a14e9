/* SPDX-License-Identifier: MIT */
/*
 * tr2p_knows.h - whether the program knows of Trace2: it, or one of the libraries that it was started with, is linked
 * with libtrace2.  Then it is the one to say what it is called.
 */
#ifndef TR2P_KNOWS_H
#define TR2P_KNOWS_H

int tr2p_knows_trace2(void);

#endif
