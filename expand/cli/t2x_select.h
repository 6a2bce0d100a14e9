/* SPDX-License-Identifier: MIT */
/*
 * t2x_select.h - which of the ring files that are found are wanted.
 */
#ifndef T2X_SELECT_H
#define T2X_SELECT_H

#include "t2x_options.h"
#include "recover/t2x_ring.h"

/* By process id and age, which the head of the ring file tells.  Return  1: it is wanted */
int t2x_select_ring(const struct t2x_selection *select, const struct t2x_ring *ring);

/*
 * By the program that the start event of the process names: in its .tlg file, or still in its ring file.  has_file  1:
 * the .tlg file is there.  Reads until the event has come.
 * Return  1: it is wanted; 0: not, or there is no such event; -ENOMEM
 */
int t2x_select_program(const struct t2x_selection *select, const struct t2x_ring *ring, int has_file);

#endif
