#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: terminal.py STREAMS COMMAND...

Run a command whose STREAMS, any of 0, 1 and 2, are one pseudo-terminal of 24 x 80 that changes nothing; the others are
inherited.  What arrives at the terminal goes to stdout.  KEYS, a variable, is typed when something has arrived.  Exit
status: the command's; 128 + the signal that ended it.
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

streams, command, keys = sys.argv[1], sys.argv[2:], os.environ.pop("KEYS", "").encode()
master, slave = pty.openpty()
attributes = termios.tcgetattr(slave)
attributes[1] = 0                     # no newlines turned into CR LF
termios.tcsetattr(slave, termios.TCSANOW, attributes)
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))


def own_terminal():
    """The terminal is /dev/tty, too: that is where a pager reads keys."""
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


where = {name: slave for name, digit in (("stdin", "0"), ("stdout", "1"), ("stderr", "2")) if digit in streams}
child = subprocess.Popen(command, start_new_session=True, preexec_fn=own_terminal, restore_signals=True, **where)
os.close(slave)
while True:
    try:
        part = os.read(master, 65536)
    except OSError:
        break
    if not part:
        break
    sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
    if keys:
        os.write(master, keys)
        keys = b""
status = child.wait()
sys.exit(status if status >= 0 else 128 - status)
