/* SPDX-License-Identifier: MIT */
/*
 * tr2_sink.h - writes a buffer of blocks to the raw target, compressed or not, and to the live text outputs.
 *
 * It knows neither rings nor the content of a block.
 *
 * Thread  the holder of the drain's lock; tr2_sink_open() any
 */
#ifndef TR2_SINK_H
#define TR2_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "tlg.h"

/* 1 if the settings switch any target on, judged by their values: opening a target may still fail. */
int tr2_sink_is_wanted(void);

/*
 * Open what the settings name.  name: of a file in a directory, without suffix.
 * Return  0, or -1: nothing is switched on.  Signal unsafe
 */
int tr2_sink_open(const char *name);

/*
 * Open a raw target whose path comes from elsewhere, and no text outputs: nothing is read from the environment, and
 * nothing allocated.  Return  0 or -errno    Signal safe
 */
int tr2_sink_open_late(const char *name, const char *path);

/* In a forked child: go on in what the parent has opened.  Return  0, or -1: nothing is on */
int tr2_sink_inherit(void);

/*
 * 1: the event `too_many_files` belongs into the trace.  As in git, each target counts its own files, and only the
 * event target reports this; without an event target the raw target does.
 */
int tr2_sink_is_sentinel(void);

/* Allocate what writing needs.  0 or -errno.  Signal unsafe */
int tr2_sink_init(void);

/* What comes next is a new stream. */
void tr2_sink_begin_stream(uint32_t stream);

/* The file that the stream goes to: its path, "" for none or one of size bytes and more; which one it is. */
void tr2_sink_file(char *path, size_t size, uint64_t *device, uint64_t *inode);

/*
 * Write whole blocks, bytes of them, and give them checksums.
 * room        bytes to be left below a limit of the file's size, see tr2_dst_write()
 * is_fast     1: fast mode, for rings that are filling up
 * stored      bytes of the blocks that are written: all, or those in front of the first failure
 * Return      0 or -errno: the other blocks are lost
 */
int tr2_sink_write(struct tlg_event *blocks, size_t bytes, size_t room, int is_fast, size_t *stored);

/*
 * tr2_sink_open_next()  open the file after the present one, but not in the library's own thread (tr2_fd.h).  0 or
 * -errno
 * tr2_sink_has_next()   1: that is done
 * tr2_sink_go_on()      write to that file from here on; without it do nothing
 */
int tr2_sink_open_next(void);
int tr2_sink_has_next(void);
void tr2_sink_go_on(void);

/* 0: the raw target's peer accepts nothing just now: a write would block.  Signal safe */
int tr2_sink_takes_now(void);

/*
 * The program has closed files of ours.
 * tr2_sink_lacks_files()  1: a thread of the program has to open them again before the next write (tr2_dst.h)
 * tr2_sink_open_again()   do that.  Return  0: the raw target cannot be opened now.  What is in the rings stays there
 *                         until it can, for readers have the ring file.  With texts, and of a flight recorder, the raw
 *                         target is given up instead
 * tr2_sink_give_up()      the raw target is given up: writes to it fail, until tr2_sink_go_on()
 */
int tr2_sink_lacks_files(void);
int tr2_sink_open_again(void);
void tr2_sink_give_up(void);

/* 1 if there are live text outputs: somebody may look on, and writing takes more stack than a handler may have. */
int tr2_sink_has_texts(void);

/* 1 if all targets that are on are files: a write waits for no peer, and no peer waits for a write. */
int tr2_sink_has_only_files(void);

/* Write what is left of the texts, and close all targets. */
void tr2_sink_close(void);

/* Close the text outputs without writing, which the caller cannot do here.  The raw target stays open. */
void tr2_sink_drop_texts(void);

/* Close all targets without writing. */
void tr2_sink_reset(void);

#endif
