/* SPDX-License-Identifier: MIT */
/* t2x_symbolize.h - debug/pprof/symbol: what addresses of a process that runs are called, as Go's page says it. */
#ifndef T2X_SYMBOLIZE_H
#define T2X_SYMBOLIZE_H

#include "t2x_http.h"

enum { T2X_SYMBOLIZE_ADDRESSES = 4096 };

/* The addresses are in the query of a GET, in the body of a POST: 0x1234+0x5678 */
void t2x_symbolize_answer(const struct t2x_http_call *call, const struct t2x_traced *traced, struct t2x_reply *reply);

#endif
