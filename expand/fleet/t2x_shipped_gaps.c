/* SPDX-License-Identifier: MIT */
/* t2x_shipped_gaps.c - see t2x_shipped.h. */
#include "t2x_shipped.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/t2x_out.h"

static int open_gaps(const struct t2x_shipped *shipped, int flags)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/.t2-ship-gaps", shipped->directory) >= (int)sizeof(path))
		return -1;
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0640);
}

int t2x_shipped_gaps_load(struct t2x_shipped *shipped)
{
	unsigned char bytes[T2X_ENVELOPE_BYTES];
	struct t2x_envelope gap;
	int fd = open_gaps(shipped, O_RDONLY), error = 0;

	if (fd < 0)
		return 0;
	while (!error && read(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes)) {
		if (t2x_envelope_read(&gap, bytes, sizeof(bytes)) || gap.reason == T2X_GAP_NONE)
			continue;
		error = t2x_outbox_add(&shipped->outbox, &gap, bytes, sizeof(bytes));
		shipped->gaps++;
	}
	close(fd);
	return error;
}

int t2x_shipped_gaps_add(struct t2x_shipped *shipped, const struct t2x_shipped_stream *streams)
{
	int fd = open_gaps(shipped, O_WRONLY | O_CREAT | O_APPEND), error = fd < 0 ? errno : 0;

	for (; streams && !error; streams = streams->next) {
		unsigned char bytes[T2X_ENVELOPE_BYTES];
		struct t2x_envelope gap = streams->head;

		if (!gap.blocks)
			continue;
		gap.reason = T2X_GAP_QUOTA;
		gap.previous = streams->receipted;
		gap.first = streams->receipted + 1;
		gap.last = streams->last;
		t2x_envelope_write(&gap, bytes);
		error = t2x_out_write_all(fd, (const char *)bytes, sizeof(bytes));
		if (!error)
			error = t2x_outbox_add(&shipped->outbox, &gap, bytes, sizeof(bytes));
		shipped->gaps += !error;
	}
	if (!error && fsync(fd))
		error = errno;
	if (fd >= 0)
		close(fd);
	return !error;
}

void t2x_shipped_gaps_receipt(struct t2x_shipped *shipped, const struct t2x_receipt *receipt)
{
	int fd;

	(void)receipt;
	if (!shipped->gaps)
		return;
	for (const struct t2x_outgoing *message = shipped->outbox.first; message; message = message->next)
		if (message->head.reason != T2X_GAP_NONE)
			return;
	fd = open_gaps(shipped, O_WRONLY | O_TRUNC);
	if (fd >= 0)
		close(fd);
	shipped->gaps = 0;
}
