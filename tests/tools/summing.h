/* SPDX-License-Identifier: MIT */
/*
 * summing.h - for the tests of totals: regions of category "c" that a test feeds, and their summary as csv.
 */
#ifndef SUMMING_H
#define SUMMING_H

#include "feed.h"
#include "text/t2x_formats.h"

#define SUMMING_HEAD "kind,process,thread,category,label,count,total,self,mean,min,p50,p90,p99,max,first,last," \
		     "unknown,self_unknown,open,failed,mismatched,waited,lived,value\n"

/* The options of the summary, which is printed at the end of the feed; until then a test may change them. */
extern const char *summing_values[T2X_OPTIONS];

/* Open the feed of a summary as csv.  by  as in --by=; NULL: the rows are not divided */
void summing_open(struct feed *feed, const char *by);

/* A region is entered or left at us.  message  NULL: it has none */
void summing_region(struct feed *feed, int style, const char *label, const char *message, uint64_t us);

#define enter(feed, label, us) summing_region(feed, TLG_STYLE_region_enter, label, NULL, us)
#define enter_with(feed, label, message, us) summing_region(feed, TLG_STYLE_region_enter, label, message, us)
#define leave(feed, label, us) summing_region(feed, TLG_STYLE_region_leave, label, NULL, us)

#endif
