/* SPDX-License-Identifier: MIT */
/*
 * tr2p_filter.h - what a seccomp(2) filter would do to the profiler.
 *
 * A filter is a program of classic BPF, which the kernel runs for each system call.  The profiler runs it beforehand,
 * for the calls that it and libtrace2 make, with arguments that are all 0.  A filter may answer differently for other
 * arguments.  But a filter that ends the process does so for most of these calls, whatever their arguments.
 */
#ifndef TR2P_FILTER_H
#define TR2P_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/* The filter's answer, SECCOMP_RET_...; SECCOMP_RET_KILL_PROCESS if the kernel would not accept the filter. */
uint32_t tr2p_filter_run(const struct sock_fprog *filter, const struct seccomp_data *call);

/* 1: the filter allows each of our calls, or refuses it by an error number.  0: it ends or interrupts the process. */
int tr2p_filter_is_harmless(const struct sock_fprog *filter);

#endif
