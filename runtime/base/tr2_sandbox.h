/* SPDX-License-Identifier: MIT */
/*
 * tr2_sandbox.h - whether the program has locked itself in (seccomp(2)) since tracing began.
 *
 * From then on the kernel may end the process for a system call that only the library makes: to create a thread, to
 * open a file.  Two questions to prctl(2) show it, and sandboxes usually allow these.  A process that begins in a
 * sandbox, as in a container, can add another one only after it has given up new privileges.  If it had done both
 * before it began, nothing shows a further sandbox.
 */
#ifndef TR2_SANDBOX_H
#define TR2_SANDBOX_H

/* Note the present state: later changes count as a sandbox.  Errno kept */
void tr2_sandbox_note(void);

/* 1: a sandbox may have begun since.  Signal safe    Errno kept    Cost  0.2 us */
int tr2_sandbox_has_begun(void);

/* 0: the answer of tr2_sandbox_has_begun() means nothing, for the process cannot be locked in any further. */
int tr2_sandbox_can_tell(void);

#endif
