/* SPDX-License-Identifier: MIT */
/*
 * tlg_date.h - the Gregorian date of a day, computed here.
 *
 * gmtime_r() first reads the time zone's file: on whatever descriptor is free then, in the traced program, from the
 * drain's thread; and for 10 us, which a process in UTC need not pay at all.
 */
#ifndef TLG_DATE_H
#define TLG_DATE_H

#include <stdint.h>

struct tlg_date {
	unsigned year, month, day;        /* month and day from 1 */
};

/*
 * The date of a day since 1970-01-01, not before it.  Years begin in March here, so that the leap day is a year's last.
 */
static inline struct tlg_date tlg_date_of(uint32_t days)
{
	uint64_t since = (uint64_t)days + 719468;      /* since 0000-03-01 */
	unsigned era = (unsigned)(since / 146097);     /* of 400 years */
	unsigned of_era = (unsigned)(since % 146097);
	unsigned of_400 = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * of_400 + of_400 / 4 - of_400 / 100);
	unsigned march = (5 * of_year + 2) / 153;      /* months since March */
	unsigned month = march < 10 ? march + 3 : march - 9;

	return (struct tlg_date){
		.year = era * 400 + of_400 + (month <= 2), .month = month, .day = of_year - (153 * march + 2) / 5 + 1,
	};
}

#endif
