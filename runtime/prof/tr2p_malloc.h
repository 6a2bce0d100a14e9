/* SPDX-License-Identifier: MIT */
/*
 * tr2p_malloc.h - intercepts malloc() and functions like it.
 *
 * The functions that the program calls forward to the next definition behind this library, be it libc's or that of
 * jemalloc or tcmalloc, by a pointer each.  With a heap profile that pointer leads to a function which counts down to
 * the next sample first.  So a call costs a load and a jump while the profile is off.
 *
 * strdup(), asprintf(), getline() and so on call malloc(), and so do libstdc++'s and libc++'s operators new and delete:
 * they are counted there.  tr2p_new.h intercepts other operators.  mmap(), sbrk(), an allocator's own functions, as
 * mallocx(), and malloc() of a program that has one in itself are not counted.
 */
#ifndef TR2P_MALLOC_H
#define TR2P_MALLOC_H

/*
 * Have allocations counted, or no longer.  free() looks for what was sampled, from the first time on for good.
 * Thread  any    Signal unsafe
 */
void tr2p_malloc_profile(int is_on);

#endif
