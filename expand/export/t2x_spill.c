/* SPDX-License-Identifier: MIT */
/* t2x_spill.c - see t2x_spill.h. */
#include "t2x_spill.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/t2x_out.h"
#include "base/t2x_temporary.h"

static int open_file(struct t2x_spill *spill)
{
	if (!spill->is_open) {
		spill->fd = t2x_temporary_open();
		spill->is_open = spill->fd >= 0;
	}
	return spill->is_open;
}

int t2x_spill_put(struct t2x_spill *spill, const void *bytes, size_t n, uint64_t *at)
{
	if (spill->is_off || !open_file(spill) || t2x_out_write_all(spill->fd, bytes, n)) {
		spill->is_off = 1;
		return 0;
	}
	*at = spill->end;
	spill->end += n;
	return 1;
}

static const unsigned char *fail(struct t2x_spill *spill, int error)
{
	spill->error = error;
	return NULL;
}

const unsigned char *t2x_spill_get(struct t2x_spill *spill, uint64_t at, size_t n)
{
	size_t done = 0;

	if (n > spill->max) {
		free(spill->piece);
		spill->piece = malloc(n);
		spill->max = spill->piece ? n : 0;
		if (!spill->piece)
			return fail(spill, ENOMEM);
	}
	while (done < n) {
		ssize_t now = pread(spill->fd, spill->piece + done, n - done, (off_t)(at + done));
		if (!now || (now < 0 && errno != EINTR))
			return fail(spill, now ? errno : EIO);
		done += now > 0 ? (size_t)now : 0;
	}
	return spill->piece;
}

void t2x_spill_free(struct t2x_spill *spill)
{
	if (spill->is_open)
		close(spill->fd);
	free(spill->piece);
	*spill = (struct t2x_spill){ 0 };
}
