/* SPDX-License-Identifier: MIT */
/*
 * tr2_status.h - how tracing is in this process, for the control page: lines of "key: value".
 *
 * Keys that readers do not know are for people.  Thread  the consumer, whose
 * signals are masked, without the drain's lock, which these acquire
 */
#ifndef TR2_STATUS_H
#define TR2_STATUS_H

#include <stddef.h>
#include <stdint.h>

/* All lines.  What does not fit is cut off. */
void tr2_status_write(char *to, size_t size);

/* The file that the trace goes to, "" for none; the id of the stream. */
void tr2_status_file(char *path, size_t size);
uint32_t tr2_status_stream(void);

#endif
