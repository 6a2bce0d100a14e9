/* SPDX-License-Identifier: MIT */
/*
 * tlg_lease.h - where a lease tells whether anybody has a file mapped for writing.
 *
 * The kernel grants a read lease (fcntl(2), F_SETLEASE) of a file that nobody has open or mapped for writing.  So it is
 * known of a ring file whether its process lives.  In an overlay, say, it is another file that is mapped: the kernel
 * grants a lease of this one, which says nothing.
 */
#ifndef TLG_LEASE_H
#define TLG_LEASE_H

#include <linux/magic.h>
#include <sys/vfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* 1: in this file system a lease tells it. */
static inline int tlg_lease_tells(const struct statfs *system)
{
	switch ((unsigned long)system->f_type) {
	case TMPFS_MAGIC:
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
		return 1;
	default:
		return 0;
	}
}

#endif
