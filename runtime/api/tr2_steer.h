/* SPDX-License-Identifier: MIT */
/*
 * tr2_steer.h - what the commands of the control page do: `t2 ctl`.
 *
 * The consumer thread calls in here whenever it is awake.  Each command is answered with what has happened or with one
 * error.  A command that needs a thread of the program, because only such a thread opens files, waits for its next call
 * for WAIT_MS; then the answer is that it happens later.  Each command is done, or refused, as a whole.
 *
 *   status               how tracing is: lines of "key: value"
 *   on [PATH [later]]    go on after `off`; in a dormant process begin the session, with the trace at PATH; with
 *                        `later` the answer does not wait until it has begun
 *   off                  switch the macros off and write what was recorded
 *   flush                write what was recorded: after the answer it is in the file
 *   rotate               go on in a new file
 *   snapshot [WHY]       a flight recorder writes what it has, and why
 *   trigger [SPEC|off]   what makes it do so by itself, in the place of what did so far (settings/tr2_rules.h)
 *   set KEY=VALUE...     change settings (tr2_env_change()); normal, perf, event =on, =off: a live text output
 *   profile LIST [MS]    start and stop profiles; after so many ms stop those that it has started
 *
 * Once the program has locked itself in (seccomp(2)), what makes new system calls is refused.
 */
#ifndef TR2_STEER_H
#define TR2_STEER_H

/*
 * Serve the page from now on.  A session that begins late begins with the `version` event of this text, and with the
 * command line as the kernel has it then.  Thread  before any other
 */
void tr2_steer_init(const char *version);

#endif
