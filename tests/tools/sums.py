#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# usage: sums.py FILE
# Prints the sums of the second and the fourth value of a profile, a gzip of a Profile of profile.proto.  For a heap
# these are the bytes allocated and the bytes in use, for others the nanoseconds and 0.
import gzip, sys

sys.dont_write_bytecode = True
from protobuf import fields, numbers

totals = [0] * 4
for field, sample in fields(gzip.open(sys.argv[1]).read()):
    if field != 2:
        continue
    values = [v for f, data in fields(sample) if f == 2 for v in numbers(data)]
    totals = [a + b for a, b in zip(totals, values + [0] * 4)]
print(totals[1], totals[3])
