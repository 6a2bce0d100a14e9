#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare a Trace2 text with the expected one, byte for byte, but for what two runs cannot share.

usage: compare.py normal|perf|event EXPECTED ACTUAL

Masked are: times of day, elapsed times, the process's own part of the session id, the program's version,
and the file and line of the events that have no caller (git prints its own source position there).
Column widths are not masked: a time keeps its width.  Exit status 0 equal, 1 different (the first
differences are printed), 2 usage.
"""
import re
import sys

NO_CALLER = {b"signal", b"atexit", b"th_timer", b"timer", b"th_counter", b"counter"}
TIME_OF_DAY = re.compile(rb"\d\d:\d\d:\d\d\.\d{6} ")
TIME_MASK = b"hh:mm:ss.uuuuuu "
ELAPSED = re.compile(rb"\b(elapsed|total|min|max):\d+\.\d{6}")
OWN_SID = re.compile(rb"\d{8}T\d{6}\.\d{6}Z-(H[0-9a-f]{8}|Localhost)-P[0-9a-f]{8}")
NORMAL_PREFIX = 50      # bytes before the text: time, place, padding
NORMAL_PLACE = re.compile(rb"(\S*)( *)(.*)", re.DOTALL)
PERF_PLACE = 28         # bytes of the place column
PERF_TIMES = (4, 5)     # the columns t_abs and t_rel
TIME_WIDTH = 9          # of these columns, up to 99.999999 s
WRAPPED = 15            # from here on: a difference that wrapped around 2^64, as wide as it happened to be
JSON_MASKS = (
    (OWN_SID, b"SID"),
    (re.compile(rb'"time":"[^"]*"'), b'"time":"TIME"'),
    (re.compile(rb'"(t_abs|t_rel|t_total|t_min|t_max)":\d+\.\d{6}'), rb'"\1":T'),
    (re.compile(rb'"(evt|exe)":"[^"]*"'), rb'"\1":"VERSION"'),
)
JSON_EVENT = re.compile(rb'\{"event":"(\w+)"')
JSON_PLACE = re.compile(rb'"file":"[^"]*","line":\d+')


def mask_normal(line):
    head, text = b"", line
    time = TIME_OF_DAY.match(line)
    if time:
        place, gap, text = NORMAL_PLACE.match(line[time.end():]).groups()
        head = TIME_MASK + place + gap
        if text.split(b" ")[0] in NO_CALLER and len(head) == NORMAL_PREFIX:
            head = (TIME_MASK + b"PLACE").ljust(NORMAL_PREFIX)
    text = re.sub(rb"^version \S+$", b"version VERSION", text)
    return head + ELAPSED.sub(rb"\1:T", text)


def mask_perf(line):
    head, text = b"", line
    time = TIME_OF_DAY.match(line)
    if time:
        head, text = line[time.end():time.end() + PERF_PLACE], line[time.end() + PERF_PLACE:]
        if not text.startswith(b" | "):
            return line
        text = text[3:]
    columns = text.split(b" | ", 7)
    if len(columns) < 8 or not re.fullmatch(rb"d\d+", columns[0]):
        return line     # the second line of a text with newlines
    event = columns[2].strip()
    for i in PERF_TIMES:
        if columns[i].strip():
            width = len(columns[i])
            columns[i] = b"T".rjust(width if width < WRAPPED else TIME_WIDTH)
    if event == b"version":
        columns[7] = b"VERSION"
    if time:
        head = TIME_MASK + (b"PLACE".ljust(PERF_PLACE) if event in NO_CALLER else head) + b" | "
    return head + ELAPSED.sub(rb"\1:T", b" | ".join(columns))


def mask_event(line):
    for pattern, mask in JSON_MASKS:
        line = pattern.sub(mask, line)
    event = JSON_EVENT.match(line)
    if event and event.group(1) in NO_CALLER:
        line = JSON_PLACE.sub(b'"file":"PLACE","line":0', line, count=1)
    return line


MASKS = {"normal": mask_normal, "perf": mask_perf, "event": mask_event}


def differences(form, expected, actual, most=5):
    """The first differing lines of two texts (bytes), as [(line number, expected, actual)]."""
    want = [MASKS[form](line) for line in expected.split(b"\n")]
    got = [MASKS[form](line) for line in actual.split(b"\n")]
    found = []
    for i in range(max(len(want), len(got))):
        pair = tuple(lines[i] if i < len(lines) else b"(no line)" for lines in (want, got))
        if pair[0] != pair[1]:
            found.append((i + 1,) + pair)
    return found[:most]


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in MASKS:
        sys.stderr.write(__doc__)
        return 2
    with open(sys.argv[2], "rb") as want, open(sys.argv[3], "rb") as got:
        found = differences(sys.argv[1], want.read(), got.read())
    for number, want, got in found:
        print("line %d\n  want %r\n  got  %r" % (number, want, got))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
