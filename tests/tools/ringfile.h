/* SPDX-License-Identifier: MIT */
/* ringfile.h - cmocka's set-up and teardown for unit tests of the process's ring file. */
#ifndef RINGFILE_H
#define RINGFILE_H

/* Start the clock, and create the ring file of stream 1.  Return  0; -1 */
int ringfile_create(void **state);

int ringfile_remove(void **state);

#endif
