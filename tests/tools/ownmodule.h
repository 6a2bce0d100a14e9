/* SPDX-License-Identifier: MIT */
/* ownmodule.h - for tests: the test program itself as the module of a trace, so that its functions have names. */
#ifndef OWNMODULE_H
#define OWNMODULE_H

#include <stdint.h>

#include "symbols/t2x_symbols.h"

/* Describe the segment of this program that has the address; the strings stay valid.  Return  0: none has it */
int own_module(uintptr_t address, struct t2x_module *module);

#endif
