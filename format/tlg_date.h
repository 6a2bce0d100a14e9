/* SPDX-License-Identifier: MIT */
/*
 * tlg_date.h - calculates the Gregorian date of a day.
 *
 * gmtime_r() would first read the time zone's file.  In the traced program the drain's thread would do that, on
 * whatever descriptor is free then, and it would take 10 us.
 */
#ifndef TLG_DATE_H
#define TLG_DATE_H

#include <stdint.h>

struct tlg_date {
	unsigned year, month, day;        /* month and day from 1 */
};

/*
 * The date of a day, counted from 1970-01-01.  The calculation uses years that begin in March, so that a leap day is
 * the last day of its year.
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
