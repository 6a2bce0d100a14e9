/* SPDX-License-Identifier: MIT */
/* t2x_allowed.c - see t2x_allowed.h. */
#include "t2x_allowed.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Return  0: it is not known */
static int read_paranoid(int *value)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int n = file ? fscanf(file, "%d", value) : 0;

	if (file)
		fclose(file);
	return n == 1;
}

static int open_event(void)
{
	struct perf_event_attr what;

	memset(&what, 0, sizeof(what));
	what.size = sizeof(what);
	what.type = PERF_TYPE_SOFTWARE;
	what.config = PERF_COUNT_SW_TASK_CLOCK;
	what.sample_period = 1000000000;
	what.sample_type = PERF_SAMPLE_CALLCHAIN;
	what.exclude_user = 1;
	what.exclude_callchain_user = 1;
	what.write_backward = 1;
	return (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int t2x_allowed_kernel(char *why, size_t size)
{
	const int fd = open_event(), error = errno;
	int paranoid;

	if (fd >= 0) {
		close(fd);
		return 1;
	}
	if ((error == EACCES || error == EPERM) && read_paranoid(&paranoid) && paranoid > 1)
		snprintf(why, size, "perf_event_open: %s; /proc/sys/kernel/perf_event_paranoid is %d, 1 is needed, "
			 "or CAP_PERFMON", strerror(error), paranoid);
	else if (error == EACCES || error == EPERM)
		snprintf(why, size, "perf_event_open: %s, by a sandbox or a container perhaps", strerror(error));
	else
		snprintf(why, size, "perf_event_open: %s, this system does not have it", strerror(error));
	return 0;
}
