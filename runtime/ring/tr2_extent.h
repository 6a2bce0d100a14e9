/* SPDX-License-Identifier: MIT */
/*
 * tr2_extent.h - a part of the ring file's mapping that grows where it is.
 *
 * The file is sparse and long, 8 GiB as a rule, and what is mapped of it counts against RLIMIT_AS.  So only its
 * beginning is mapped, and more when more is used.  Nothing holds the addresses behind it: if the program has mapped
 * something there, or has set a limit, the extent stays as it is, and checkpoints that find no memory are counted as
 * dropped.  If there is no place with free addresses behind it, the whole
 * file is mapped at the start, and unused parts are inaccessible.
 */
#ifndef TR2_EXTENT_H
#define TR2_EXTENT_H

#include <stddef.h>

struct tr2_extent {
	unsigned char *begin, *limit;     /* what it may take */
	unsigned char *end;               /* mapped and accessible up to here */
	size_t step;                      /* end is rounded up to a multiple of this from begin, or to limit */
	int is_mapped;                    /* up to limit, but not accessible from end on */
};

/*
 * Make the extent accessible up to there, which is no more than limit.
 * A locked mapping (mlockall(2)) takes memory for a whole step: so steps are small.
 * Return  0 or -errno    Thread  any    Signal safe    Errno kept    Cost  a load; for each step about 2 us
 */
int tr2_extent_reach(struct tr2_extent *extent, const unsigned char *to);

/* How much of it is accessible.  The caller ensures that it does not grow meanwhile. */
size_t tr2_extent_bytes(const struct tr2_extent *extent);

/* In a forked child: another thread of the parent may have been growing one.  Thread  alone */
void tr2_extent_forked(void);

#endif
