/* SPDX-License-Identifier: MIT */
/* tr2_capture.c - what of an argument list is not in it. */
#include "tr2_capture.h"

#include <errno.h>

const char *tr2_capture_errno(char *to, size_t size)
{
	int saved = errno;
	const char *text = strerror_r(saved, to, size);

	errno = saved;
	return text;
}
