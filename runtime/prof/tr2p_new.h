/* SPDX-License-Identifier: MIT */
/*
 * tr2p_new.h - intercepts C++'s operators new and delete of allocators such as jemalloc and tcmalloc, which do not call
 * malloc().
 *
 * Other operators, of libstdc++ or of the program, call malloc(), and are counted there (tr2p_malloc.h).  If the
 * program itself has no C++, the operators of libraries that it loads later are looked up at their first call.
 */
#ifndef TR2P_NEW_H
#define TR2P_NEW_H

/* As tr2p_malloc_profile(), which calls it. */
void tr2p_new_profile(int is_on);

#endif
