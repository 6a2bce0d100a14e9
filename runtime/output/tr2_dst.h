/* SPDX-License-Identifier: MIT */
/*
 * tr2_dst.h - where the stream goes: a file, a file in a directory, an open descriptor, a unix socket.
 *
 * It knows neither rings nor events.  A destination never raises a signal in the program.
 *
 * A write waits for a socket's peer or a FIFO's reader as long as that accepts data, from any process.  If the peer
 * accepts nothing, the write waits for one second, and later writes do not wait until one has succeeded.  A write to a
 * full disk waits for 10 ms.  (A pipe given as a descriptor may block without bound: only the consumer thread waits
 * there, and a program at its exit, as with git's own targets.)
 */
#ifndef TR2_DST_H
#define TR2_DST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/tr2_fd.h"

enum tr2_dst_kind { TR2_DST_OFF, TR2_DST_FD, TR2_DST_FILE, TR2_DST_DIRECTORY, TR2_DST_STREAM, TR2_DST_DGRAM };

struct tr2_dst {
	enum tr2_dst_kind kind;
	int fd;
	int given;                /* TR2_DST_FD: the program's own descriptor; fd is that, or a copy of it */
	struct tr2_fd_identity identity;   /* of what was opened: the program may have closed it since */
	int own;                  /* 1: it was new, and nobody else was given it */
	int is_regular;           /* 1: a regular file, by its path */
	int is_alone;             /* 1: nobody else has written to it since: it may be cut back */
	unsigned rotation;        /* number in the name; 0: none */
	int is_stuck;             /* 1: the last write has failed: the next one does not wait */
	int is_gone;              /* 1: the program has closed it, and it is not where it was: writes fail */
	int is_missing;           /* 1: a regular file that the program has closed, and may not open again now */
	int is_sentinel;          /* 1: this file shows other processes that the directory has too many */
	off_t limit;              /* bytes that the file may have, as far as that is known; 0: it is not */
	size_t room;              /* the caller's: bytes that its writes have to leave below that */
	off_t good;               /* bytes that it had when it was opened, and of whole frames since */
	char variable[64];        /* that named it, if its first failing write is to be reported; else "" */
	char path[4096];          /* of the file, without rotation number; of the socket */
};

struct tr2_dst_rules {
	unsigned max_files;       /* at which a directory is full; 0: never */
	int debug;                /* 1: say on stderr why a destination stays off */
	int is_git_s;             /* 1: a value that means nothing is always reported, in git's words */
	int is_for_terminal;      /* 1: debug, if stderr is a terminal that takes a line now */
};

/* 1 if it is off, or a regular file that was named by its path. */
static inline int tr2_dst_is_file(const struct tr2_dst *dst)
{
	return dst->kind == TR2_DST_OFF || dst->is_regular;
}

/* 1 if the value switches a target off: NULL, "", "0", "false". */
int tr2_dst_is_off(const char *value);

/*
 * Open the destination that value names, as git does: "0", "false" or NULL off; "1", "true" descriptor 2;
 * "2".."9"; an absolute path; "af_unix:[stream:|dgram:]PATH".
 * A full directory gets one last file, "git-trace2-discard"; as long as that exists, nothing more.
 * variable  for messages    name  of the file in a directory, with its suffix
 * Return  0, or -1: it stays off
 * Signal unsafe
 */
int tr2_dst_open(struct tr2_dst *dst, const char *variable, const char *value, const char *name,
		 const struct tr2_dst_rules *rules);

/*
 * In a forked child: go on in the file that the parent has opened, as git's children do, without a look at the settings
 * or at the number of files.  A stream socket is connected anew: on a shared one the data of two processes would mix.
 * Return  0, or -1: it is off now
 */
int tr2_dst_inherit(struct tr2_dst *dst);

/*
 * Open the file that comes after dst's: "x.tlg", "x.1.tlg", "x.2.tlg", ...  For descriptors and sockets next is dst.
 * A directory's last file has none after it.  max_files does not count here: a process that has begun goes on.
 * Return  0, next is open and dst still is; or -errno
 */
int tr2_dst_open_next(const struct tr2_dst *dst, struct tr2_dst *next);

/* 1: a write would not wait before it begins. */
int tr2_dst_takes_now(const struct tr2_dst *dst);

/*
 * Write all bytes.  On failure truncate the file to where it was, if that is possible.
 *
 * One write(2) has all bytes, so that what other processes append to the same file stands in front of them or behind.
 * When a disk is just full the kernel may accept a part.  A second write has the rest, and the data of another process
 * may then stand between.  Only a file that has grown by our own bytes alone is truncated.  Once another process has
 * appended to it, its end may be theirs: then a torn block stays, and readers skip it.
 *
 * Under a known limit of the file's size (RLIMIT_FSIZE), a write that would leave less than dst->room fails with -EFBIG
 * without a system call: the kernel would write a part, and the end of the trace would find no room.
 * stored  so many bytes, from the first on, are in the file, also on failure; NULL: the caller does not ask
 * Return  0 or -errno (-EAGAIN, -ENOBUFS: the peer takes nothing), after a bounded wait; the first time with one line
 *         on stderr, if rules.debug asked for that    Errno kept    File  tr2_dst_write.c
 */
int tr2_dst_write(struct tr2_dst *dst, const void *data, size_t bytes, size_t *stored);

/*
 * The program may close our descriptor, as daemons do.  A thread of the program then opens the file again; the
 * library's own thread does not (tr2_fd.h).  Errno kept    File  tr2_dst_write.c
 *
 * tr2_dst_lacks_file()  1: it is to be opened again by a thread of the program, before more is written.  Cost  0.2 us
 * tr2_dst_open_again()  do that, if need be.  If that fails, is_missing is set if the file may be there: the program
 *                       may be another user, for a time; else is_gone
 */
int tr2_dst_lacks_file(const struct tr2_dst *dst);
void tr2_dst_open_again(struct tr2_dst *dst);

/* The limit of file sizes at this moment, which the program may change; 0: there is none.  File  tr2_dst_write.c */
off_t tr2_dst_find_limit(void);

/* Path and identity of the open file.  Return  0; -ENAMETOOLONG; -EBADF: it is not a file */
int tr2_dst_file(const struct tr2_dst *dst, char *path, size_t size, uint64_t *device, uint64_t *inode);

void tr2_dst_close(struct tr2_dst *dst);

#endif
