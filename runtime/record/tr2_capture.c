/* SPDX-License-Identifier: MIT */
/* tr2_capture.c - what of an argument list is not in it. */
#include "tr2_capture.h"

#include <errno.h>

#include "base/tr2_text.h"

const char *tr2_capture_errno(char *to, size_t size)
{
	int saved = errno;
	const char *text = tr2_text_error_as_said(saved, to, size);

	errno = saved;
	return text;
}
