#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# usage: sums.py FILE: of a profile, gzip of a Profile of profile.proto, the sums of the second and the fourth value: of
# the heap the bytes allocated and those in use, of others the nanoseconds, and 0.
import gzip, sys

def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value - (1 << 64) if value >> 63 else value, at

def fields(data):
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 2:
            size, at = number(data, at)
            value, at = data[at:at + size], at + size
        else:
            sys.exit("profile.proto has numbers and bytes only")
        yield key >> 3, value

def numbers(data):
    at = 0
    while at < len(data):
        value, at = number(data, at)
        yield value

totals = [0] * 4
for field, sample in fields(gzip.open(sys.argv[1]).read()):
    if field != 2:
        continue
    values = [v for f, data in fields(sample) if f == 2 for v in (numbers(data) if isinstance(data, bytes) else [data])]
    totals = [a + b for a, b in zip(totals, values + [0] * 4)]
print(totals[1], totals[3])
