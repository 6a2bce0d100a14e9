#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Join a recorded stream at every cycle, and at every event of one of them, and compare with the whole.

usage: resync.py T2EXPAND FILE        FILE: a plain .tlg of one process with four cycles or more

From the next cycle on, the perf text must be the whole's, indentation included; what comes before may
be unresolved, checkpoint or thread ("?"), but what is named must be in the whole under that name.  A region that was
entered in front of the cut and is open there is shown as entered, but for its message, which is in front of the cut.
Lines that tell of enters that are missing are right there, too.
Times are masked: a reader that joined late has another pair of the raw clock and the calendar.  Ends with 'N passed,
N failed'.
"""
import collections
import re
import struct
import subprocess
import sys
import tempfile

TIMES = re.compile(r"^\d\d:\d\d:\d\d\.\d{6}|\b\d+\.\d{6}\b")
MISSING = re.compile(r"\| trace2 +\| \.*lost-(events|leaves|enters):")
CYCLE, PROCESS = 9, 0xFFFFFFFF


def expand(program, data):
    with tempfile.NamedTemporaryFile(suffix=".tlg") as f:
        f.write(data)
        f.flush()
        run = subprocess.run([program, f.name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [TIMES.sub("T", line) for line in run.stdout.decode().split("\n")[:-1]]


def name_only(line):
    """A line without what a reader cannot know that joined inside a region: indentation, elapsed time."""
    columns = line.split(" | ")
    if len(columns) < 9:
        return line
    columns[6] = ""
    columns[8] = columns[8].lstrip(".")
    return " | ".join(columns)


def nameless(line):
    """The same of a thread whose THREAD was in front of the cut."""
    columns = name_only(line).split(" | ")
    if len(columns) >= 9:
        columns[2] = "?".ljust(24)
    return " | ".join(columns)


def cycle_starts(data):
    """Offsets of the blocks that hold a CYCLE; these are never packed."""
    starts, block = [], 0
    while block < len(data):
        end = block + 24 * (struct.unpack_from("<H", data, block + 22)[0] + 1)
        if struct.unpack_from("<I", data, block + 16)[0] == PROCESS and CYCLE in data[block:end:24]:
            starts.append(block)
        block = end
    return starts


class Whole:
    """The lines of the whole file, and what those of a reader that joined late may look like."""

    def __init__(self, lines):
        self.lines = collections.Counter(lines)
        self.named = set(map(name_only, lines)) | set(map(nameless, lines))
        self.enters = {line for line in lines if " | region_enter | " in line}

    def is_repeated(self, line):
        """A region that was open at the cut: the beginning of the line with which it was entered."""
        return line not in self.enters and any(enter.startswith(line) for enter in self.enters)

    def foreign(self, joined):
        """Lines of one that begins with a cycle that are not the whole's."""
        return [line for line in joined - self.lines if not self.is_repeated(line)]

    def misnamed(self, before):
        """Lines in front of the first cycle that name what is not in the whole."""
        return [line for line in before if " unresolved " not in line and name_only(line) not in self.named and
                not self.is_repeated(line) and not MISSING.search(line)]

    def missing(self, later, joined):
        """Lines of a reader that begins later which are not there.  That one shows a region that is open as entered;
        who has seen the enter, of a thread whose name is in front of the cut, does not show it again."""
        seen = collections.Counter(map(name_only, joined - later))
        missing = []
        for line in (later - joined).elements():
            if line in self.enters and seen[nameless(line)]:
                seen[nameless(line)] -= 1
            else:
                missing.append(line)
        return missing


def main():
    program, path = sys.argv[1:]
    data = open(path, "rb").read()
    starts = cycle_starts(data)
    if len(starts) < 4:
        print("only %d cycles in %s" % (len(starts), path))
        return 1
    whole = Whole(expand(program, data))
    places = failed = 0

    def check(at, wrong):
        nonlocal places, failed
        places += 1
        if wrong:
            failed += 1
            print("FAIL joined at byte %d: %s" % (at, wrong[:2]))

    for at in starts:
        check(at, whole.foreign(collections.Counter(expand(program, data[at:]))))
    middle = len(starts) // 2
    later = collections.Counter(expand(program, data[starts[middle]:]))
    later = collections.Counter({line: n for line, n in later.items() if not whole.is_repeated(line)})
    for at in range(starts[middle - 1] + 24, starts[middle], 24):
        joined = collections.Counter(expand(program, data[at:]))
        check(at, whole.misnamed(joined - later) + whole.missing(later, joined))
    print("%d lines in all, %d from cycle %d on" % (sum(whole.lines.values()), sum(later.values()), middle + 1))
    print("%d passed, %d failed" % (places - failed, failed))
    return 1 if failed or not places else 0


if __name__ == "__main__":
    sys.exit(main())
