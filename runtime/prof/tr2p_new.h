/* SPDX-License-Identifier: MIT */
/*
 * tr2p_new.h - in front of C++'s operators new and delete, for those of allocators such as jemalloc and tcmalloc, which
 * do not call malloc().
 *
 * Operators of others, of libstdc++ or the program's own, do: they are left alone, and seen in tr2p_malloc.h.  In a
 * program that has no C++ itself, those of the libraries that it loads later are looked up when they are called first.
 */
#ifndef TR2P_NEW_H
#define TR2P_NEW_H

/* As tr2p_malloc_profile(), which calls it. */
void tr2p_new_profile(int is_on);

#endif
