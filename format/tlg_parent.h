/* SPDX-License-Identifier: MIT */
/*
 * tlg_parent.h - whether the session of GIT_TRACE2_PARENT_SID belongs to the same process.
 *
 * The last component of a session id ends with "-P" and the process id in hexadecimal digits.  If a process finds its
 * own id there, it was another traced program before, which called exec(2): exec does not change the process id.
 */
#ifndef TLG_PARENT_H
#define TLG_PARENT_H

#include <string.h>
#include <sys/types.h>

/* 1: this session (NULL: none) belongs to the process.  Signal safe */
static inline int tlg_parent_is(const char *session, pid_t process)
{
	const char *last = session ? strrchr(session, 'P') : NULL;
	unsigned long id = 0;

	while (last && *++last) {
		if (!memchr("0123456789abcdef", *last, 16))
			return 0;
		id = id << 4 | (unsigned long)(*last <= '9' ? *last - '0' : *last - 'a' + 10);
	}
	return last && id == (unsigned long)process;
}

#endif
