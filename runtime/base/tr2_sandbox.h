/* SPDX-License-Identifier: MIT */
/*
 * tr2_sandbox.h - whether the program has locked itself in (seccomp(2)) since tracing began.
 *
 * From then on the kernel may end it for a call of ours that the program itself never makes: a new thread, a file.  Two
 * questions show it; sandboxes usually allow them.  A process that was in a sandbox when it began, as in a container,
 * can add another one only when it has given up new privileges; who has done that before, too, does not show it.
 */
#ifndef TR2_SANDBOX_H
#define TR2_SANDBOX_H

/* How it is now is how it should be.  Errno kept */
void tr2_sandbox_note(void);

/* 1: a sandbox may have begun since.  Signal safe    Errno kept    Cost  0.2 us */
int tr2_sandbox_has_begun(void);

/* 0: the answer of tr2_sandbox_has_begun() means nothing, for the process cannot be locked in any further. */
int tr2_sandbox_can_tell(void);

#endif
