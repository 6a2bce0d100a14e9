#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# usage: bounds.py COUNTS DIRECTORY
# Compares the counts of tests/torture/killed.cc with the profiles DIRECTORY/NAME.pb.gz.  Prints a line for each profile
# that has less than what was done, or more than what was begun; then "TOTAL: KIND N, ..." of what was done.  A missing
# or empty file counts as an empty profile.
import gzip, os, struct, sys

sys.dont_write_bytecode = True
from protobuf import fields, numbers

KINDS = ("cpu", "wall", "heap", "freed", "block", "mutex", "threadcreate", "added", "removed")
BLOCK = 64 << 20


def read_counts(path):
    data = open(path, "rb").read() if os.path.exists(path) else b""
    values = struct.unpack("=18Q", data) if len(data) == 144 else (0,) * 18
    return {kind: (values[2 * i], values[2 * i + 1]) for i, kind in enumerate(KINDS)}


def read_totals(path):
    totals = [0] * 4
    if os.path.exists(path) and os.path.getsize(path):
        for field, sample in fields(gzip.open(path).read()):
            if field == 2:
                values = [v for f, data in fields(sample) if f == 2 for v in numbers(data)]
                totals = [a + b for a, b in zip(totals, values + [0] * 4)]
    return totals


counts = read_counts(sys.argv[1])
totals = {name: read_totals(f"{sys.argv[2]}/{name}.pb.gz") for name in
          ("cpu", "wall", "heap", "block", "mutex", "threadcreate", "things")}
# small blocks, which libc allocates, do not make up one of BLOCK
_, allocated, _, kept = (n // BLOCK for n in totals["heap"])
sampled = {name: totals[name][0] for name in totals} | {"heap": allocated, "freed": allocated - kept}
for kind, (begun, done) in counts.items():
    if kind in sampled and not done <= sampled[kind] <= begun:
        print(f"{kind}: {done} done, {begun} begun, {sampled[kind]} sampled")
low, high = counts["added"][1] - counts["removed"][0], counts["added"][0] - counts["removed"][1]
if not low <= sampled["things"] <= high:
    print(f"things: {low} to {high} there, {sampled['things']} sampled")
print("TOTAL: " + ", ".join(f"{kind} {done}" for kind, (begun, done) in counts.items()))
