/* SPDX-License-Identifier: MIT */
/* ringfile.h - set-up and teardown of unit tests of what lies in the process's ring file, as cmocka calls them. */
#ifndef RINGFILE_H
#define RINGFILE_H

/* Start the clock, and create the ring file of stream 1.  Return  0; -1 */
int ringfile_create(void **state);

int ringfile_remove(void **state);

#endif
