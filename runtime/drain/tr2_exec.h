/* SPDX-License-Identifier: MIT */
/*
 * tr2_exec.h - the ring file around exec(): see ring/tr2_detach.h.
 *
 * Only a process that is alone may do it: the calling thread and the drain's are the only ones, and nobody else
 * shares its memory.
 */
#ifndef TR2_EXEC_H
#define TR2_EXEC_H

/*
 * The program is about to execute another one, and has flushed.  If all is written, the ring file loses its name, and
 * the next call that records calls tr2_exec_failed().
 * Blocks  at most 10 ms    Signal safe    Errno kept    Cost  40 us
 */
void tr2_exec_begin(void);

/*
 * The program goes on: the ring file has a name again, before anything is recorded in it.  If that fails, what is
 * recorded from here on is lost when the process is killed.
 * Blocks  as tr2_drain_flush()    Signals masked    Errno kept
 */
void tr2_exec_failed(void);

#endif
