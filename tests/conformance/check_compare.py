#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does compare.py see what it must see, and nothing else?  Ends with "N passed, N failed".

Each case is a line and another that differs from it: in what two runs cannot share (SAME), or otherwise.
"""
import sys

from compare import differences

NORMAL = "01:02:03.000004 m.c:20                            "
PERF = "01:02:03.000004 m.c:20                       | d0 | main                     | "
SID = "20261121T030643.873025Z-H0a7c9cdf-P000031e0"

SAME = [
    ("normal", NORMAL + "start p", NORMAL.replace("01:02:03.000004", "23:59:59.999999") + "start p"),
    ("normal", NORMAL + "version 2.55", NORMAL + "version 0.1.0"),
    ("normal", "exit elapsed:0.000001 code:0", "exit elapsed:12.345678 code:0"),
    ("normal", "01:02:03.000004 trace2/tr2_tgt_normal.c:128       atexit elapsed:0.000001 code:0",
     "01:02:03.000004 x.c:1                             atexit elapsed:0.000001 code:0"),
    ("perf", PERF + "exit         |     |  0.000331 |           |              | code:0",
     PERF + "exit         |     |  9.999999 |           |              | code:0"),
    ("perf", PERF + "data         |     |  0.000001 | 18446744073709.550781 | c            | k:v",
     PERF + "data         |     |  0.000001 |  0.000000 | c            | k:v"),
    ("event", '{"event":"start","sid":"a/%s","time":"x","t_abs":0.000001}' % SID,
     '{"event":"start","sid":"a/%s","time":"y","t_abs":1.000002}' % SID.replace("3", "4")),
    ("event", '{"event":"counter","file":"a.c","line":1,"count":2}', '{"event":"counter","file":"b.c","line":3,"count":2}'),
]

DIFFERENT = [
    ("normal", NORMAL + "start p", NORMAL + "start q"),
    ("normal", NORMAL + "start p", NORMAL[:-1] + "start p"),
    ("normal", NORMAL + "start p", NORMAL.replace("m.c:20", "m.c:21") + "start p"),
    ("normal", NORMAL + "start p", NORMAL + "start p\n"),
    ("normal", NORMAL + "start p ", NORMAL + "start p"),
    ("normal", "exit elapsed:0.000001 code:0", "exit elapsed:0.00001 code:0"),
    ("normal", "exit elapsed:0.000001 code:0", "exit elapsed:-0.000001 code:0"),
    ("normal", "def_param x=version 1", "def_param x=version 2"),
    ("perf", PERF + "exit         |     |  0.000331 |           |              | code:0",
     PERF + "exit         |     |  0.000331 |           |              | code:1"),
    ("perf", PERF + "exit         |     |  0.000331 |           |              | code:0",
     PERF + "exit         |     | 0.000331 |           |              | code:0"),
    ("perf", PERF + "exit         |     |  0.000331 |           |              | code:0",
     PERF + "exit         |     |           |           |              | code:0"),
    ("perf", PERF + "exit         |     |  0.000331 |           |              | code:0",
     PERF.replace("d0", "d1") + "exit         |     |  0.000331 |           |              | code:0"),
    ("perf", PERF + "data         | r1  |  0.000331 |  0.000001 | c            | ..k:v",
     PERF + "data         | r1  |  0.000331 |  0.000001 | c            | ....k:v"),
    ("event", '{"event":"start","sid":"a/%s"}' % SID, '{"event":"start","sid":"b/%s"}' % SID),
    ("event", '{"event":"start","t_abs":0.000001}', '{"event":"start","t_abs":0.0000010}'),
    ("event", '{"event":"data","file":"a.c","line":1}', '{"event":"data","file":"a.c","line":2}'),
    ("event", '{"event":"data","value":"1"}', '{"event":"data","value":1}'),
]


def main():
    wrong = 0
    for cases, expected in ((SAME, False), (DIFFERENT, True)):
        for form, one, other in cases:
            if bool(differences(form, one.encode(), other.encode())) != expected:
                wrong += 1
                print("FAIL %s %s:\n  %s\n  %s" % (form, "not seen" if expected else "not masked", one, other))
    print("%d passed, %d failed" % (len(SAME) + len(DIFFERENT) - wrong, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
