#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Join a recorded stream at every event of one cycle, and compare with the whole.

usage: resync.py T2EXPAND FILE        FILE: a plain .tlg of one process with four cycles or more

From the next cycle on, the perf text must be the whole's, indentation included; what comes before may
be unresolved, checkpoint or thread ("?"), but what is named must be in the whole under that name.  Times are masked: a reader
that joined late has another pair of the raw clock and the calendar.  Ends with 'N passed, N failed'.
"""
import collections
import re
import struct
import subprocess
import sys
import tempfile

TIMES = re.compile(r"^\d\d:\d\d:\d\d\.\d{6}|\b\d+\.\d{6}\b")
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


def main():
    program, path = sys.argv[1:]
    data = open(path, "rb").read()
    starts = cycle_starts(data)
    if len(starts) < 4:
        print("only %d cycles in %s" % (len(starts), path))
        return 1
    middle = len(starts) // 2
    whole = expand(program, data)
    known = set(map(name_only, whole)) | set(map(nameless, whole))
    later = collections.Counter(expand(program, data[starts[middle]:]))
    passed = failed = 0
    missing = later - collections.Counter(whole)
    for at in range(starts[middle - 1] + 24, starts[middle] + 1, 24):
        joined = collections.Counter(expand(program, data[at:]))
        before = joined - later
        wrong = [line for line in before if " unresolved " not in line and name_only(line) not in known]
        lost = later - joined
        if wrong or lost or missing:
            failed += 1
            print("FAIL joined at byte %d: %s" % (at, (wrong or list(lost) or list(missing))[:2]))
        else:
            passed += 1
    print("%d lines in all, %d from cycle %d on" % (len(whole), sum(later.values()), middle + 1))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
