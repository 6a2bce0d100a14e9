/* SPDX-License-Identifier: MIT */
/*
 * tr2p_filter.h - what a seccomp(2) filter would do to the profiler.
 *
 * A filter is a program of classic BPF, which the kernel runs for each system call.  We run it beforehand, for the
 * calls that we and libtrace2 make, with arguments that are all 0.  A filter that decides by arguments may answer
 * otherwise for others; filters that end a process end it for most of our calls, whatever the arguments.
 */
#ifndef TR2P_FILTER_H
#define TR2P_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/* What the filter answers, SECCOMP_RET_...; of a program that the kernel would not take SECCOMP_RET_KILL_PROCESS. */
uint32_t tr2p_filter_run(const struct sock_fprog *filter, const struct seccomp_data *call);

/* 1: it lets or refuses, with an error number, all calls that we make; it ends or interrupts no process for one. */
int tr2p_filter_is_harmless(const struct sock_fprog *filter);

#endif
