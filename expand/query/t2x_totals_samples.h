/* SPDX-License-Identifier: MIT */
/* t2x_totals_samples.h - what the samples of profiles add up to. */
#ifndef T2X_TOTALS_SAMPLES_H
#define T2X_TOTALS_SAMPLES_H

#include "t2x_totals.h"

void t2x_totals_take_sample(struct t2x_printer *printer, const struct t2x_event *ev);

#endif
