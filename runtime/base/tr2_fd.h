/* SPDX-License-Identifier: MIT */
/*
 * tr2_fd.h - descriptors that stay ours in somebody else's program.
 *
 * A program may close any descriptor, and open files of its own that get the same number: to write there, truncate or
 * close it would damage these.  So a descriptor is used only while it still is the same file.  And the program's own
 * descriptors get the numbers that they would get without us.
 */
#ifndef TR2_FD_H
#define TR2_FD_H

#include <stddef.h>
#include <stdint.h>

struct tr2_fd_identity {
	uint64_t device, inode;
};

/* The same file under a number that programs do not count on; fd is closed then.  -1 stays -1.  Errno kept */
int tr2_fd_move_away(int fd);

/*
 * A copy of a descriptor of the program's, under such a number, if it is one of a regular file: what the program does
 * with its own then cannot lead to another file between our look at it and our write.  Else, or if there is no room, fd
 * itself: a pipe has its end when all copies are closed, and somebody may wait for that.  Errno kept
 */
int tr2_fd_copy_of_file(int fd);

/*
 * Open a file for appending, under such a number.  A FIFO that nobody reads is an error, and one that is full gives
 * EAGAIN: neither is a reason to wait.
 * create  O_CREAT or 0    Return  -1: see errno
 */
int tr2_fd_append(const char *path, int create);

/*
 * The same of what is a regular file, or is made: also for reading, if that is allowed, so that its beginning can be
 * read without opening it again.  Nothing is taken for granted: it may be something else by now.
 * st  what it is
 */
struct stat;
int tr2_fd_append_file(const char *path, struct stat *st);

/*
 * From here on the calling thread is the library's own: it opens nothing, for whatever it opens has the lowest free
 * number at first, and the program may count on that: close(1), then open().  tr2_fd_may_open() is 0 in it.
 */
void tr2_fd_open_no_more(void);
int tr2_fd_may_open(void);

/* Which file it is; of a descriptor that is not open: none. */
struct tr2_fd_identity tr2_fd_identify(int fd);

/* 1 if fd is that file.  Errno kept.  Cost  0.2 us */
int tr2_fd_is(int fd, const struct tr2_fd_identity *identity);

/*
 * The first n bytes of a regular file, whatever fd is open for.
 * path    of the file, as far as known: there may be another one by now; "": not known
 * Return  0: it has fewer, or they cannot be read
 */
int tr2_fd_begin(int fd, const char *path, unsigned char *bytes, size_t n);

#endif
