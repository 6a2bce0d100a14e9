/* SPDX-License-Identifier: MIT */
#include "ringfile.h"

#include "base/tr2_clock.h"
#include "ring/tr2_shm.h"

int ringfile_create(void **state)
{
	(void)state;
	tr2_clock_init();
	return tr2_shm_create(1);
}

int ringfile_remove(void **state)
{
	(void)state;
	tr2_shm_unlink();
	return 0;
}
