/* SPDX-License-Identifier: MIT */
/*
 * tr2_fd.h - descriptors that stay ours in somebody else's program.
 *
 * A program may close any descriptor, and a file that it opens then may get the same number.  If the library wrote to
 * that number, it would damage the program's file.  So the library checks that a descriptor is still the same file
 * before each use.  It also keeps off low numbers, so that the program's descriptors get the numbers that they would
 * get without us.
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
 * Copy a descriptor of the program, if it is a regular file's, to such a number.  Then the program may close its own
 * between our check and our write, and we still write to the same file.  Other descriptors are not copied: the reader
 * of a pipe waits until all copies are closed.
 * Return  the copy; fd itself: it was not copied    Errno kept
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
 * The calling thread is the library's own, and opens no files from here on: tr2_fd_may_open() is 0 in it.  Each new
 * descriptor first gets the lowest free number, and the program may count on that number: close(1), then open().
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
