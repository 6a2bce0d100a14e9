/* SPDX-License-Identifier: MIT */
/*
 * t2x_xml.h - the events of a file as they are, one XML element each, in the order of the file:
 * StackTrack's listing.
 *
 * Attributes are flags, pid and seq, then the members.  Points in time are seconds since the process began
 * (PROCINFO.start; in StackTrack's files TIMEINFO.start_hires) with 9 decimals (StackTrack's: 6), or the
 * raw reading as long as the clock is not known; a reading of 0 is 0.  There is no root element.
 */
#ifndef T2X_XML_H
#define T2X_XML_H

#include "base/t2x_out.h"
#include "read/t2x_blocks.h"

struct t2x_xml {
	struct t2x_out *out;
	struct t2x_map clocks;           /* by stream */
};

/* Append the block's events, BLOCK included. */
void t2x_xml_block(struct t2x_xml *xml, const struct t2x_block *block);

void t2x_xml_free(struct t2x_xml *xml);

#endif
