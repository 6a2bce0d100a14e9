/* SPDX-License-Identifier: MIT */
/*
 * tlg_lease.h - in which file systems a lease shows whether a process has a file mapped for writing.
 *
 * The kernel grants a read lease (fcntl(2), F_SETLEASE) only on a file that nobody has open or mapped for writing.  So
 * a lease on a ring file shows whether its process lives.  This does not work everywhere.  In an overlay, for example,
 * the process has mapped another file than the one on which the kernel grants the lease.
 */
#ifndef TLG_LEASE_H
#define TLG_LEASE_H

#include <linux/magic.h>
#include <sys/vfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* 1: in this file system a lease shows it. */
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
